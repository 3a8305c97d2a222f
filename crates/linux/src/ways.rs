//! The same bytes written as people write them: what each way claims, and when the data is really there.

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
use crate::files::{again, unnamed_file};
use crate::geometry::is_in_memory;
use crate::open::{Access, OpenOptions, open};
use crate::printable::printable;

/// What dd takes at a time with bs=1M.
const CHUNK: Bytes = Bytes::mib(1);
/// Of the bytes that lie in memory beforehand: no two blocks of a target are alike.
const SEED: u64 = 1;

/// A way to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayToWrite {
    /// Zeros through the page cache: `dd if=/dev/zero bs=1M`.
    Zeros,
    /// Random bytes through the page cache: `dd if=/dev/urandom bs=1M`.
    Random,
    /// A flush at the end, which counts: `dd conv=fdatasync`.
    FlushAtEnd,
    /// A flush behind every write: `dd oflag=sync`.
    FlushEach,
    /// Past the page cache: `dd oflag=direct`.
    Direct,
}

impl WayToWrite {
    /// All, in the order in which they are tried.
    pub const ALL: [Self; 5] = [Self::Zeros, Self::Random, Self::FlushAtEnd, Self::FlushEach, Self::Direct];

    /// Where the bytes come from, where that takes time: a device of the kernel.
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

/// What one way took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The way.
    pub way: WayToWrite,
    /// How much was written.
    pub bytes: Bytes,
    /// Until whoever writes like this would stop the clock.
    pub claimed: Duration,
    /// Until a flush said that the data is there.
    pub durable: Duration,
    /// What making as many bytes takes without writing them; `None` where they lay in memory before.
    pub source: Option<Duration>,
    /// All of it, with making ready and what does not count.
    pub took: Duration,
}

/// Why a way could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum WaysError {
    /// An image or loop device that may not be written.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A filesystem that takes no writes.
    #[error(
        "{path} is mounted read-only; mount it for writing (mount -o remount,rw), or check the card's lock switch"
    )]
    ReadOnly {
        /// The directory.
        path: String,
    },
    /// The system forbids making files there.
    #[error(
        "{path}: no permission to make a file there; name a directory of your own, or put sudo before the command"
    )]
    Forbidden {
        /// The directory.
        path: String,
    },
    /// The filesystem has no room.
    #[error("{path} is full: {needed} do not fit; free some space, or write less (--size)")]
    Full {
        /// The directory.
        path: String,
        /// What was to be written.
        needed: Bytes,
    },
    /// Smaller than what is to be written.
    #[error("{path} holds {capacity}, less than the {needed} to be written; write less (--size)")]
    TooSmall {
        /// The target.
        path: String,
        /// What it holds.
        capacity: Bytes,
        /// What was to be written.
        needed: Bytes,
    },
    /// The person asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error("{path}: {during} failed: {errno}; the kernel's log (dmesg) may say why")]
    System {
        /// The target.
        path: String,
        /// What was going on.
        during: &'static str,
        /// What the kernel said.
        errno: Errno,
    },
}

/// Where to write: a file of our own that has no name any more, or an image or loop device that may be erased.
#[derive(Debug)]
pub struct Place {
    path: String,
    file: OwnedFd,
    /// Keeps the target locked, and others out.
    erased: Option<LinuxDevice>,
}

impl Place {
    /// A file of our own in `folder`. Its name is removed before anything is written: whatever happens, nothing is left.
    ///
    /// # Errors
    /// [`WaysError`], with what to try.
    pub fn own_file(folder: &Path) -> Result<Self, WaysError> {
        let path = printable(&folder.to_string_lossy());
        let made = unnamed_file(folder);
        let file = made.map_err(|errno| error(&path, "making a file", errno, Bytes::ZERO))?;
        Ok(Self { path, file, erased: None })
    }

    /// An image file, or a loop device over one.
    ///
    /// # Errors
    /// As [`open`].
    pub fn erase(path: &Path, consent: &Consent) -> Result<Self, WaysError> {
        let options = OpenOptions { access: Access::Erase(consent), ..OpenOptions::default() };
        let device = open(path, &options)?;
        let name = printable(&path.to_string_lossy());
        let file =
            device.again(OFlags::RDWR).map_err(|errno| error(&name, "opening it", errno, Bytes::ZERO))?;
        Ok(Self { path: name, file, erased: Some(device) })
    }

