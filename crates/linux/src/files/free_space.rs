//! The free space of a directory as one device: files that are filled one after another.
//!
//! Every file has a name, so that leftovers of a killed test can be found. Dropping the device removes them.
//! Data patterns hold the address in the whole device, not in the file.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::{fs, mem};

use flashscope_device::{
    Buffer, ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, FailureCause,
    Instant, Op, Pattern, Payload, ReadInto, RequestError, SECTOR, Success, Tag,
};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::bench_directory::BenchDirectory;
use super::error::FilesError;
use super::temporary_file::{as_device, prepare};
use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::open::MAX_REQUEST;
use crate::remark::Remark;

/// The prefix of the files' names; a number follows.
const PREFIX: &str = ".flashscope-verify-";
/// The size of a file, below the 4 GiB that FAT allows.
const FILE_SIZE: Bytes = Bytes::gib(1);
/// What stays free, so that the host's filesystem is never full: a fiftieth of the free space, and at least
/// 16 MiB. Guess: tables of 1 GiB files need far less.
const KEPT_FREE_PART: u64 = 50;
const KEPT_FREE_MIN: Bytes = Bytes::mib(16);
/// The size is a multiple of the usual request.
const STEP: Bytes = Bytes::mib(1);
/// Buffers that are kept for the next requests.
const BUFFERS_MAX: usize = 8;

/// The free space of a directory, as a device.
pub struct FreeSpace {
    directory: PathBuf,
    filesystem: String,
    /// Locks the directory against a second test.
    _lock: OwnedFd,
    clock: Clock,
    file_size: Bytes,
    capabilities: Capabilities,
    is_buffered: bool,
    removed: usize,
    files: u64,
    current: Option<(u64, LinuxDevice)>,
    pending: BTreeMap<u64, Pending>,
    next_tag: u64,
    done: VecDeque<Completion>,
    buffers: Vec<Buffer>,
}

/// A request in flight, as the caller made it.
struct Pending {
    tag: Tag,
    range: Option<ByteRange>,
    check: Option<Pattern>,
    keeps_buffer: bool,
}

impl BenchDirectory {
    /// The free space of this directory, but for a reserve, with this queue depth. Removes the files that a
    /// killed test left.
    ///
    /// # Errors
    /// [`FilesError`], with what to try.
    pub fn free_space(&self, queue_depth: u32) -> Result<FreeSpace, FilesError> {
        self.free_space_up_to(Bytes::new(u64::MAX), FILE_SIZE, queue_depth)
    }

    /// The same, with at most `limit` bytes in files of `file_size`.
    fn free_space_up_to(
        &self,
        limit: Bytes,
        file_size: Bytes,
        queue_depth: u32,
    ) -> Result<FreeSpace, FilesError> {
        let failed = |during| move |errno| FilesError::of(self.display_path(), during, errno, Bytes::ZERO);
        let lock = lock(self.path()).map_err(|errno| match errno {
            Errno::AGAIN => FilesError::InUse { path: self.display_path().to_owned() },
            errno => FilesError::of(self.display_path(), "locking the directory", errno, Bytes::ZERO),
        })?;
        let removed = remove_files(self.path()).map_err(failed("removing the files of an earlier test"))?;
        let space = self.space()?;
        let free = Bytes::new(space.f_bavail.saturating_mul(space.f_frsize));
        let kept_free = (free / KEPT_FREE_PART).max(KEPT_FREE_MIN);
        let capacity = free.saturating_sub(kept_free).min(limit).round_down(STEP);
        if capacity < STEP {
            let needed = KEPT_FREE_MIN + STEP;
            return Err(FilesError::TooLittleSpace { path: self.display_path().to_owned(), free, needed });
        }
        let mut device = FreeSpace {
            directory: self.path().to_owned(),
            filesystem: self.backing_filesystem().filesystem.clone(),
            _lock: lock,
            clock: Clock::start(),
            file_size,
            capabilities: Capabilities {
                capacity,
                logical_block: SECTOR,
                physical_block: SECTOR,
                max_request: MAX_REQUEST.min(file_size),
                queue_depth,
                writable: true,
                discard: false,
            },
            is_buffered: false,
            removed,
            files: 0,
            current: None,
            pending: BTreeMap::new(),
            next_tag: 0,
            done: VecDeque::new(),
            buffers: Vec::new(),
        };
        // The first file shows what the filesystem can do.
        let first = device.open_file(0).map_err(failed("creating a file"))?;
        let found = first.capabilities();
        device.capabilities.logical_block = found.logical_block;
        device.capabilities.physical_block = found.physical_block;
        device.capabilities.queue_depth = found.queue_depth;
        device.is_buffered = first.remarks().contains(&Remark::Buffered);
        device.current = Some((0, first));
        Ok(device)
    }
}

impl FreeSpace {
    /// How many files of a killed test were removed at the start.
    #[must_use]
    pub const fn removed(&self) -> usize {
        self.removed
    }

    /// Whether its requests go through the page cache.
    #[must_use]
    pub const fn is_buffered(&self) -> bool {
        self.is_buffered
    }

