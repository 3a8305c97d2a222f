//! Writes a set of files, flushes, reads them back and removes them, and times each phase.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Instant, Lba, Pattern};
use flashscope_record::activity::{Counters, RequestCounters};
use rustix::io::Errno;

use super::error::FilesError;
use super::page_cache::{self, CacheDrop, CachedShare};
use super::temporary_directory::TemporaryDirectory;
use super::traffic::{self, DeviceTraffic};
use crate::clock::Clock;
use crate::sysfs::Node;

/// The size of each write and read; cp uses the same.
const CHUNK: Bytes = Bytes::kib(128);
/// How often a waiting flush checks for an interrupt.
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

/// When data is flushed to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushPolicy {
    /// Once, when all files are closed: `syncfs`.
    AtEnd,
    /// After every file as well: `fsync`.
    EachFile,
}

/// The times of one set of files.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSetTimes {
    /// The number of files.
    pub files: u32,
    /// Their contents.
    pub bytes: Bytes,
    /// The space that the filesystem allocated for them, directories included.
    pub allocated: Bytes,
    /// The time to write all files, until the last was closed.
    pub write: Duration,
    /// The flush after that.
    pub flush: Duration,
    /// The time to read them back.
    pub read: Duration,
    /// The time to remove them, with a flush.
    pub remove: Duration,
    /// The time to write each file, nanoseconds.
    pub write_each_ns: Vec<u64>,
    /// The time to read each file, nanoseconds.
    pub read_each_ns: Vec<u64>,
    /// How the page cache was dropped before reading.
    pub cache_drop: CacheDrop,
    /// The share of pages that stayed in the page cache; `None` if unknown.
    pub cached_share: Option<f64>,
    /// The writes that reached the device, until the flush ended.
    pub writes: Option<DeviceTraffic>,
    /// The reads that reached the device.
    pub reads: Option<DeviceTraffic>,
    /// The number of files whose contents were not what had been written.
    pub corrupt: u32,
}

/// A set of files to be measured.
pub struct FileSetJob<'a> {
    /// The directory to write in.
    pub parent: &'a Path,
    /// Its name in error messages.
    pub display_path: &'a str,
    /// The size of each file.
    pub sizes: &'a [Bytes],
    /// The number of files in each subdirectory.
    pub files_per_directory: u32,
    /// When data is flushed to the medium.
    pub flush: FlushPolicy,
    /// The contents.
    pub pattern: Pattern,
    /// The block device below.
    pub node: Option<&'a Node>,
    /// Whether the kernel may be asked to drop all its caches.
    pub may_drop_caches: bool,
    /// Whether the person wants to stop.
    pub interrupt: &'a Interrupt,
}

