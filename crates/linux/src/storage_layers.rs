//! Read throughput of each layer: memory, the page cache with read-ahead, the device. Nothing is written.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Device};
use flashscope_record::activity::Counters;
use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::failure::{self, Failure, SystemError};
use crate::open::{OpenOptions, open};
use crate::printable::printable;
use crate::remark::Remark;
use crate::sysfs::{Node, Sysfs};

/// The size of each read; hdparm uses the same.
const REQUEST_SIZE: Bytes = Bytes::mib(2);
/// How many evenly spaced offsets are checked for blank content. 16 are enough to tell a half from a
/// quarter.
const PROBES: u64 = 16;
/// How much is read at each of them: one page, which most filesystems and controllers do not divide.
const PROBE_SIZE: Bytes = Bytes::kib(4);

/// The layer that serves a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageLayer {
    /// The same pages repeatedly, out of memory: `hdparm -T`.
    Memory,
    /// Sequential reads through the page cache, from pages it does not hold: `hdparm -t`.
    PageCache,
    /// Sequential reads with direct I/O.
    Device,
}

impl StorageLayer {
    /// All layers, from the fastest to the slowest.
    pub const ALL: [Self; 3] = [Self::Memory, Self::PageCache, Self::Device];
}

/// The result of reading one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerReading {
    /// Bytes read.
    pub bytes: Bytes,
    /// The time the reads took.
    pub elapsed: Duration,
    /// How many of the bytes came from the device, where the kernel counts.
    pub device_bytes: Option<Bytes>,
    /// How many of the bytes are holes of a sparse file, which the disk is not asked for.
    pub holes: Bytes,
    /// How many offsets were checked for blank content.
    pub probed: u32,
    /// How many of those hold the same byte throughout, as never-written storage does.
    pub blank: u32,
}

/// Why a layer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The target cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The person interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// Any other failure.
    #[error(transparent)]
    System(SystemError),
}

/// A target whose layers can be read one by one.
#[derive(Debug)]
pub struct LayeredTarget {
    path: String,
    device: LinuxDevice,
    node: Option<Node>,
}

impl LayeredTarget {
    /// Opens a disk, a partition or an image file, read-only.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let device = open(path, &OpenOptions::default())?;
        let node = Sysfs::default().node_of_file(device.file());
        Ok(Self { path: printable(&path.to_string_lossy()), device, node })
    }

    /// What the person should know about how it was opened.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        self.device.remarks()
    }

    /// Reads one layer for `duration`, or to the end of the target. `None` for the device if the filesystem
    /// refuses direct I/O.
    ///
    /// # Errors
    /// [`LayerError`]
    pub fn read(
        &self,
        layer: StorageLayer,
        duration: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<LayerReading>, LayerError> {
        let direct = if layer == StorageLayer::Device { OFlags::DIRECT } else { OFlags::empty() };
        let file = match self.device.reopen(OFlags::RDONLY | OFlags::CLOEXEC | direct) {
            Err(Errno::INVAL) if layer == StorageLayer::Device => return Ok(None),
            opened => opened.map_err(|errno| self.failed("opening it", errno))?,
        };
        let mut reader = Reader {
            target: self,
            layer,
            request_size: self.request_size(),
            memory: Buffer::zeroed(REQUEST_SIZE),
            interrupt,
        };
        reader.prepare(&file)?;
        let before = self.counters();
        let (bytes, elapsed) = reader.read_for(&file, duration)?;
        let device_bytes = before.zip(self.counters()).and_then(|(before, after)| {
            after.reads.bytes.get().checked_sub(before.reads.bytes.get()).map(Bytes::new)
        });
        let (probed, blank) =
            if layer == StorageLayer::Memory { (0, 0) } else { reader.probe(&file, bytes)? };
        let holes =
            if layer == StorageLayer::Memory { Bytes::ZERO } else { holes(self.device.file(), bytes) };
        Ok(Some(LayerReading { bytes, elapsed, device_bytes, holes, probed, blank }))
    }

    /// The request size, reduced for small targets.
    fn request_size(&self) -> Bytes {
        let capabilities = self.device.capabilities();
        REQUEST_SIZE.min(capabilities.capacity).round_down(capabilities.logical_block)
    }

    fn counters(&self) -> Option<Counters> {
        Counters::parse(&self.node.as_ref()?.text("stat")?)
    }

    fn failed(&self, during: &'static str, errno: Errno) -> LayerError {
        LayerError::System(SystemError { path: self.path.clone(), during, errno })
    }
}

/// One layer being read.
struct Reader<'a> {
    target: &'a LayeredTarget,
    layer: StorageLayer,
    request_size: Bytes,
    memory: Buffer,
    interrupt: &'a Interrupt,
}