    /// Removes all its files.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn remove(mut self) -> std::io::Result<()> {
        self.current = None;
        remove_files(&self.directory).map(drop).map_err(Into::into)
    }

    fn path(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{PREFIX}{number:04}"))
    }

    /// Opens a file, and creates it if it is a new one.
    fn open_file(&mut self, number: u64) -> Result<LinuxDevice, Errno> {
        let size = self.file_size.min(self.capabilities.capacity - self.file_size * number);
        let is_new = number >= self.files;
        let new = if is_new { OFlags::CREATE | OFlags::EXCL } else { OFlags::empty() };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | new;
        let created = rustix::fs::open(self.path(number), flags, Mode::RUSR | Mode::WUSR)?;
        if is_new {
            self.files = number + 1;
            prepare(&created, size, &self.filesystem).map_err(|(_, errno)| errno)?;
        }
        let capabilities = Capabilities { capacity: size, ..self.capabilities };
        as_device(&created, true, capabilities, self.clock, Vec::new()).map_err(|(_, errno)| errno)
    }

    /// The file with this number. The one before is completed and flushed first.
    fn file(&mut self, number: u64) -> Result<&mut LinuxDevice, DeviceError> {
        if self.current.as_ref().is_none_or(|(open, _)| *open != number) {
            while let Some(completion) = self.wait_for_file()? {
                self.done.push_back(completion);
            }
            if let Some((_, mut previous)) = self.current.take() {
                previous.run(Op::Flush)?;
            }
            let opened = self.open_file(number).map_err(|errno| system("opening a file", errno))?;
            self.current = Some((number, opened));
        }
        let file = self.current.as_mut().map(|(_, file)| file);
        file.ok_or_else(|| system("opening a file", Errno::BADF))
    }

    fn wait_for_file(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some((_, file)) = &mut self.current else { return Ok(None) };
        let Some(completion) = file.wait()? else { return Ok(None) };
        Ok(Some(self.finish(completion)))
    }

    /// The completion as the caller expects it: its tag, its range, and the data checked.
    fn finish(&mut self, mut completion: Completion) -> Completion {
        let Some(pending) = self.pending.remove(&completion.tag.0) else { return completion };
        completion.tag = pending.tag;
        if let Err(error) = &mut completion.outcome {
            error.range = pending.range;
        }
        if let (Ok(outcome), Some(pattern), Some(range), Some(buffer)) =
            (&mut completion.outcome, pending.check, pending.range, &completion.buffer)
        {
            *outcome = Success::of_check(pattern.check(range.offset.sectors(), buffer));
        }
        if !pending.keeps_buffer
            && let Some(buffer) = completion.buffer.take()
            && self.buffers.len() < BUFFERS_MAX
        {
            self.buffers.push(buffer);
        }
        completion
    }

    fn buffer(&mut self, length: Bytes) -> Buffer {
        let found = self.buffers.iter().position(|buffer| buffer.length() == length);
        found.map_or_else(|| Buffer::zeroed(length), |index| self.buffers.swap_remove(index))
    }

    /// The request on its file: at the address in the file, with bytes instead of patterns.
    fn translated(&mut self, op: Op) -> Result<(Op, Option<Pattern>, bool), FailureCause> {
        let file_size = self.file_size;
        let here = |range: ByteRange| ByteRange::new(range.offset % file_size, range.length);
        Ok(match op {
            Op::Write { range, payload: Payload::Pattern { pattern, .. } } => {
                let mut buffer = self.buffer(range.length);
                pattern.fill(range.offset.sectors(), &mut buffer);
                (Op::Write { range: here(range), payload: Payload::Bytes(buffer) }, None, false)
            }
            Op::Read { range, into: ReadInto::Check(pattern) } => {
                let into = ReadInto::Bytes(self.buffer(range.length));
                (Op::Read { range: here(range), into }, Some(pattern), false)
            }
            Op::Write { range, payload } => (Op::Write { range: here(range), payload }, None, true),
            Op::Read { range, into } => (Op::Read { range: here(range), into }, None, true),
            Op::Discard { .. } => return Err(FailureCause::Unsupported),
            other @ (Op::Flush | Op::Pause { .. }) => (other, None, true),
        })
    }
}

impl Device for FreeSpace {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let (kind, range) = (op.kind(), op.range());
        let number = range.map_or_else(
            || self.current.as_ref().map_or(0, |(number, _)| *number),
            |range| range.offset / self.file_size,
        );
        let straddles = range.is_some_and(|range| range.end() > self.file_size * (number + 1));
        let admitted = self.capabilities.admit(&op).and_then(|()| match straddles {
            true => {
                let cause = FailureCause::TooLarge { max_request: self.file_size };
                Err(RequestError::new(kind, range, cause))
            }
            false => Ok(()),
        });
        let refused = match admitted {
            Ok(()) => match self.translated(op) {
                Ok((op, check, keeps_buffer)) => {
                    let inner = Tag(self.next_tag);
                    self.file(number)?.submit(inner, op)?;
                    self.next_tag += 1;
                    self.pending.insert(inner.0, Pending { tag, range, check, keeps_buffer });
                    return Ok(());
                }
                Err(cause) => RequestError::new(kind, range, cause),
            },
            Err(refused) => refused,
        };
        let now = self.now();
        let outcome = Err(refused);
        self.done.push_back(Completion::new(tag, (now, now), outcome, None));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        match self.done.pop_front() {
            Some(completion) => Ok(Some(completion)),
            None => self.wait_for_file(),
        }
    }
}