impl FileSetJob<'_> {
    /// Runs all phases. The files are remove in any case.
    pub fn run(&self) -> Result<FileSetTimes, FilesError> {
        let directory = TemporaryDirectory::create(self.parent)?;
        self.flush(directory.open())?;
        let mut run =
            FileSetRun { job: self, clock: Clock::start(), uncounted: Duration::ZERO, memory: memory() };
        let before = self.counters();
        let started = run.clock.now();
        let write_each_ns = run.write_all_files(&directory)?;
        let closed = run.clock.now();
        let write = closed.since(started).saturating_sub(run.uncounted);
        self.flush(directory.open())?;
        let flush = run.clock.now().since(closed);
        let writes = self.since(before, |counters| counters.writes);
        let allocated = directory.allocated();
        let (cache_drop, cached_share) = self.drop_from_cache(&directory)?;
        let before = self.counters();
        let read = run.read_all_files(&directory)?;
        let reads = self.since(before, |counters| counters.reads);
        let remove = run.remove(directory)?;
        Ok(FileSetTimes {
            files: self.count(),
            bytes: self.bytes(),
            allocated,
            write,
            flush,
            read: read.elapsed,
            remove,
            write_each_ns,
            read_each_ns: read.each_ns,
            cache_drop,
            cached_share,
            writes,
            reads,
            corrupt: read.corrupt,
        })
    }

    fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    fn bytes(&self) -> Bytes {
        self.sizes.iter().fold(Bytes::ZERO, |sum, size| sum + *size)
    }

    fn counters(&self) -> Option<Counters> {
        traffic::counters(self.node?)
    }

    fn since(
        &self,
        before: Option<Counters>,
        kind: fn(&Counters) -> RequestCounters,
    ) -> Option<DeviceTraffic> {
        traffic::between(&before?, &self.counters()?, kind)
    }

    fn failed(&self, during: &'static str) -> impl Fn(std::io::Error) -> FilesError {
        move |error| FilesError::of_io(self.display_path, during, &error, self.bytes())
    }

    fn check_interrupt(&self) -> Result<(), FilesError> {
        if self.interrupt.is_requested() { Err(FilesError::Interrupted) } else { Ok(()) }
    }

    /// Each file's number, path, size, and the first block of its pattern. No two files hold the same data.
    fn files<'a>(&'a self, directory: &'a TemporaryDirectory) -> impl Iterator<Item = PlannedFile> + 'a {
        let first = self.sizes.iter().scan(Lba(0), |next, size| {
            let first = *next;
            next.0 += size.get().div_ceil(512);
            Some(first)
        });
        let numbers = 0..self.count();
        let planned = |((number, size), first): ((u32, &Bytes), Lba)| PlannedFile {
            number,
            path: directory.file(number, self.files_per_directory),
            size: *size,
            first,
        };
        numbers.zip(self.sizes).zip(first).map(planned)
    }

    /// Flushes the whole filesystem. The system call cannot be interrupted, so another thread waits for it.
    /// After an interrupt, removing the files reduces what is left to write.
    fn flush(&self, directory: std::io::Result<File>) -> Result<(), FilesError> {
        let directory = directory.map_err(self.failed("flushing"))?;
        let (sender, receiver) = mpsc::channel();
        let flush = move || sender.send(rustix::fs::syncfs(&directory));
        std::thread::Builder::new().spawn(flush).map_err(self.failed("flushing"))?;
        loop {
            match receiver.recv_timeout(INTERRUPT_POLL) {
                Ok(flushed) => {
                    return flushed
                        .map_err(|errno| FilesError::of(self.display_path, "flushing", errno, self.bytes()));
                }
                Err(RecvTimeoutError::Timeout) => self.check_interrupt()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FilesError::of(self.display_path, "flushing", Errno::IO, self.bytes()));
                }
            }
        }
    }

    /// Drops all files from the page cache, and measures how much stayed.
    fn drop_from_cache(
        &self,
        directory: &TemporaryDirectory,
    ) -> Result<(CacheDrop, Option<f64>), FilesError> {
        for planned in self.files(directory) {
            page_cache::drop_file(&File::open(&planned.path).map_err(self.failed("reopening a file"))?);
        }
        let cache_drop = self.drop_caches();
        let mut cached = CachedShare::default();
        for planned in self.files(directory) {
            let file = File::open(&planned.path).map_err(self.failed("reopening a file"))?;
            cached.add(&file, planned.size.get());
        }
        // Checking opened every file, which cached directories and tables again.
        self.drop_caches();
        self.check_interrupt()?;
        Ok((cache_drop, cached.share()))
    }

    fn drop_caches(&self) -> CacheDrop {
        if self.may_drop_caches { page_cache::drop_caches() } else { CacheDrop::Advised }
    }
}

/// A file of the set.
struct PlannedFile {
    number: u32,
    path: PathBuf,
    size: Bytes,
    first: Lba,
}

/// The result of reading the files back.
struct ReadBack {
    elapsed: Duration,
    each_ns: Vec<u64>,
    corrupt: u32,
}

