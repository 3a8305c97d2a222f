//! What a read passes through: memory, the page cache with its reading ahead, the device. Each is read alone, so that none is taken for
//! another. Nothing is written.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Device};
use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::activity::Counters;
use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::failure::{self, Failure, Refused};
use crate::open::{OpenOptions, open};
use crate::printable::printable;
use crate::remark::Remark;
use crate::sysfs::{Node, Sysfs};

/// What hdparm reads at a time.
const PIECE: Bytes = Bytes::mib(2);
/// At so many places, evenly spread, it is looked whether there is anything: enough to tell a half from a quarter.
const LOOKS: u64 = 16;
/// So much is looked at there: a page, which most filesystems and controllers do not divide.
const LOOK: Bytes = Bytes::kib(4);

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The same pages again and again, out of memory: `hdparm -T`.
    Memory,
    /// In order through the page cache, from pages it does not hold: `hdparm -t`.
    PageCache,
    /// In order past the page cache.
    Device,
}

impl Layer {
    /// All, from the nearest.
    pub const ALL: [Self; 3] = [Self::Memory, Self::PageCache, Self::Device];
}

/// What reading a layer gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerRead {
    /// How much was read.
    pub bytes: Bytes,
    /// In what time.
    pub took: Duration,
    /// How much of it the device carried, where the kernel counts.
    pub carried: Option<Bytes>,
    /// How much of it lies in holes of a file, which no disk is asked for.
    pub holes: Bytes,
    /// At how many places of it somebody looked afterwards.
    pub looked: u32,
    /// How many of those hold one byte throughout, as what was never written does.
    pub blank: u32,
}

/// Why a layer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The target cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The person asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error(transparent)]
    System(Refused),
}

/// A target that is read through its layers.
#[derive(Debug)]
pub struct Layers {
    path: String,
    device: LinuxDevice,
    node: Option<Node>,
}

impl Layers {
    /// A disk, a partition or an image file, for reading only.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let device = open(path, &OpenOptions::default())?;
        let node = Sysfs::default().node_behind(device.file());
        Ok(Self { path: printable(&path.to_string_lossy()), device, node })
    }

    /// What the person should know of how it was opened.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        self.device.remarks()
    }

    /// Reads for so long, or to the end of the target; `None` for the device where the filesystem refuses to go past the page cache.
    ///
    /// # Errors
    /// [`LayerError`]
    pub fn read(
        &self,
        layer: Layer,
        duration: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<LayerRead>, LayerError> {
        let direct = if layer == Layer::Device { OFlags::DIRECT } else { OFlags::empty() };
        let file = match self.device.again(OFlags::RDONLY | OFlags::CLOEXEC | direct) {
            Err(Errno::INVAL) if layer == Layer::Device => return Ok(None),
            opened => opened.map_err(|errno| self.failed("opening it", errno))?,
        };
        let mut reader =
            Reader { layers: self, layer, piece: self.piece(), memory: Buffer::zeroed(PIECE), interrupt };
        reader.make_ready(&file)?;
        let before = self.counters();
        let (bytes, took) = reader.read_for(&file, duration)?;
        let carried = before.zip(self.counters()).and_then(|(before, after)| {
            after.reads.bytes.get().checked_sub(before.reads.bytes.get()).map(Bytes::new)
        });
        let (looked, blank) = if layer == Layer::Memory { (0, 0) } else { reader.look(&file, bytes)? };
        let holes = if layer == Layer::Memory { Bytes::ZERO } else { holes(self.device.file(), bytes) };
        Ok(Some(LayerRead { bytes, took, carried, holes, looked, blank }))
    }

    /// Small targets are read in what fits.
    fn piece(&self) -> Bytes {
        let capabilities = self.device.capabilities();
        PIECE.min(capabilities.capacity).round_down(capabilities.logical_block)
    }

    fn counters(&self) -> Option<Counters> {
        Counters::parse(&self.node.as_ref()?.text("stat")?)
    }

    fn failed(&self, during: &'static str, errno: Errno) -> LayerError {
        LayerError::System(Refused { path: self.path.clone(), during, errno })
    }
}

/// One layer being read.
struct Reader<'a> {
    layers: &'a Layers,
    layer: Layer,
    piece: Bytes,
    memory: Buffer,
    interrupt: &'a Interrupt,
}

