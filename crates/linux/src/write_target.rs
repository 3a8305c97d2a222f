//! The target of the write-methods workload: an unnamed temporary file, or an image or loop device that may
//! be erased.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use flashscope_device::host::{ByteSource, WriteHost, WriteMode};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Consent, Device, DeviceError, Instant};
use rustix::fs::{Advice, FileType, OFlags};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::error::OpenError;
use crate::files::{reopen, unnamed_file};
use crate::geometry::is_in_memory;
use crate::open::{Access, OpenOptions, open};
use crate::printable::printable;
use crate::reopened::NotReopened;

/// Why a target could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteTargetError {
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
        "{path}: no permission to create a file there: the directory belongs to another user; name one of your own, or put sudo \
         before the command. A stick that root mounted belongs to root: a desktop mounts it for you (udisksctl mount \
         -b DEVICE)"
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
    /// The device refuses it, such as one whose medium is no longer the one that a person agreed to erase.
    #[error("{path}: {error}")]
    Device {
        /// The target.
        path: String,
        /// Why.
        error: DeviceError,
    },
}

/// The target of the writes: an unnamed temporary file, or an image or loop device that may be erased.
#[derive(Debug)]
pub struct WriteTarget {
    path: String,
    file: OwnedFd,
    /// The opened target, which stays locked against other programs. `None` for a temporary file.
    device: Option<LinuxDevice>,
    clock: Clock,
    /// Bytes to be written, for error messages.
    needed: Bytes,
    /// The descriptor of the current method.
    writer: Option<OwnedFd>,
    mode: WriteMode,
    source: Option<Source>,
}

impl WriteTarget {
    /// A temporary file in `directory`. Its name is removed before anything is written, so nothing remains
    /// in any case.
    ///
    /// # Errors
    /// [`WriteTargetError`], with what to try.
    pub fn temporary_file(directory: &Path) -> Result<Self, WriteTargetError> {
        let path = printable(&directory.to_string_lossy());
        let created = unnamed_file(directory);
        let file = created.map_err(|errno| error(&path, "creating a file", errno, Bytes::ZERO))?;
        Ok(Self::new(path, file, None))
    }

    /// An image file, or a loop device over one.
    ///
    /// # Errors
    /// As [`open`].
    pub fn erase(
        path: &Path,
        consent: &dyn Consent,
        interrupt: &Interrupt,
    ) -> Result<Self, WriteTargetError> {
        let interrupt = Some(interrupt);
        let options = OpenOptions { access: Access::Erase(consent), interrupt, ..OpenOptions::default() };
        let device = open(path, &options)?;
        let name = printable(&path.to_string_lossy());
        let opened = device.reopen(&name, OFlags::RDWR | OFlags::CLOEXEC);
        let file = opened.map_err(|failed| not_reopened(&name, failed, Bytes::ZERO))?;
        Ok(Self::new(name, file, Some(device)))
    }

    fn new(path: String, file: OwnedFd, device: Option<LinuxDevice>) -> Self {
        let (clock, needed, mode) = (Clock::start(), Bytes::ZERO, WriteMode::Buffered);
        Self { path, file, device, clock, needed, writer: None, mode, source: None }
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

    /// Whether the filesystem refuses the current mode.
    fn is_refusal(&self, errno: Errno) -> bool {
        errno == Errno::INVAL && self.mode == WriteMode::Direct
    }

    /// Refuses another medium than the agreed one before the first write, and every write beyond the end: it
    /// would make an image file larger.
    fn permit(&mut self, end: Bytes) -> Result<(), WriteTargetError> {
        let Some(device) = &mut self.device else { return Ok(()) };
        let capacity = device.capabilities().capacity;
        if end > capacity {
            return Err(WriteTargetError::TooSmall { path: self.path.clone(), capacity, needed: end });
        }
        device.check_medium().map_err(|error| WriteTargetError::Device { path: self.path.clone(), error })
    }

    fn error(&self, during: &'static str, errno: Errno) -> WriteTargetError {
        error(&self.path, during, errno, self.needed)
    }
}

impl WriteHost for WriteTarget {
    type Error = WriteTargetError;

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn space(&mut self) -> Result<Bytes, WriteTargetError> {
        if let Some(device) = &self.device {
            return Ok(device.capabilities().capacity);
        }
        let failed = |errno| error(&self.path, "reading the free space", errno, Bytes::ZERO);
        rustix::fs::ftruncate(&self.file, 0).map_err(failed)?;
        let free = rustix::fs::fstatvfs(&self.file).map_err(failed)?;
        Ok(Bytes::new(free.f_bavail.saturating_mul(free.f_frsize)))
    }

