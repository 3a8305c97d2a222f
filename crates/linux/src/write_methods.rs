//! Writes the same bytes as people usually write them, and compares the reported time with the time until
//! the data is durable.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Consent, Device, Instant, Pattern};
use rustix::fs::{Advice, FileType, OFlags};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::files::{reopen, unnamed_file};
use crate::geometry::is_in_memory;
use crate::open::{Access, OpenOptions, open};
use crate::printable::printable;

/// The size of each write; dd with bs=1M uses the same.
const CHUNK: Bytes = Bytes::mib(1);
/// The seed of the data that is prepared in memory. No two blocks of a target are equal.
const SEED: u64 = 1;

/// A method of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMethod {
    /// Zeros through the page cache: `dd if=/dev/zero bs=1M`.
    Zeros,
    /// Random bytes through the page cache: `dd if=/dev/urandom bs=1M`.
    Random,
    /// One flush at the end, which is included in the time: `dd conv=fdatasync`.
    FlushAtEnd,
    /// A flush after every write: `dd oflag=sync`.
    FlushEach,
    /// Direct I/O: `dd oflag=direct`.
    Direct,
}

impl WriteMethod {
    /// All methods, in the order of measurement.
    pub const ALL: [Self; 5] = [Self::Zeros, Self::Random, Self::FlushAtEnd, Self::FlushEach, Self::Direct];

    /// The kernel device that generates the bytes, for methods whose data is not prepared in memory.
    const fn source(self) -> Option<&'static str> {
        match self {
            Self::Zeros => Some("/dev/zero"),
            Self::Random => Some("/dev/urandom"),
            Self::FlushAtEnd | Self::FlushEach | Self::Direct => None,
        }
    }

    const fn flags(self) -> OFlags {
        match self {
            Self::FlushEach => OFlags::SYNC,
            Self::Direct => OFlags::DIRECT,
            Self::Zeros | Self::Random | Self::FlushAtEnd => OFlags::empty(),
        }
    }
}

/// The result of one method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteMethodResult {
    /// The method.
    pub method: WriteMethod,
    /// Bytes written.
    pub bytes: Bytes,
    /// The time this method reports to its user.
    pub reported: Duration,
    /// The time until a flush confirmed that the data is durable.
    pub durable: Duration,
    /// The time to generate as many bytes without writing them. `None` if they were prepared in memory.
    pub source: Option<Duration>,
    /// The whole time, including the preparation and what is not counted.
    pub total: Duration,
}

/// Why a method could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum WriteMethodError {
    /// The target cannot be opened for writing.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The filesystem is read-only.
    #[error(
        "{path} is mounted read-only; mount it for writing (mount -o remount,rw), or check the card's lock switch"
    )]
    ReadOnly {
        /// The directory.
        path: String,
    },
    /// No permission to create files there.
    #[error(
        "{path}: no permission to create a file there; name a directory of your own, or put sudo before the command"
    )]
    Forbidden {
        /// The directory.
        path: String,
    },
    /// The filesystem is full.
    #[error("{path} is full: {needed} do not fit; free some space, or write less (--size)")]
    Full {
        /// The directory.
        path: String,
        /// Bytes to be written.
        needed: Bytes,
    },
    /// The target is smaller than the bytes to be written.
    #[error("{path} holds {capacity}, less than the {needed} to be written; write less (--size)")]
    TooSmall {
        /// The target.
        path: String,
        /// Its capacity.
        capacity: Bytes,
        /// Bytes to be written.
        needed: Bytes,
    },
    /// The person interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// Any other failure.
    #[error("{path}: {during} failed: {errno}; the kernel's log (dmesg) may say why")]
    System {
        /// The target.
        path: String,
        /// The action that failed.
        during: &'static str,
        /// The kernel's error.
        errno: Errno,
    },
}

/// The target of the writes: an unnamed temporary file, or an image or loop device that may be erased.
#[derive(Debug)]
pub struct WriteTarget {
    path: String,
    file: OwnedFd,
    /// The opened target, which stays locked against other programs. `None` for a temporary file.
    device: Option<LinuxDevice>,
}

impl WriteTarget {
    /// A temporary file in `directory`. Its name is removed before anything is written, so nothing remains
    /// in any case.
    ///
    /// # Errors
    /// [`WriteMethodError`], with what to try.
    pub fn temporary_file(directory: &Path) -> Result<Self, WriteMethodError> {
        let path = printable(&directory.to_string_lossy());
        let created = unnamed_file(directory);
        let file = created.map_err(|errno| error(&path, "creating a file", errno, Bytes::ZERO))?;
        Ok(Self { path, file, device: None })
    }