impl Reader<'_> {
    /// Brings the first request into memory, or drops the target from the page cache.
    fn prepare(&mut self, file: &OwnedFd) -> Result<(), LayerError> {
        if self.layer == StorageLayer::Memory {
            self.read(file, Bytes::ZERO)?;
        } else {
            // Advice only: pages that stay in memory show as bytes that the device did not deliver.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
        Ok(())
    }

    fn read_for(&mut self, file: &OwnedFd, duration: Duration) -> Result<(Bytes, Duration), LayerError> {
        let capacity = self.target.device.capabilities().capacity;
        let (clock, mut done) = (Clock::start(), Bytes::ZERO);
        let started = clock.now();
        loop {
            if self.interrupt.is_requested() {
                return Err(LayerError::Interrupted);
            }
            let offset = if self.layer == StorageLayer::Memory { Bytes::ZERO } else { done };
            self.read(file, offset)?;
            done += self.request_size;
            let elapsed = clock.now().since(started);
            let is_at_end = self.layer != StorageLayer::Memory && done + self.request_size > capacity;
            if elapsed >= duration || is_at_end {
                return Ok((done, elapsed));
            }
        }
    }

    /// How many offsets of the part that was read were checked, and how many are blank. No clock runs.
    fn probe(&mut self, file: &OwnedFd, bytes: Bytes) -> Result<(u32, u32), LayerError> {
        let block = self.target.device.capabilities().logical_block;
        let length = PROBE_SIZE.max(block).min(self.request_size).round_down(block);
        let (mut probed, mut blank) = (0, 0);
        for index in 0..PROBES.min(bytes / length) {
            let offset = (bytes * index / PROBES).round_down(block).min(bytes - length);
            self.read_some(file, offset, length)?;
            let seen = &self.memory[..length.to_usize()];
            probed += 1;
            blank += u32::from(seen.iter().all(|byte| Some(byte) == seen.first()));
        }
        Ok((probed, blank))
    }

    fn read(&mut self, file: &OwnedFd, offset: Bytes) -> Result<(), LayerError> {
        self.read_some(file, offset, self.request_size)
    }

    fn read_some(&mut self, file: &OwnedFd, offset: Bytes, length: Bytes) -> Result<(), LayerError> {
        let request_size = &mut self.memory[..length.to_usize()];
        failure::read_whole(file, offset, request_size).map_err(|failure| match failure {
            Failure::Short => self.target.failed("reading to its end", Errno::IO),
            Failure::Errno(errno) => self.target.failed("reading", errno),
        })
    }
}

/// How many bytes of the first `length` of a file are holes. Zero on disks, and where the filesystem does
/// not report holes.
fn holes(file: &OwnedFd, length: Bytes) -> Bytes {
    let (mut at, mut holes) = (0, 0);
    while at < length.get() {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(length.get()),
            // From here to the end there is no data.
            Err(Errno::NXIO) => length.get(),
            Err(_) => break,
        };
        holes += data - at;
        at = match rustix::fs::seek(file, SeekFrom::Hole(data)) {
            Ok(hole) if hole > data => hole,
            _ => break,
        };
    }
    Bytes::new(holes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_content_and_holes_are_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        let read = |layer| {
            let target = LayeredTarget::open(&path).unwrap();
            target.read(layer, Duration::from_secs(9), &Interrupt::default()).unwrap().unwrap()
        };
        std::fs::File::create(&path).unwrap().set_len(8 << 20).unwrap();
        let sparse = read(StorageLayer::PageCache);
        assert_eq!((sparse.holes, sparse.probed, sparse.blank), (Bytes::mib(8), 16, 16));
        let full: Vec<u8> = (0..8 << 20).map(|index: u32| (index % 251) as u8).collect();
        std::fs::write(&path, full).unwrap();
        let full = read(StorageLayer::PageCache);
        assert_eq!((full.holes, full.probed, full.blank), (Bytes::ZERO, 16, 0));
    }

    #[test]
    fn every_layer_can_be_read_also_of_a_small_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        for length in [4096, 5 << 20] {
            std::fs::write(&path, vec![7; length]).unwrap();
            let target = LayeredTarget::open(&path).unwrap();
            for layer in StorageLayer::ALL {
                let read = target.read(layer, Duration::from_millis(1), &Interrupt::default()).unwrap();
                // Filesystems in memory may refuse direct I/O.
                assert!(read.is_none_or(|read| !read.bytes.is_zero()), "{layer:?}");
            }
        }
        let interrupt = Interrupt::default();
        interrupt.request();
        let stopped = LayeredTarget::open(&path).unwrap().read(
            StorageLayer::Memory,
            Duration::from_secs(9),
            &interrupt,
        );
        assert!(matches!(stopped, Err(LayerError::Interrupted)));
    }
}