impl Drop for FreeSpace {
    fn drop(&mut self) {
        drop(mem::take(&mut self.current));
        // Errors have no receiver here; the next test removes what is left.
        let _ = remove_files(&self.directory);
    }
}

fn system(during: &str, errno: Errno) -> DeviceError {
    DeviceError::System { during: during.to_owned(), errno: errno.raw_os_error() }
}

/// Locks the directory for as long as it is open.
fn lock(directory: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())?;
    rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive)?;
    Ok(opened)
}

/// Removes the test's files; returns how many. Anything else stays.
fn remove_files(directory: &Path) -> Result<usize, Errno> {
    let errno = |error: &std::io::Error| Errno::from_io_error(error).unwrap_or(Errno::IO);
    let mut removed = 0;
    for entry in fs::read_dir(directory).map_err(|error| errno(&error))? {
        let entry = entry.map_err(|error| errno(&error))?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && entry.file_name().to_str().is_some_and(is_own) {
            fs::remove_file(entry.path()).map_err(|error| errno(&error))?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn is_own(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX);
    number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_files_of_an_earlier_test_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let own = [format!("{PREFIX}0000"), format!("{PREFIX}12345")];
        let others = [PREFIX.to_owned(), format!("{PREFIX}12x4"), "photo.jpg".to_owned()];
        for name in own.iter().chain(&others) {
            fs::write(directory.path().join(name), "x").unwrap();
        }
        fs::create_dir(directory.path().join(format!("{PREFIX}7777"))).unwrap();
        assert_eq!(remove_files(directory.path()), Ok(2));
        let mut left = [others.to_vec(), vec![format!("{PREFIX}7777")]].concat();
        left.sort();
        assert_eq!(names(directory.path()), left);
    }

    #[test]
    fn files_hold_the_pattern_of_the_whole_device_and_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let size = STEP * 3;
        let mut device = parent.free_space_up_to(size + STEP, size, 4).unwrap();
        assert_eq!(device.capabilities().capacity, size + STEP);
        let pattern = Pattern::new(3);
        let ranges = [Bytes::ZERO, size - STEP, size].map(|at| ByteRange::new(at, STEP));
        for (range, tag) in ranges.iter().zip(0..) {
            device.submit(Tag(tag), Op::write(*range, pattern)).unwrap();
        }
        let mut tags: Vec<u64> = std::iter::from_fn(|| device.wait().unwrap())
            .map(|completion| {
                completion.outcome.unwrap();
                completion.tag.0
            })
            .collect();
        tags.sort_unstable();
        assert_eq!(tags, [0, 1, 2]);
        assert_eq!(names(directory.path()), [format!("{PREFIX}0000"), format!("{PREFIX}0001")]);
        for range in ranges {
            let read = device.run(Op::Read { range, into: ReadInto::Check(pattern) }).unwrap();
            assert_eq!(read.outcome, Ok(Success::AllRight), "{range}");
        }
        let straddling = ByteRange::new(size - SECTOR * 8, SECTOR * 16);
        assert!(device.run(Op::write(straddling, pattern)).unwrap().outcome.is_err());
        assert!(matches!(parent.free_space_up_to(size, size, 1), Err(FilesError::InUse { .. })));
        device.remove().unwrap();
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn dropping_it_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let mut device = parent.free_space_up_to(STEP, STEP, 1).unwrap();
        device.run(Op::write(ByteRange::new(Bytes::ZERO, STEP), Pattern::new(1))).unwrap();
        drop(device);
        assert!(names(directory.path()).is_empty());
    }

    /// 16 MiB stay free, and the smallest device has 1 MiB.
    #[test]
    fn too_little_space_is_refused_with_what_is_needed() {
        let directory = tempfile::tempdir().unwrap();
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let refused = parent.free_space_up_to(STEP - SECTOR, STEP, 1).err().unwrap();
        let FilesError::TooLittleSpace { needed, .. } = refused else { panic!("{refused}") };
        assert_eq!(needed, Bytes::mib(17));
        assert!(parent.free_space_up_to(STEP, STEP, 1).is_ok());
    }

    #[test]
    fn requests_bypass_the_page_cache_where_the_filesystem_allows_it() {
        let directory = tempfile::tempdir().unwrap();
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let device = parent.free_space_up_to(STEP, STEP, 1).unwrap();
        let file = directory.path().join(format!("{PREFIX}0000"));
        let opened = rustix::fs::open(file, OFlags::RDWR | OFlags::DIRECT, Mode::empty());
        let takes_direct = opened.is_ok_and(|file| crate::geometry::direct_block(&file).is_some());
        assert_eq!(device.is_buffered(), !takes_direct);
    }
}