    /// An image file, or a loop device over one.
    ///
    /// # Errors
    /// As [`open`].
    pub fn erase(path: &Path, consent: &Consent) -> Result<Self, WriteMethodError> {
        let options = OpenOptions { access: Access::Erase(consent), ..OpenOptions::default() };
        let device = open(path, &options)?;
        let name = printable(&path.to_string_lossy());
        let file =
            device.reopen(OFlags::RDWR).map_err(|errno| error(&name, "opening it", errno, Bytes::ZERO))?;
        Ok(Self { path: name, file, device: Some(device) })
    }

    /// Whether it lies in memory, so that no storage is measured.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        is_in_memory(&self.file)
    }

    /// Whether it lies on the system disk.
    #[must_use]
    pub fn is_on_system_disk(&self) -> bool {
        let root = rustix::fs::stat("/").map(|root| root.st_dev);
        let here = rustix::fs::fstat(&self.file);
        here.is_ok_and(|here| is_file(here.st_mode) && root == Ok(here.st_dev))
    }

    /// The bytes that can be written: the capacity of a target, or the free space around a temporary file,
    /// which is emptied first.
    ///
    /// # Errors
    /// [`WriteMethodError::System`] if the filesystem does not report its free space.
    pub fn space(&self) -> Result<Bytes, WriteMethodError> {
        if let Some(device) = &self.device {
            return Ok(device.capabilities().capacity);
        }
        let failed = |errno| error(&self.path, "reading the free space", errno, Bytes::ZERO);
        rustix::fs::ftruncate(&self.file, 0).map_err(failed)?;
        let free = rustix::fs::fstatvfs(&self.file).map_err(failed)?;
        Ok(Bytes::new(free.f_bavail.saturating_mul(free.f_frsize)))
    }

    /// Writes `bytes` with one method. `None` if the filesystem refuses that method.
    ///
    /// # Errors
    /// [`WriteMethodError`], with what to try.
    pub fn write(
        &self,
        method: WriteMethod,
        bytes: Bytes,
        interrupt: &Interrupt,
    ) -> Result<Option<WriteMethodResult>, WriteMethodError> {
        let failed = |during| move |errno| error(&self.path, during, errno, bytes);
        let clock = Clock::start();
        let prepared_from = clock.now();
        self.prepare(bytes)?;
        let access = OFlags::WRONLY | OFlags::CLOEXEC | method.flags();
        let file = match reopen(&self.file, access) {
            Err(Errno::INVAL) if method == WriteMethod::Direct => return Ok(None),
            opened => opened.map_err(failed("opening it"))?,
        };
        let source = method.source().map(|name| Source::open(name, &self.path)).transpose()?;
        let generation = source.map(|mut source| source.generation(bytes, clock)).transpose()?;
        let mut run = MethodRun { target: self, file, clock, interrupt, uncounted: Duration::ZERO };
        let started = clock.now();
        match run.write_method(method, bytes) {
            // Some filesystems take the flag and refuse the write.
            Err(WriteMethodError::System { errno: Errno::INVAL, .. }) if method == WriteMethod::Direct => {
                return Ok(None);
            }
            written => written?,
        }
        let stopped = clock.now();
        rustix::fs::fdatasync(&run.file).map_err(failed("flushing"))?;
        let flushed = clock.now();
        let to = |end: Instant| end.since(started).saturating_sub(run.uncounted);
        let reported = if method == WriteMethod::FlushAtEnd { to(flushed) } else { to(stopped) };
        let total = flushed.since(prepared_from);
        Ok(Some(WriteMethodResult {
            method,
            bytes,
            reported,
            durable: to(flushed),
            source: generation,
            total,
        }))
    }

    /// Makes the starting state of every method equal: nothing dirty, nothing cached, a temporary file
    /// empty.
    fn prepare(&self, bytes: Bytes) -> Result<(), WriteMethodError> {
        let failed = |errno| error(&self.path, "preparing", errno, bytes);
        let (path, space) = (self.path.clone(), self.space()?);
        if space < bytes {
            return Err(match &self.device {
                Some(_) => WriteMethodError::TooSmall { path, capacity: space, needed: bytes },
                None => WriteMethodError::Full { path, needed: bytes },
            });
        }
        rustix::fs::fsync(&self.file).map_err(failed)?;
        // Advice only: pages that stay in memory are overwritten in any case.
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }
}

/// One method being measured.
struct MethodRun<'a> {
    target: &'a WriteTarget,
    file: OwnedFd,
    clock: Clock,
    interrupt: &'a Interrupt,
    /// Time spent generating data, which does not count.
    uncounted: Duration,
}