    fn prepare(&mut self, bytes: Bytes) -> Result<(), WriteTargetError> {
        (self.needed, self.writer) = (bytes, None);
        let space = self.space()?;
        if space < bytes {
            let path = self.path.clone();
            return Err(match &self.device {
                Some(_) => WriteTargetError::TooSmall { path, capacity: space, needed: bytes },
                None => WriteTargetError::Full { path, needed: bytes },
            });
        }
        rustix::fs::fsync(&self.file).map_err(|errno| self.error("preparing", errno))?;
        // Advice only: pages that stay in memory are overwritten in any case.
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }

    fn open(&mut self, mode: WriteMode, source: Option<ByteSource>) -> Result<bool, WriteTargetError> {
        self.mode = mode;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | flags(mode);
        let opened = match &self.device {
            Some(device) => device.reopen(&self.path, flags),
            None => reopen(&self.file, flags).map_err(NotReopened::Kernel),
        };
        match opened {
            Ok(file) => self.writer = Some(file),
            Err(NotReopened::Kernel(errno)) if self.is_refusal(errno) => return Ok(false),
            Err(failed) => return Err(not_reopened(&self.path, failed, self.needed)),
        }
        self.source = source.map(|source| Source::open(source, &self.path)).transpose()?;
        Ok(true)
    }

    fn generate(&mut self, buffer: &mut [u8]) -> Result<(), WriteTargetError> {
        match &mut self.source {
            Some(source) => source.read(buffer),
            None => Err(self.error("generating data", Errno::BADF)),
        }
    }

    fn write(&mut self, offset: Bytes, bytes: &[u8]) -> Result<bool, WriteTargetError> {
        self.permit(offset + Bytes::new(bytes.len() as u64))?;
        let file = self.writer.as_ref().unwrap_or(&self.file);
        let (mut left, mut offset) = (bytes, offset);
        while !left.is_empty() {
            match rustix::io::pwrite(file, left, offset.get()) {
                Ok(written) => {
                    left = &left[written..];
                    offset += Bytes::new(written as u64);
                }
                Err(Errno::INTR) => {}
                // Some filesystems accept the flag and refuse the write.
                Err(errno) if self.is_refusal(errno) => return Ok(false),
                Err(errno) => return Err(self.error("writing", errno)),
            }
        }
        Ok(true)
    }

