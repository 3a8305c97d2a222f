//! A device whose contents are kept in a file and whose timing comes from another device.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::Path;

use flashscope_device::{
    Buffer, Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, Pattern, Payload, ReadInto,
    RequestError, Success, Tag,
};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::shown;
use crate::failure::{Failure, cause, read_whole};
use crate::sysfs::Sysfs;
use crate::target::punch_hole;

/// Why a file cannot hold a device's contents.
#[derive(Debug, thiserror::Error)]
pub enum BackingError {
    /// The file has another size.
    #[error(
        "{path} holds {} bytes, but the stick {} ({}): name another file, or another capacity (?capacity=…)",
        found.get(), wanted.get(), wanted
    )]
    Size {
        /// The file.
        path: String,
        /// Its size.
        found: Bytes,
        /// The device's capacity.
        wanted: Bytes,
    },
    /// Not a regular file: a block device, a directory, a pipe.
    #[error("{path} is not a regular file: contents are kept in files only, never on a disk")]
    NoFile {
        /// The path.
        path: String,
    },
    /// The file is in use.
    #[error("{path} is in use by {}", user.as_deref().unwrap_or("another program, which holds a lock on it"))]
    InUse {
        /// The file.
        path: String,
        /// The loop device over it, if that is the reason.
        user: Option<String>,
    },
    /// Any other failure.
    #[error("{path}: {during} failed: {errno}")]
    System {
        /// The file.
        path: String,
        /// The action that failed.
        during: &'static str,
        /// The kernel's error.
        errno: Errno,
    },
}

/// A device whose contents are a sparse file of the same capacity. The device below only provides the
/// timing. Data is transferred to or from the file when that device completes the request.
#[derive(Debug)]
pub struct FileBacked<D> {
    device: D,
    file: OwnedFd,
    in_flight: HashMap<Tag, Op>,
}

impl<D: Device> FileBacked<D> {
    /// `device`, with its contents in the file at `path`, which is created if it is missing or empty. The
    /// file is locked against other programs. A disk is refused.
    ///
    /// # Errors
    /// [`BackingError`] if the file has another size, is in use, or is not a regular file.
    pub fn open(device: D, path: &Path) -> Result<Self, BackingError> {
        let name = shown(path);
        let wanted = device.capabilities().capacity;
        let system = |during| {
            let path = name.clone();
            move |errno| BackingError::System { path, during, errno }
        };
        let is_file = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
        // A disk is not even opened: closing it after opening for writing would notify other programs.
        if rustix::fs::stat(path).is_ok_and(|found| !is_file(found.st_mode)) {
            return Err(BackingError::NoFile { path: name });
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)).map_err(system("opening it"))?;
        let found = rustix::fs::fstat(&file).map_err(system("examining it"))?;
        if !is_file(found.st_mode) {
            return Err(BackingError::NoFile { path: name });
        }
        lock(&file, path, &name)?;
        match Bytes::new(found.st_size.unsigned_abs()) {
            Bytes::ZERO => rustix::fs::ftruncate(&file, wanted.get()).map_err(system("setting its size"))?,
            found if found != wanted => return Err(BackingError::Size { path: name, found, wanted }),
            _ => {}
        }
        Ok(Self { device, file, in_flight: HashMap::new() })
    }

    /// The device below.
    pub fn into_inner(self) -> D {
        self.device
    }

    fn transfer(&self, op: &mut Op) -> Result<Success, Failure> {
        match op {
            Op::Read { range, into: ReadInto::Bytes(buffer) } => {
                read_whole(&self.file, range.offset, buffer)?
            }
            Op::Read { range, into: ReadInto::Check(pattern) } => {
                let mut read = Buffer::zeroed(range.length);
                read_whole(&self.file, range.offset, &mut read)?;
                return Ok(Success::of_check(pattern.check(range.offset.sectors(), &read)));
            }
            Op::Write { range, payload: Payload::Bytes(buffer) } => self.write(range.offset, buffer)?,
            Op::Write { range, payload: Payload::Pattern { pattern, .. } } => {
                let mut written = Buffer::zeroed(range.length);
                pattern.fill(range.offset.sectors(), &mut written);
                self.write(range.offset, &written)?;
            }
            Op::Discard { range } => {
                let (offset, length) = (range.offset.get(), range.length.get());
                rustix::fs::fallocate(&self.file, punch_hole(), offset, length).map_err(Failure::Errno)?;
            }
            Op::Read { into: ReadInto::Timing, .. } | Op::Flush | Op::Pause { .. } => {}
        }
        Ok(Success::Done)
    }

    fn write(&self, offset: Bytes, bytes: &[u8]) -> Result<(), Failure> {
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::pwrite(&self.file, &bytes[done..], offset.get() + done as u64) {
                Ok(written) => done += written,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Failure::Errno(errno)),
            }
        }
        Ok(())
    }
}