/// A running measurement.
struct FileSetRun<'a> {
    job: &'a FileSetJob<'a>,
    clock: Clock,
    /// Time spent generating and checking data, which does not count.
    uncounted: Duration,
    memory: [Buffer; 2],
}

fn memory() -> [Buffer; 2] {
    [Buffer::zeroed(CHUNK), Buffer::zeroed(CHUNK)]
}

impl FileSetRun<'_> {
    fn write_all_files(&mut self, directory: &TemporaryDirectory) -> Result<Vec<u64>, FilesError> {
        let mut each = Vec::with_capacity(self.job.sizes.len());
        for planned in self.job.files(directory) {
            self.job.check_interrupt()?;
            directory
                .create_subdirectory_for(planned.number, self.job.files_per_directory)
                .map_err(self.job.failed("creating a directory"))?;
            let (started, uncounted) = (self.clock.now(), self.uncounted);
            self.write_file(&planned).map_err(self.job.failed("writing a file"))?;
            each.push(self.elapsed_ns(started, uncounted));
        }
        Ok(each)
    }

    /// Nanoseconds since `started`, without the uncounted time since then.
    fn elapsed_ns(&self, started: Instant, uncounted: Duration) -> u64 {
        let elapsed =
            self.clock.now().since(started).saturating_sub(self.uncounted.saturating_sub(uncounted));
        u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
    }

    fn write_file(&mut self, planned: &PlannedFile) -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&planned.path)?;
        let mut done = Bytes::ZERO;
        while done < planned.size {
            // A single large file takes as long as many small ones, so it can be interrupted in between.
            if self.job.interrupt.is_requested() {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = CHUNK.min(planned.size - done).to_usize();
            self.fill(planned, done, length);
            file.write_all(&self.memory[0][..length])?;
            done += Bytes::new(length as u64);
        }
        if self.job.flush == FlushPolicy::EachFile { file.sync_all() } else { Ok(()) }
    }

    /// Generates the contents of a file from `offset` on, in uncounted time.
    fn fill(&mut self, planned: &PlannedFile, offset: Bytes, length: usize) {
        let started = self.clock.now();
        let first = Lba(planned.first.0 + offset.sectors().0);
        self.job.pattern.fill(first, &mut self.memory[0][..length]);
        self.uncounted += self.clock.now().since(started);
    }

    fn read_all_files(&mut self, directory: &TemporaryDirectory) -> Result<ReadBack, FilesError> {
        self.uncounted = Duration::ZERO;
        let (mut each_ns, mut corrupt) = (Vec::with_capacity(self.job.sizes.len()), 0);
        let all_started = self.clock.now();
        for planned in self.job.files(directory) {
            self.job.check_interrupt()?;
            let (started, uncounted) = (self.clock.now(), self.uncounted);
            let is_correct = self.read_file(&planned).map_err(self.job.failed("reading a file back"))?;
            each_ns.push(self.elapsed_ns(started, uncounted));
            corrupt += u32::from(!is_correct);
        }
        let elapsed = self.clock.now().since(all_started).saturating_sub(self.uncounted);
        Ok(ReadBack { elapsed, each_ns, corrupt })
    }

    /// Whether the file holds what was written.
    fn read_file(&mut self, planned: &PlannedFile) -> std::io::Result<bool> {
        let mut file = File::open(&planned.path)?;
        let (mut done, mut is_correct) = (Bytes::ZERO, true);
        while done < planned.size {
            if self.job.interrupt.is_requested() {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = CHUNK.min(planned.size - done).to_usize();
            match file.read_exact(&mut self.memory[1][..length]) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
                read => read?,
            }
            self.fill(planned, done, length);
            is_correct &= self.memory[0][..length] == self.memory[1][..length];
            done += Bytes::new(length as u64);
        }
        Ok(is_correct)
    }

    /// Removes the directory and flushes the removal.
    fn remove(&self, directory: TemporaryDirectory) -> Result<Duration, FilesError> {
        let started = self.clock.now();
        directory.remove().map_err(self.job.failed("removing its own files"))?;
        self.job.flush(File::open(self.job.parent))?;
        Ok(self.clock.now().since(started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(parent: &'a Path, sizes: &'a [Bytes], interrupt: &'a Interrupt) -> FileSetJob<'a> {
        FileSetJob {
            parent,
            display_path: "directory",
            sizes,
            files_per_directory: 3,
            flush: FlushPolicy::AtEnd,
            pattern: Pattern::new(1),
            node: None,
            may_drop_caches: false,
            interrupt,
        }
    }

    /// A directory in memory, where no other program's data is part of a flush.
    fn directory() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
    }

    fn is_empty(directory: &Path) -> bool {
        std::fs::read_dir(directory).unwrap().count() == 0
    }

    #[test]
    fn files_are_written_read_back_and_removed() {
        let directory = directory();
        let sizes: Vec<Bytes> = [1, 511, 512, 513, 200_000, 131_072, 7].map(Bytes::new).to_vec();
        let times = job(directory.path(), &sizes, &Interrupt::default()).run().unwrap();
        assert_eq!((times.files, times.bytes, times.corrupt), (7, Bytes::new(332_616), 0));
        assert_eq!((times.write_each_ns.len(), times.read_each_ns.len()), (7, 7));
        assert!(times.allocated >= times.bytes && times.writes.is_none());
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn files_differ_from_each_other_and_corruption_is_found() {
        let directory = directory();
        let (sizes, interrupt) = ([Bytes::new(700); 4], Interrupt::default());
        let job = job(directory.path(), &sizes, &interrupt);
        let own = TemporaryDirectory::create(directory.path()).unwrap();
        let mut run =
            FileSetRun { job: &job, clock: Clock::start(), uncounted: Duration::ZERO, memory: memory() };
        run.write_all_files(&own).unwrap();
        let mut contents: Vec<Vec<u8>> =
            job.files(&own).map(|planned| std::fs::read(planned.path).unwrap()).collect();
        assert!(contents.iter().all(|bytes| bytes.iter().filter(|byte| **byte == 0).count() < 20));
        contents.sort();
        contents.dedup();
        assert_eq!(contents.len(), 4);
        std::fs::write(own.file(2, 3), [1; 700]).unwrap();
        std::fs::write(own.file(1, 3), [1; 7]).unwrap();
        assert_eq!(run.read_all_files(&own).unwrap().corrupt, 2, "a changed file and a truncated one");
    }

    #[test]
    fn interrupt_stops_the_run_and_leaves_nothing() {
        let directory = directory();
        let interrupt = Interrupt::default();
        interrupt.request();
        for sizes in [&[Bytes::new(10); 5][..], &[Bytes::mib(4)]] {
            assert_eq!(job(directory.path(), sizes, &interrupt).run(), Err(FilesError::Interrupted));
            assert!(is_empty(directory.path()));
        }
    }

    #[test]
    fn error_in_the_middle_leaves_nothing() {
        let directory = directory();
        let (sizes, interrupt) = ([Bytes::new(10); 5], Interrupt::default());
        let job = job(directory.path(), &sizes, &interrupt);
        let own = TemporaryDirectory::create(directory.path()).unwrap();
        let mut run =
            FileSetRun { job: &job, clock: Clock::start(), uncounted: Duration::ZERO, memory: memory() };
        std::fs::create_dir_all(own.file(4, 3)).unwrap();
        let failed = run.write_all_files(&own);
        assert!(matches!(failed, Err(FilesError::System { .. })), "{failed:?}");
        drop(own);
        assert!(is_empty(directory.path()));
        assert_eq!(
            FilesError::of("x", "writing", Errno::NOSPC, Bytes::ZERO),
            FilesError::Full { path: "x".to_owned(), needed: Bytes::ZERO }
        );
    }
}