    fn flush(&mut self) -> Result<(), WriteTargetError> {
        let file = self.writer.as_ref().unwrap_or(&self.file);
        rustix::fs::fdatasync(file).map_err(|errno| self.error("flushing", errno))
    }
}

const fn flags(mode: WriteMode) -> OFlags {
    match mode {
        WriteMode::Buffered => OFlags::empty(),
        WriteMode::Synchronous => OFlags::SYNC,
        WriteMode::Direct => OFlags::DIRECT,
    }
}

/// A kernel device that generates bytes.
#[derive(Debug)]
struct Source {
    name: &'static str,
    file: std::fs::File,
}

impl Source {
    fn open(source: ByteSource, path: &str) -> Result<Self, WriteTargetError> {
        let name = match source {
            ByteSource::Zeros => "/dev/zero",
            ByteSource::Random => "/dev/urandom",
        };
        let opened = std::fs::File::open(name);
        let file = opened.map_err(|error| system(path, "opening the source", &error))?;
        Ok(Self { name, file })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<(), WriteTargetError> {
        self.file.read_exact(buffer).map_err(|error| system(self.name, "reading", &error))
    }
}

fn not_reopened(path: &str, failed: NotReopened, needed: Bytes) -> WriteTargetError {
    match failed {
        NotReopened::Kernel(errno) => error(path, "opening it", errno, needed),
        NotReopened::Udisks(refused) => refused.into(),
    }
}

fn is_file(mode: u32) -> bool {
    FileType::from_raw_mode(mode) == FileType::RegularFile
}

fn error(path: &str, during: &'static str, errno: Errno, needed: Bytes) -> WriteTargetError {
    let path = path.to_owned();
    match errno {
        Errno::ROFS => WriteTargetError::ReadOnly { path },
        Errno::ACCESS | Errno::PERM => WriteTargetError::Forbidden { path },
        Errno::NOSPC | Errno::DQUOT => WriteTargetError::Full { path, needed },
        errno => WriteTargetError::System { path, during, errno },
    }
}

fn system(path: &str, during: &'static str, error: &std::io::Error) -> WriteTargetError {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    WriteTargetError::System { path: path.to_owned(), during, errno }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::agreed::Agreed;

    const MODES: [WriteMode; 3] = [WriteMode::Buffered, WriteMode::Synchronous, WriteMode::Direct];

    #[test]
    fn every_mode_writes_all_bytes_and_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = WriteTarget::temporary_file(directory.path()).unwrap();
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "the file has no name from the start"
        );
        let mut data = flashscope_device::Buffer::zeroed(Bytes::mib(2));
        data.fill(7);
        for mode in MODES {
            target.prepare(Bytes::mib(2)).unwrap();
            assert_eq!(rustix::fs::fstat(&target.file).unwrap().st_size, 0, "emptied before each method");
            // Filesystems in memory may refuse direct I/O.
            if !target.open(mode, None).unwrap() || !target.write(Bytes::ZERO, &data).unwrap() {
                assert_eq!(mode, WriteMode::Direct);
                continue;
            }
            target.flush().unwrap();
            assert_eq!(rustix::fs::fstat(&target.file).unwrap().st_size, 2 << 20);
            let mut bytes = [0; 16];
            rustix::io::pread(&target.file, &mut bytes, 1 << 20).unwrap();
            assert_eq!(bytes, [7; 16], "{mode:?}");
        }
    }