impl Reader<'_> {
    /// Memory holds what is read, the page cache nothing of it.
    fn make_ready(&mut self, file: &OwnedFd) -> Result<(), LayerError> {
        if self.layer == Layer::Memory {
            self.read(file, Bytes::ZERO)?;
        } else {
            // Advice only: what stays in memory shows in what the device did not carry.
            let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
        }
        Ok(())
    }

    fn read_for(&mut self, file: &OwnedFd, duration: Duration) -> Result<(Bytes, Duration), LayerError> {
        let capacity = self.layers.device.capabilities().capacity;
        let (clock, mut done) = (Clock::start(), Bytes::ZERO);
        let began = clock.now();
        loop {
            if self.interrupt.is_requested() {
                return Err(LayerError::Interrupted);
            }
            let offset = if self.layer == Layer::Memory { Bytes::ZERO } else { done };
            self.read(file, offset)?;
            done += self.piece;
            let took = clock.now().since(began);
            let is_at_end = self.layer != Layer::Memory && done + self.piece > capacity;
            if took >= duration || is_at_end {
                return Ok((done, took));
            }
        }
    }

    /// At how many places of what was read it was looked, and how many of them are blank. No clock runs.
    fn look(&mut self, file: &OwnedFd, bytes: Bytes) -> Result<(u32, u32), LayerError> {
        let block = self.layers.device.capabilities().logical_block;
        let length = LOOK.max(block).min(self.piece).round_down(block);
        let (mut looked, mut blank) = (0, 0);
        for place in 0..LOOKS.min(bytes / length) {
            let offset = (bytes * place / LOOKS).round_down(block).min(bytes - length);
            self.read_some(file, offset, length)?;
            let seen = &self.memory[..length.to_usize()];
            looked += 1;
            blank += u32::from(seen.iter().all(|byte| Some(byte) == seen.first()));
        }
        Ok((looked, blank))
    }

    fn read(&mut self, file: &OwnedFd, offset: Bytes) -> Result<(), LayerError> {
        self.read_some(file, offset, self.piece)
    }

    fn read_some(&mut self, file: &OwnedFd, offset: Bytes, length: Bytes) -> Result<(), LayerError> {
        let piece = &mut self.memory[..length.to_usize()];
        failure::read_whole(file, offset, piece).map_err(|failure| match failure {
            Failure::Short => self.layers.failed("reading to its end", Errno::IO),
            Failure::Errno(errno) => self.layers.failed("reading", errno),
        })
    }
}

/// How much of the start of a file are holes; nothing where the filesystem does not say, and on disks.
fn holes(file: &OwnedFd, length: Bytes) -> Bytes {
    let (mut at, mut holes) = (0, 0);
    while at < length.get() {
        let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(length.get()),
            // From here to the end there is nothing.
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
    fn what_was_never_written_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let read = |layer| {
            let layers = Layers::open(&path).unwrap();
            layers.read(layer, Duration::from_secs(9), &Interrupt::default()).unwrap().unwrap()
        };
        std::fs::File::create(&path).unwrap().set_len(8 << 20).unwrap();
        let sparse = read(Layer::PageCache);
        assert_eq!((sparse.holes, sparse.looked, sparse.blank), (Bytes::mib(8), 16, 16));
        let full: Vec<u8> = (0..8 << 20).map(|index: u32| (index % 251) as u8).collect();
        std::fs::write(&path, full).unwrap();
        let full = read(Layer::PageCache);
        assert_eq!((full.holes, full.looked, full.blank), (Bytes::ZERO, 16, 0));
    }

    #[test]
    fn every_layer_of_a_file_is_read_and_a_small_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        for length in [4096, 5 << 20] {
            std::fs::write(&path, vec![7; length]).unwrap();
            let layers = Layers::open(&path).unwrap();
            for layer in Layer::ALL {
                let read = layers.read(layer, Duration::from_millis(1), &Interrupt::default()).unwrap();
                // Filesystems in memory may refuse the last one.
                assert!(read.is_none_or(|read| !read.bytes.is_zero()), "{layer:?}");
            }
        }
        let interrupt = Interrupt::default();
        interrupt.request();
        let stopped = Layers::open(&path).unwrap().read(Layer::Memory, Duration::from_secs(9), &interrupt);
        assert!(matches!(stopped, Err(LayerError::Interrupted)));
    }
}
