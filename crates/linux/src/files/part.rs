//! Files that are made, flushed, read back and removed; each step timed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Instant, Lba, Pattern};
use rustix::io::Errno;

use super::cold::{self, Cold, Warmth};
use super::error::FilesError;
use super::folder::OwnFolder;
use super::traffic::{self, Requests};
use crate::activity::{self, Counters};
use crate::clock::Clock;
use crate::sysfs::Node;

/// What cp writes and reads at a time.
const CHUNK: Bytes = Bytes::kib(128);
/// So often a flush is asked whether somebody wants to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// When data is sent to the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushWhen {
    /// Once, when all files are closed: `syncfs`.
    AtEnd,
    /// Behind every file as well: `fsync`.
    EachFile,
}

/// What files took.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// How many.
    pub files: u32,
    /// What they hold.
    pub bytes: Bytes,
    /// What the filesystem gave them, their folders included.
    pub allocated: Bytes,
    /// Until the last was closed.
    pub made: Duration,
    /// The flush behind that.
    pub flush: Duration,
    /// Reading them back.
    pub read: Duration,
    /// Removing them, with a flush.
    pub removed: Duration,
    /// Making each, nanoseconds.
    pub each_made_ns: Vec<u64>,
    /// Reading each, nanoseconds.
    pub each_read_ns: Vec<u64>,
    /// How reading was made cold.
    pub cold: Cold,
    /// The share of pages that was in memory all the same.
    pub warm: Option<f64>,
    /// What reached the device until the data was there.
    pub writes: Option<Requests>,
    /// What was read from it.
    pub reads: Option<Requests>,
    /// How many files did not hold what had been written to them.
    pub wrong: u32,
}

/// Files to be made.
pub struct Job<'a> {
    /// Where.
    pub parent: &'a Path,
    /// As errors name it.
    pub shown: &'a str,
    /// The size of each.
    pub sizes: &'a [Bytes],
    /// How many lie in each folder.
    pub files_per_folder: u32,
    /// When data is sent to the medium.
    pub flush: FlushWhen,
    /// What is in them.
    pub pattern: Pattern,
    /// The block device below.
    pub node: Option<&'a Node>,
    /// Whether the kernel may be asked to drop all its caches.
    pub may_drop_caches: bool,
    /// Whether somebody wants to stop.
    pub interrupt: &'a Interrupt,
}

impl Job<'_> {
    /// Does all of it. Whatever happens, the files are gone afterwards.
    pub fn run(&self) -> Result<Part, FilesError> {
        let folder = OwnFolder::make(self.parent)?;
        self.flush(folder.open())?;
        let mut run = Run { job: self, clock: Clock::start(), waits: Duration::ZERO, memory: memory() };
        let before = self.counters();
        let began = run.clock.now();
        let each_made_ns = run.make_all(&folder)?;
        let closed = run.clock.now();
        let made = closed.since(began).saturating_sub(run.waits);
        self.flush(folder.open())?;
        let flush = run.clock.now().since(closed);
        let writes = self.since(before, |counters| counters.writes);
        let allocated = folder.allocated();
        let (cold, warm) = self.cool(&folder)?;
        let before = self.counters();
        let read = run.read_all(&folder)?;
        let reads = self.since(before, |counters| counters.reads);
        let removed = run.remove(folder)?;
        Ok(Part {
            files: self.count(),
            bytes: self.bytes(),
            allocated,
            made,
            flush,
            read: read.took,
            removed,
            each_made_ns,
            each_read_ns: read.each_ns,
            cold,
            warm,
            writes,
            reads,
            wrong: read.wrong,
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

    fn since(&self, before: Option<Counters>, kind: fn(&Counters) -> activity::Requests) -> Option<Requests> {
        traffic::between(&before?, &self.counters()?, kind)
    }

    fn failed(&self, during: &'static str) -> impl Fn(std::io::Error) -> FilesError {
        move |error| FilesError::of_io(self.shown, during, &error, self.bytes())
    }

    fn stop_if_asked(&self) -> Result<(), FilesError> {
        if self.interrupt.is_requested() { Err(FilesError::Interrupted) } else { Ok(()) }
    }

    /// Each file's number, path, size, and the first block of the pattern that it holds: no two hold the same.
    fn files<'a>(&'a self, folder: &'a OwnFolder) -> impl Iterator<Item = Made> + 'a {
        let first = self.sizes.iter().scan(Lba(0), |next, size| {
            let first = *next;
            next.0 += size.get().div_ceil(512);
            Some(first)
        });
        let numbers = 0..self.count();
        let made = |((number, size), first): ((u32, &Bytes), Lba)| Made {
            number,
            path: folder.file(number, self.files_per_folder),
            size: *size,
            first,
        };
        numbers.zip(self.sizes).zip(first).map(made)
    }

    /// Waits until everything on the filesystem is on the medium. The kernel cannot be interrupted in that, so another thread waits:
    /// removing the files makes what it still has to write less.
    fn flush(&self, folder: std::io::Result<File>) -> Result<(), FilesError> {
        let folder = folder.map_err(self.failed("flushing"))?;
        let (tell, told) = mpsc::channel();
        let flush = move || tell.send(rustix::fs::syncfs(&folder));
        std::thread::Builder::new().spawn(flush).map_err(self.failed("flushing"))?;
        loop {
            match told.recv_timeout(PATIENCE) {
                Ok(flushed) => {
                    return flushed
                        .map_err(|errno| FilesError::of(self.shown, "flushing", errno, self.bytes()));
                }
                Err(RecvTimeoutError::Timeout) => self.stop_if_asked()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(FilesError::of(self.shown, "flushing", Errno::IO, self.bytes()));
                }
            }
        }
    }

    /// Makes the kernel forget all files, and counts what it still knows.
    fn cool(&self, folder: &OwnFolder) -> Result<(Cold, Option<f64>), FilesError> {
        for made in self.files(folder) {
            cold::forget(&File::open(&made.path).map_err(self.failed("opening a file again"))?);
        }
        let cold = self.drop_caches();
        let mut warmth = Warmth::default();
        for made in self.files(folder) {
            let file = File::open(&made.path).map_err(self.failed("opening a file again"))?;
            warmth.count(&file, made.size.get());
        }
        // Counting has opened every file; where the kernel drops what it knows, it forgets that too.
        self.drop_caches();
        self.stop_if_asked()?;
        Ok((cold, warmth.share()))
    }

    fn drop_caches(&self) -> Cold {
        if self.may_drop_caches { cold::drop_caches() } else { Cold::Advised }
    }
}

/// A file to be made, or made.
struct Made {
    number: u32,
    path: PathBuf,
    size: Bytes,
    first: Lba,
}

/// Files that were read back.
struct ReadBack {
    took: Duration,
    each_ns: Vec<u64>,
    wrong: u32,
}

/// A job under way.
struct Run<'a> {
    job: &'a Job<'a>,
    clock: Clock,
    /// What making and checking data took, where it does not count.
    waits: Duration,
    memory: [Buffer; 2],
}