    /// The kernel refuses offsets from 2^63 on with the error by which filesystems refuse direct writes.
    #[test]
    fn direct_write_that_is_refused_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = WriteTarget::temporary_file(directory.path()).unwrap();
        target.prepare(Bytes::mib(1)).unwrap();
        assert!(target.open(WriteMode::Buffered, None).unwrap());
        let beyond = Bytes::new(1 << 63);
        assert!(target.write(beyond, &[7]).is_err());
        target.mode = WriteMode::Direct;
        assert!(!target.write(beyond, &[7]).unwrap());
    }

    /// /dev/null refuses direct I/O when it is opened, as some filesystems do.
    #[test]
    fn direct_mode_that_is_refused_at_opening_is_no_error() {
        let null = std::fs::File::options().write(true).open("/dev/null").unwrap();
        let mut target = WriteTarget::new("/dev/null".to_owned(), null.into(), None);
        assert!(!target.open(WriteMode::Direct, None).unwrap());
        assert!(target.open(WriteMode::Synchronous, None).unwrap());
        assert!(target.open(WriteMode::Buffered, None).unwrap());
    }

    #[test]
    fn sources_generate_zeros_and_random_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = WriteTarget::temporary_file(directory.path()).unwrap();
        let mut generated = |source| {
            let mut bytes = [7; 64];
            assert!(target.open(WriteMode::Buffered, Some(source)).unwrap());
            target.generate(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(generated(ByteSource::Zeros), [0; 64]);
        assert_ne!(generated(ByteSource::Random), generated(ByteSource::Random));
        assert!(target.open(WriteMode::Buffered, None).unwrap());
        assert!(target.generate(&mut [0]).is_err(), "no source was opened");
    }

    /// Files in memory are on another filesystem than the root, where `/dev/shm` is mounted.
    #[test]
    fn only_a_file_on_the_filesystem_of_the_root_is_on_the_system_disk() {
        let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev()).ok();
        let root = device(Path::new("/"));
        for place in [std::env::temp_dir(), "/dev/shm".into()] {
            let Ok(directory) = tempfile::tempdir_in(&place) else {
                crate::testing::skip(&format!("no file can be made in {}", place.display()));
                continue;
            };
            let target = WriteTarget::temporary_file(directory.path()).unwrap();
            assert_eq!(target.is_on_system_disk(), device(&place) == root, "{}", place.display());
        }
    }

    /// An image of 1 MiB that may be erased, with this medium in the permission.
    fn erasable_image(directory: &tempfile::TempDir, medium: Option<&str>) -> WriteTarget {
        let path = directory.path().join("image");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let consent = Agreed { includes_other_files: true, ..Agreed::to_erase(path.to_str().unwrap()) };
        let consent = match medium {
            Some(medium) => consent.of_medium(medium),
            None => consent,
        };
        let mut target = WriteTarget::erase(&path, &consent, &Interrupt::default()).unwrap();
        target.prepare(Bytes::mib(1)).unwrap();
        assert!(target.open(WriteMode::Buffered, None).unwrap());
        target
    }

    fn is_unchanged(directory: &tempfile::TempDir) -> bool {
        std::fs::read(directory.path().join("image")).unwrap() == vec![7; 1 << 20]
    }

    #[test]
    fn another_medium_than_the_agreed_one_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = erasable_image(&directory, Some("sdz 1 2"));
        for _ in 0..2 {
            let refused = target.write(Bytes::ZERO, &[0; 512]).unwrap_err();
            let error = DeviceError::MediumChanged;
            assert!(matches!(&refused, WriteTargetError::Device { error: found, .. } if *found == error));
            assert!(is_unchanged(&directory), "{refused}");
        }
    }

    #[test]
    fn write_beyond_the_end_of_an_image_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = erasable_image(&directory, None);
        let refused = target.write(Bytes::mib(1) - Bytes::new(512), &[0; 1024]).unwrap_err();
        assert!(matches!(refused, WriteTargetError::TooSmall { .. }), "{refused}");
        assert!(is_unchanged(&directory));
        assert!(target.write(Bytes::ZERO, &[0; 1024]).unwrap() && !is_unchanged(&directory));
        assert!(target.write(Bytes::mib(1) - Bytes::new(512), &[0; 512]).unwrap(), "the last bytes fit");
        assert_eq!(std::fs::metadata(directory.path().join("image")).unwrap().len(), 1 << 20);
    }

    /// A tool that this process starts would keep the disk claimed.
    #[test]
    fn no_descriptor_is_inherited() {
        let directory = tempfile::tempdir().unwrap();
        let target = erasable_image(&directory, None);
        for file in [&target.file, target.writer.as_ref().unwrap()] {
            let flags = rustix::io::fcntl_getfd(file).unwrap();
            assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
        }
    }

    #[test]
    fn missing_space_and_read_only_filesystem_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let mut target = WriteTarget::temporary_file(directory.path()).unwrap();
        let full = target.prepare(Bytes::new(1 << 60));
        assert!(matches!(full, Err(WriteTargetError::Full { .. })), "{full:?}");
        assert!(error("d", "x", Errno::ROFS, Bytes::ZERO).to_string().contains("read-only"));
    }
}