    /// Whether it lies in memory, so that nothing of any storage is measured.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        is_in_memory(&self.file)
    }

    /// Whether it lies on the disk that the system runs from.
    #[must_use]
    pub fn is_on_system_disk(&self) -> bool {
        let root = rustix::fs::stat("/").map(|root| root.st_dev);
        let here = rustix::fs::fstat(&self.file);
        here.is_ok_and(|here| is_file(here.st_mode) && root == Ok(here.st_dev))
    }

    /// How much can be written: all of a target, or what is free around a file of our own, which is emptied.
    ///
    /// # Errors
    /// [`WaysError::System`] if the filesystem does not say.
    pub fn room(&self) -> Result<Bytes, WaysError> {
        if let Some(device) = &self.erased {
            return Ok(device.capabilities().capacity);
        }
        let failed = |errno| error(&self.path, "asking for free space", errno, Bytes::ZERO);
        rustix::fs::ftruncate(&self.file, 0).map_err(failed)?;
        let free = rustix::fs::fstatvfs(&self.file).map_err(failed)?;
        Ok(Bytes::new(free.f_bavail.saturating_mul(free.f_frsize)))
    }

    /// Writes so many bytes in one way; `None` if the filesystem refuses that way.
    ///
    /// # Errors
    /// [`WaysError`], with what to try.
    pub fn write(
        &self,
        way: WayToWrite,
        bytes: Bytes,
        interrupt: &Interrupt,
    ) -> Result<Option<Written>, WaysError> {
        let failed = |during| move |errno| error(&self.path, during, errno, bytes);
        let clock = Clock::start();
        let entered = clock.now();
        self.make_ready(bytes)?;
        let access = OFlags::WRONLY | OFlags::CLOEXEC | way.flags();
        let file = match again(&self.file, access) {
            Err(Errno::INVAL) if way == WayToWrite::Direct => return Ok(None),
            opened => opened.map_err(failed("opening it"))?,
        };
        let source = way.source().map(|name| Source::open(name, &self.path)).transpose()?;
        let alone = source.map(|mut source| source.alone(bytes, clock)).transpose()?;
        let mut run = Run { place: self, file, clock, interrupt, waits: Duration::ZERO };
        let began = clock.now();
        match run.pour(way, bytes) {
            // Some filesystems take the flag and refuse the write.
            Err(WaysError::System { errno: Errno::INVAL, .. }) if way == WayToWrite::Direct => {
                return Ok(None);
            }
            poured => poured?,
        }
        let stopped = clock.now();
        rustix::fs::fdatasync(&run.file).map_err(failed("flushing"))?;
        let flushed = clock.now();
        let to = |end: Instant| end.since(began).saturating_sub(run.waits);
        let claimed = if way == WayToWrite::FlushAtEnd { to(flushed) } else { to(stopped) };
        let took = flushed.since(entered);
        Ok(Some(Written { way, bytes, claimed, durable: to(flushed), source: alone, took }))
    }

    /// Every way begins alike: nothing waits to be written, nothing is in memory, and a file of our own is empty.
    fn make_ready(&self, bytes: Bytes) -> Result<(), WaysError> {
        let failed = |errno| error(&self.path, "making ready", errno, bytes);
        let (path, room) = (self.path.clone(), self.room()?);
        if room < bytes {
            return Err(match &self.erased {
                Some(_) => WaysError::TooSmall { path, capacity: room, needed: bytes },
                None => WaysError::Full { path, needed: bytes },
            });
        }
        rustix::fs::fsync(&self.file).map_err(failed)?;
        // Advice only: what is still in memory is written anew in any case.
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }
}

/// One way under way.
struct Run<'a> {
    place: &'a Place,
    file: OwnedFd,
    clock: Clock,
    interrupt: &'a Interrupt,
    /// What making the bytes took where it does not count.
    waits: Duration,
}