fn memory() -> [Buffer; 2] {
    [Buffer::zeroed(CHUNK), Buffer::zeroed(CHUNK)]
}

impl Run<'_> {
    fn make_all(&mut self, folder: &OwnFolder) -> Result<Vec<u64>, FilesError> {
        let mut each = Vec::with_capacity(self.job.sizes.len());
        for made in self.job.files(folder) {
            self.job.stop_if_asked()?;
            folder
                .begin(made.number, self.job.files_per_folder)
                .map_err(self.job.failed("making a folder"))?;
            let (began, waits) = (self.clock.now(), self.waits);
            self.make(&made).map_err(self.job.failed("writing a file"))?;
            each.push(self.took(began, waits));
        }
        Ok(each)
    }

    /// Nanoseconds since `began`, without what was waited for since.
    fn took(&self, began: Instant, waits: Duration) -> u64 {
        let took = self.clock.now().since(began).saturating_sub(self.waits.saturating_sub(waits));
        u64::try_from(took.as_nanos()).unwrap_or(u64::MAX)
    }

    fn make(&mut self, made: &Made) -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&made.path)?;
        let mut done = Bytes::ZERO;
        while done < made.size {
            // One large file takes as long as many small ones, and is to be stopped as they are.
            if self.job.interrupt.is_requested() {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = CHUNK.min(made.size - done).to_usize();
            self.fill(made, done, length);
            file.write_all(&self.memory[0][..length])?;
            done += Bytes::new(length as u64);
        }
        if self.job.flush == FlushWhen::EachFile { file.sync_all() } else { Ok(()) }
    }

    /// Makes the bytes of a file from `offset` on, while the clock stands.
    fn fill(&mut self, made: &Made, offset: Bytes, length: usize) {
        let began = self.clock.now();
        let first = Lba(made.first.0 + offset.sectors().0);
        self.job.pattern.fill(first, &mut self.memory[0][..length]);
        self.waits += self.clock.now().since(began);
    }

    fn read_all(&mut self, folder: &OwnFolder) -> Result<ReadBack, FilesError> {
        self.waits = Duration::ZERO;
        let (mut each_ns, mut wrong) = (Vec::with_capacity(self.job.sizes.len()), 0);
        let started = self.clock.now();
        for made in self.job.files(folder) {
            self.job.stop_if_asked()?;
            let (began, waits) = (self.clock.now(), self.waits);
            let is_right = self.read(&made).map_err(self.job.failed("reading a file back"))?;
            each_ns.push(self.took(began, waits));
            wrong += u32::from(!is_right);
        }
        let took = self.clock.now().since(started).saturating_sub(self.waits);
        Ok(ReadBack { took, each_ns, wrong })
    }

    /// Whether the file holds what was written.
    fn read(&mut self, made: &Made) -> std::io::Result<bool> {
        let mut file = File::open(&made.path)?;
        let (mut done, mut is_right) = (Bytes::ZERO, true);
        while done < made.size {
            if self.job.interrupt.is_requested() {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = CHUNK.min(made.size - done).to_usize();
            match file.read_exact(&mut self.memory[1][..length]) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
                read => read?,
            }
            self.fill(made, done, length);
            is_right &= self.memory[0][..length] == self.memory[1][..length];
            done += Bytes::new(length as u64);
        }
        Ok(is_right)
    }

    /// Removes the folder, and waits until that is on the medium.
    fn remove(&self, folder: OwnFolder) -> Result<Duration, FilesError> {
        let began = self.clock.now();
        folder.remove().map_err(self.job.failed("removing its own files"))?;
        self.job.flush(File::open(self.job.parent))?;
        Ok(self.clock.now().since(began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(parent: &'a Path, sizes: &'a [Bytes], interrupt: &'a Interrupt) -> Job<'a> {
        Job {
            parent,
            shown: "folder",
            sizes,
            files_per_folder: 3,
            flush: FlushWhen::AtEnd,
            pattern: Pattern::new(1),
            node: None,
            may_drop_caches: false,
            interrupt,
        }
    }

    /// In memory, where nobody else's data waits for a flush.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
    }

    fn is_empty(folder: &Path) -> bool {
        std::fs::read_dir(folder).unwrap().count() == 0
    }

    #[test]
    fn files_are_made_read_back_as_they_were_and_removed() {
        let folder = folder();
        let sizes: Vec<Bytes> = [1, 511, 512, 513, 200_000, 131_072, 7].map(Bytes::new).to_vec();
        let part = job(folder.path(), &sizes, &Interrupt::default()).run().unwrap();
        assert_eq!((part.files, part.bytes, part.wrong), (7, Bytes::new(332_616), 0));
        assert_eq!((part.each_made_ns.len(), part.each_read_ns.len()), (7, 7));
        assert!(part.allocated >= part.bytes && part.writes.is_none());
        assert!(is_empty(folder.path()));
    }

    #[test]
    fn no_two_files_are_alike_and_none_holds_zeros() {
        let folder = folder();
        let (sizes, interrupt) = ([Bytes::new(700); 4], Interrupt::default());
        let job = job(folder.path(), &sizes, &interrupt);
        let own = OwnFolder::make(folder.path()).unwrap();
        let mut run = Run { job: &job, clock: Clock::start(), waits: Duration::ZERO, memory: memory() };
        run.make_all(&own).unwrap();
        let mut held: Vec<Vec<u8>> = job.files(&own).map(|made| std::fs::read(made.path).unwrap()).collect();
        assert!(held.iter().all(|bytes| bytes.iter().filter(|byte| **byte == 0).count() < 20));
        held.sort();
        held.dedup();
        assert_eq!(held.len(), 4);
        std::fs::write(own.file(2, 3), [1; 700]).unwrap();
        std::fs::write(own.file(1, 3), [1; 7]).unwrap();
        assert_eq!(run.read_all(&own).unwrap().wrong, 2, "what was changed and what was cut is found");
    }

    #[test]
    fn whoever_wants_to_stop_is_heard_and_nothing_is_left() {
        let folder = folder();
        let interrupt = Interrupt::default();
        interrupt.request();
        for sizes in [&[Bytes::new(10); 5][..], &[Bytes::mib(4)]] {
            assert_eq!(job(folder.path(), sizes, &interrupt).run(), Err(FilesError::Interrupted));
            assert!(is_empty(folder.path()));
        }
    }

    #[test]
    fn what_goes_wrong_in_the_middle_leaves_nothing() {
        let folder = folder();
        let (sizes, interrupt) = ([Bytes::new(10); 5], Interrupt::default());
        let job = job(folder.path(), &sizes, &interrupt);
        let own = OwnFolder::make(folder.path()).unwrap();
        let mut run = Run { job: &job, clock: Clock::start(), waits: Duration::ZERO, memory: memory() };
        std::fs::create_dir_all(own.file(4, 3)).unwrap();
        let failed = run.make_all(&own);
        assert!(matches!(failed, Err(FilesError::System { .. })), "{failed:?}");
        drop(own);
        assert!(is_empty(folder.path()));
        assert_eq!(
            FilesError::of("x", "writing", Errno::NOSPC, Bytes::ZERO),
            FilesError::Full { path: "x".to_owned(), needed: Bytes::ZERO }
        );
    }
}