impl<D: Device> Device for FileBacked<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        // The device below refuses invalid requests, with their buffers.
        if self.capabilities().admit(&op).is_err() {
            return self.device.submit(tag, op);
        }
        self.device.submit(tag, timing_of(&op))?;
        self.in_flight.insert(tag, op);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some(completion) = self.device.wait()? else { return Ok(None) };
        let Some(mut op) = self.in_flight.remove(&completion.tag) else { return Ok(Some(completion)) };
        let outcome = completion.outcome.and_then(|_| {
            self.transfer(&mut op).map_err(|failure| {
                let errno = match failure {
                    Failure::Errno(errno) => errno,
                    Failure::Short => Errno::IO,
                };
                RequestError::new(op.kind(), op.range(), cause(errno))
            })
        });
        Ok(Some(Completion { outcome, buffer: op.into_buffer(), ..completion }))
    }
}

/// The same request, without its bytes.
fn timing_of(op: &Op) -> Op {
    match op {
        Op::Read { range, .. } => Op::read(*range),
        Op::Write { range, .. } => Op::write(*range, Pattern::new(0)),
        Op::Flush => Op::Flush,
        Op::Discard { range } => Op::Discard { range: *range },
        Op::Pause { duration } => Op::Pause { duration: *duration },
    }
}

/// Locks the file exclusively for as long as it is open, as [`open`](crate::open()) does.
fn lock(file: &OwnedFd, path: &Path, name: &str) -> Result<(), BackingError> {
    let in_use = |user| BackingError::InUse { path: name.to_owned(), user };
    if let Some(user) = Sysfs::default().loop_over(path) {
        return Err(in_use(Some(user)));
    }
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let locked = rustix::fs::flock(file, exclusive).and_then(|()| rustix::fs::fcntl_lock(file, exclusive));
    locked.map_err(|errno| match errno {
        Errno::AGAIN | Errno::ACCESS => in_use(None),
        errno => BackingError::System { path: name.to_owned(), during: "locking it", errno },
    })
}

#[cfg(test)]
mod tests {
    use flashscope_device::DeviceExt;
    use flashscope_device::layer::{Budget, Meter};
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::units::ByteRange;

    use super::*;

    const SIZE: Bytes = Bytes::mib(1);

    fn open(path: &Path) -> Result<FileBacked<MemoryDevice>, BackingError> {
        FileBacked::open(MemoryDevice::new(SIZE), path)
    }

    fn range(offset_kib: u64, length_kib: u64) -> ByteRange {
        ByteRange::new(Bytes::kib(offset_kib), Bytes::kib(length_kib))
    }

    #[test]
    fn contents_come_from_the_file_and_timing_from_the_device() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("contents");
        let mut device = open(&path).unwrap();
        let bytes = Payload::Bytes(Buffer::from(&[7; 4096][..]));
        device.run(Op::Write { range: range(4, 4), payload: bytes }).unwrap().outcome.unwrap();
        device.run(Op::write(range(8, 4), Pattern::new(3))).unwrap().outcome.unwrap();
        device.run(Op::Discard { range: range(4, 1) }).unwrap().outcome.unwrap();
        assert_eq!(device.now(), Instant::from_nanos(300_000));
        let below = device.into_inner();
        assert_ne!(below.contents()[6144..8192], [7; 2048], "the device never saw the bytes");

        let mut again = open(&path).unwrap();
        let read = again.read_bytes(range(4, 4)).unwrap().unwrap();
        assert!(read[..1024].iter().all(|byte| *byte == 0) && read[1024..].iter().all(|byte| *byte == 7));
        let check = Op::Read { range: range(8, 4), into: ReadInto::Check(Pattern::new(3)) };
        assert_eq!(again.run(check).unwrap().outcome, Ok(Success::AllRight));
    }

    #[test]
    fn refused_request_does_not_change_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("contents");
        let mut device = open(&path).unwrap();
        assert!(device.run(Op::write(range(1020, 8), Pattern::new(3))).unwrap().outcome.is_err());
        drop(device);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), SIZE.get());
    }

    #[test]
    fn requests_in_flight_keep_their_own_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let mut device = Meter::new(open(&directory.path().join("contents")).unwrap(), Budget::UNLIMITED);
        for index in 0..8_u8 {
            let payload = Payload::Bytes(Buffer::from(&[index; 1024][..]));
            device.submit(Tag(index.into()), Op::Write { range: range(index.into(), 1), payload }).unwrap();
        }
        while device.wait().unwrap().is_some() {}
        for index in 0..8_u8 {
            let read = device.read_bytes(range(index.into(), 1)).unwrap().unwrap();
            assert!(read.iter().all(|byte| *byte == index));
        }
    }

    #[test]
    fn file_of_another_size_in_use_or_not_regular_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("contents");
        let first = open(&path).unwrap();
        assert!(matches!(open(&path), Err(BackingError::InUse { .. })));
        drop(first);
        std::fs::File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let text = open(&path).unwrap_err().to_string();
        assert!(text.contains("4096 bytes") && text.contains("1048576"), "{text}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 4096, "the file is unchanged");
        for no_file in [directory.path(), Path::new("/dev/null")] {
            assert!(matches!(open(no_file), Err(BackingError::NoFile { .. })));
        }
    }
}
