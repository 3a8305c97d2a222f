//! A target whose layers are read one by one: memory, the page cache, the device. Nothing is written.

use std::os::fd::OwnedFd;
use std::path::Path;

use flashscope_device::host::{LayerHost, ReadPath};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Device, Instant};
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
use crate::reopened::NotReopened;
use crate::sysfs::{Node, Sysfs};

/// Why a layer could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LayeredError {
    /// It could not be opened again.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Reading failed.
    #[error(transparent)]
    System(SystemError),
}

/// A target whose layers can be read one by one.
#[derive(Debug)]
pub struct LayeredTarget {
    path: String,
    device: LinuxDevice,
    node: Option<Node>,
    clock: Clock,
    /// The descriptor of the current layer.
    file: Option<OwnedFd>,
}

impl LayeredTarget {
    /// Opens a disk, a partition or an image file, read-only. An interrupt ends the wait for a password, here
    /// and for each of its layers.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(path: &Path, interrupt: &Interrupt) -> Result<Self, OpenError> {
        let device = open(path, &OpenOptions { interrupt: Some(interrupt), ..OpenOptions::default() })?;
        let node = Sysfs::default().node_of_file(device.file());
        let path = printable(&path.to_string_lossy());
        Ok(Self { path, device, node, clock: Clock::start(), file: None })
    }

    /// What the person should know about how it was opened.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        self.device.remarks()
    }

    fn file(&self) -> &OwnedFd {
        self.file.as_ref().unwrap_or_else(|| self.device.file())
    }

    fn failed(&self, during: &'static str, errno: Errno) -> LayeredError {
        LayeredError::System(SystemError { path: self.path.clone(), during, errno })
    }
}

impl LayerHost for LayeredTarget {
    type Error = LayeredError;

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn capacity(&self) -> Bytes {
        self.device.capabilities().capacity
    }

    fn logical_block(&self) -> Bytes {
        self.device.capabilities().logical_block
    }

    fn open(&mut self, path: ReadPath) -> Result<bool, LayeredError> {
        let direct = if path == ReadPath::Direct { OFlags::DIRECT } else { OFlags::empty() };
        match self.device.reopen(&self.path, OFlags::RDONLY | OFlags::CLOEXEC | direct) {
            Ok(file) => self.file = Some(file),
            Err(NotReopened::Kernel(Errno::INVAL)) if path == ReadPath::Direct => return Ok(false),
            Err(NotReopened::Kernel(errno)) => return Err(self.failed("opening it", errno)),
            Err(NotReopened::Udisks(refused)) => return Err(refused.into()),
        }
        Ok(true)
    }

    fn drop_page_cache(&mut self) {
        // Advice only: pages that stay in memory show as bytes that the device did not deliver.
        let _ = rustix::fs::fadvise(self.file(), 0, None, Advice::DontNeed);
    }

    fn read(&mut self, offset: Bytes, buffer: &mut [u8]) -> Result<(), LayeredError> {
        failure::read_whole(self.file(), offset, buffer).map_err(|failure| match failure {
            Failure::Short => self.failed("reading to its end", Errno::IO),
            Failure::Errno(errno) => self.failed("reading", errno),
        })
    }

    fn bytes_read(&self) -> Option<Bytes> {
        let counters = Counters::parse(&self.node.as_ref()?.text("stat")?)?;
        Some(counters.reads.bytes)
    }

    fn holes(&self, length: Bytes) -> Bytes {
        holes(self.device.file(), length)
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
    fn every_path_reads_the_same_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        let full: Vec<u8> = (0..8 << 20).map(|index: u32| (index % 251) as u8).collect();
        std::fs::write(&path, &full).unwrap();
        let mut target = LayeredTarget::open(&path, &Interrupt::default()).unwrap();
        assert_eq!(target.capacity(), Bytes::mib(8));
        for read_path in [ReadPath::PageCache, ReadPath::Direct] {
            // Filesystems in memory may refuse direct I/O.
            if !LayerHost::open(&mut target, read_path).unwrap() {
                continue;
            }
            target.drop_page_cache();
            let mut buffer = flashscope_device::Buffer::zeroed(Bytes::kib(64));
            target.read(Bytes::mib(1), &mut buffer).unwrap();
            assert!(buffer[..] == full[1 << 20..][..64 << 10], "{read_path:?}");
            assert!(target.read(Bytes::mib(8), &mut buffer).is_err(), "beyond the end");
        }
    }

    #[test]
    fn holes_of_a_sparse_file_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image");
        std::fs::File::create(&path).unwrap().set_len(8 << 20).unwrap();
        assert_eq!(
            LayeredTarget::open(&path, &Interrupt::default()).unwrap().holes(Bytes::mib(6)),
            Bytes::mib(6)
        );
        std::fs::write(&path, vec![7; 8 << 20]).unwrap();
        assert_eq!(
            LayeredTarget::open(&path, &Interrupt::default()).unwrap().holes(Bytes::mib(6)),
            Bytes::ZERO
        );
    }
}