impl Run<'_> {
    fn pour(&mut self, way: WayToWrite, bytes: Bytes) -> Result<(), WaysError> {
        let mut source = way.source().map(|name| Source::open(name, &self.place.path)).transpose()?;
        let pattern = Pattern::new(SEED);
        let mut chunk = Buffer::zeroed(CHUNK);
        let mut offset = Bytes::ZERO;
        while offset < bytes {
            if self.interrupt.is_requested() {
                return Err(WaysError::Interrupted);
            }
            let length = CHUNK.min(bytes - offset).to_usize();
            match &mut source {
                Some(source) => source.read(&mut chunk[..length])?,
                None => {
                    let began = self.clock.now();
                    pattern.fill(offset.sectors(), &mut chunk[..length]);
                    self.waits += self.clock.now().since(began);
                }
            }
            self.write_all(&chunk[..length], offset, bytes)?;
            offset += CHUNK.min(bytes - offset);
        }
        Ok(())
    }

    fn write_all(&self, mut left: &[u8], mut offset: Bytes, needed: Bytes) -> Result<(), WaysError> {
        while !left.is_empty() {
            match rustix::io::pwrite(&self.file, left, offset.get()) {
                Ok(written) => {
                    left = &left[written..];
                    offset += Bytes::new(written as u64);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(error(&self.place.path, "writing", errno, needed)),
            }
        }
        Ok(())
    }
}

/// A device of the kernel that makes bytes.
struct Source {
    name: &'static str,
    file: std::fs::File,
}

impl Source {
    fn open(name: &'static str, path: &str) -> Result<Self, WaysError> {
        let opened = std::fs::File::open(name);
        let file = opened.map_err(|error| system(path, "opening the source", &error))?;
        Ok(Self { name, file })
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), WaysError> {
        self.file.read_exact(into).map_err(|error| system(self.name, "reading", &error))
    }

    /// How long so many bytes take to make.
    fn alone(&mut self, bytes: Bytes, clock: Clock) -> Result<Duration, WaysError> {
        let mut chunk = Buffer::zeroed(CHUNK);
        let began = clock.now();
        for _ in 0..bytes / CHUNK {
            self.read(&mut chunk)?;
        }
        Ok(clock.now().since(began))
    }
}

impl LinuxDevice {
    /// Another descriptor of the same target, which stays locked.
    pub(crate) fn again(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        again(self.file(), flags)
    }
}

fn is_file(mode: u32) -> bool {
    FileType::from_raw_mode(mode) == FileType::RegularFile
}

fn error(path: &str, during: &'static str, errno: Errno, needed: Bytes) -> WaysError {
    let path = path.to_owned();
    match errno {
        Errno::ROFS => WaysError::ReadOnly { path },
        Errno::ACCESS | Errno::PERM => WaysError::Forbidden { path },
        Errno::NOSPC | Errno::DQUOT => WaysError::Full { path, needed },
        errno => WaysError::System { path, during, errno },
    }
}

fn system(path: &str, during: &'static str, error: &std::io::Error) -> WaysError {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    WaysError::System { path: path.to_owned(), during, errno }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_writes_everything_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::own_file(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name from the start");
        let bytes = Bytes::mib(2);
        for way in WayToWrite::ALL {
            // Filesystems in memory may refuse the last one.
            let Some(written) = place.write(way, bytes, &Interrupt::default()).unwrap() else { continue };
            assert_eq!((written.way, written.bytes), (way, bytes));
            assert!(written.claimed <= written.durable);
            assert_eq!(rustix::fs::fstat(&place.file).unwrap().st_size, 2 << 20);
            let mut byte = [7; 16];
            rustix::io::pread(&place.file, &mut byte, 1 << 20).unwrap();
            assert_eq!(byte == [0; 16], way == WayToWrite::Zeros, "{way:?} wrote {byte:?}");
        }
    }

    #[test]
    fn whoever_wants_to_stop_is_heard_and_what_does_not_fit_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::own_file(folder.path()).unwrap();
        let interrupt = Interrupt::default();
        interrupt.request();
        let stopped = place.write(WayToWrite::FlushAtEnd, Bytes::mib(1), &interrupt);
        assert!(matches!(stopped, Err(WaysError::Interrupted)));
        let full = place.write(WayToWrite::Zeros, Bytes::new(1 << 60), &Interrupt::default());
        assert!(matches!(full, Err(WaysError::Full { .. })), "{full:?}");
        assert!(error("d", "x", Errno::ROFS, Bytes::ZERO).to_string().contains("read-only"));
    }
}