impl MethodRun<'_> {
    fn write_method(&mut self, method: WriteMethod, bytes: Bytes) -> Result<(), WriteMethodError> {
        let mut source = method.source().map(|name| Source::open(name, &self.target.path)).transpose()?;
        let pattern = Pattern::new(SEED);
        let mut chunk = Buffer::zeroed(CHUNK);
        let mut offset = Bytes::ZERO;
        while offset < bytes {
            if self.interrupt.is_requested() {
                return Err(WriteMethodError::Interrupted);
            }
            let length = CHUNK.min(bytes - offset).to_usize();
            match &mut source {
                Some(source) => source.read(&mut chunk[..length])?,
                None => {
                    let started = self.clock.now();
                    pattern.fill(offset.sectors(), &mut chunk[..length]);
                    self.uncounted += self.clock.now().since(started);
                }
            }
            self.write_all(&chunk[..length], offset, bytes)?;
            offset += CHUNK.min(bytes - offset);
        }
        Ok(())
    }

    fn write_all(&self, mut left: &[u8], mut offset: Bytes, needed: Bytes) -> Result<(), WriteMethodError> {
        while !left.is_empty() {
            match rustix::io::pwrite(&self.file, left, offset.get()) {
                Ok(written) => {
                    left = &left[written..];
                    offset += Bytes::new(written as u64);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(error(&self.target.path, "writing", errno, needed)),
            }
        }
        Ok(())
    }
}

/// A kernel device that generates bytes.
struct Source {
    name: &'static str,
    file: std::fs::File,
}

impl Source {
    fn open(name: &'static str, path: &str) -> Result<Self, WriteMethodError> {
        let opened = std::fs::File::open(name);
        let file = opened.map_err(|error| system(path, "opening the source", &error))?;
        Ok(Self { name, file })
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), WriteMethodError> {
        self.file.read_exact(into).map_err(|error| system(self.name, "reading", &error))
    }

    /// The time to generate `bytes` without writing them.
    fn generation(&mut self, bytes: Bytes, clock: Clock) -> Result<Duration, WriteMethodError> {
        let mut chunk = Buffer::zeroed(CHUNK);
        let started = clock.now();
        for _ in 0..bytes / CHUNK {
            self.read(&mut chunk)?;
        }
        Ok(clock.now().since(started))
    }
}

impl LinuxDevice {
    /// Another descriptor of the same target, which stays locked.
    pub(crate) fn reopen(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        reopen(self.file(), flags)
    }
}

fn is_file(mode: u32) -> bool {
    FileType::from_raw_mode(mode) == FileType::RegularFile
}

fn error(path: &str, during: &'static str, errno: Errno, needed: Bytes) -> WriteMethodError {
    let path = path.to_owned();
    match errno {
        Errno::ROFS => WriteMethodError::ReadOnly { path },
        Errno::ACCESS | Errno::PERM => WriteMethodError::Forbidden { path },
        Errno::NOSPC | Errno::DQUOT => WriteMethodError::Full { path, needed },
        errno => WriteMethodError::System { path, during, errno },
    }
}

fn system(path: &str, during: &'static str, error: &std::io::Error) -> WriteMethodError {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    WriteMethodError::System { path: path.to_owned(), during, errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_writes_all_bytes_and_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let target = WriteTarget::temporary_file(directory.path()).unwrap();
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "the file has no name from the start"
        );
        let bytes = Bytes::mib(2);
        for method in WriteMethod::ALL {
            // Filesystems in memory may refuse direct I/O.
            let Some(written) = target.write(method, bytes, &Interrupt::default()).unwrap() else { continue };
            assert_eq!((written.method, written.bytes), (method, bytes));
            assert!(written.reported <= written.durable);
            assert_eq!(rustix::fs::fstat(&target.file).unwrap().st_size, 2 << 20);
            let mut byte = [7; 16];
            rustix::io::pread(&target.file, &mut byte, 1 << 20).unwrap();
            assert_eq!(byte == [0; 16], method == WriteMethod::Zeros, "{method:?} wrote {byte:?}");
        }
    }

    #[test]
    fn interrupt_stops_the_write_and_missing_space_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let target = WriteTarget::temporary_file(directory.path()).unwrap();
        let interrupt = Interrupt::default();
        interrupt.request();
        let stopped = target.write(WriteMethod::FlushAtEnd, Bytes::mib(1), &interrupt);
        assert!(matches!(stopped, Err(WriteMethodError::Interrupted)));
        let full = target.write(WriteMethod::Zeros, Bytes::new(1 << 60), &Interrupt::default());
        assert!(matches!(full, Err(WriteMethodError::Full { .. })), "{full:?}");
        assert!(error("d", "x", Errno::ROFS, Bytes::ZERO).to_string().contains("read-only"));
    }
}
