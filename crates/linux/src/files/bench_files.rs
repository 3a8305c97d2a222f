//! The files of the files workload: system calls in a temporary directory on the filesystem to be measured.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use flashscope_device::host::{CacheDrop, FileHost, FlushPolicy, TrafficCounters};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Instant};
use flashscope_record::activity::Counters;
use rustix::io::Errno;

use super::backing_filesystem::NonStickStorage;
use super::bench_directory::BenchDirectory;
use super::error::FilesError;
use super::page_cache::{self, CachedShare};
use super::temporary_directory::TemporaryDirectory;
use crate::clock::Clock;

/// How often a waiting flush checks for an interrupt.
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

/// Files in a temporary directory inside a [`BenchDirectory`]. Dropping it removes them.
#[derive(Debug)]
pub struct BenchFiles<'a> {
    parent: &'a BenchDirectory,
    clock: Clock,
    directory: Option<TemporaryDirectory>,
    files_per_directory: u32,
    /// Bytes to be written, for error messages.
    needed: Bytes,
    file: Option<File>,
}

impl BenchDirectory {
    /// The files to be measured there. Nothing is created yet.
    #[must_use]
    pub fn files(&self) -> BenchFiles<'_> {
        BenchFiles {
            parent: self,
            clock: Clock::start(),
            directory: None,
            files_per_directory: 1,
            needed: Bytes::ZERO,
            file: None,
        }
    }
}

impl BenchFiles<'_> {
    /// Leaves the files where they are when this is dropped.
    pub(crate) fn keep(&mut self) {
        self.file = None;
        if let Some(directory) = self.directory.take() {
            directory.keep();
        }
    }

    fn failed(&self, during: &'static str) -> impl Fn(std::io::Error) -> FilesError {
        move |error| FilesError::of_io(self.parent.display_path(), during, &error, self.needed)
    }

    fn errno(&self, during: &'static str, errno: Errno) -> FilesError {
        FilesError::of(self.parent.display_path(), during, errno, self.needed)
    }

    fn directory(&self, during: &'static str) -> Result<&TemporaryDirectory, FilesError> {
        self.directory.as_ref().ok_or_else(|| self.errno(during, Errno::BADF))
    }

    /// The open file, and its error for the action `during`.
    fn open_file(&mut self, during: &'static str) -> Result<&mut File, FilesError> {
        let closed = self.errno(during, Errno::BADF);
        self.file.as_mut().ok_or(closed)
    }

    fn drop_caches(&self) -> CacheDrop {
        let is_in_memory = self.parent.backing_filesystem().non_stick.contains(&NonStickStorage::Memory);
        if is_in_memory { CacheDrop::Advised } else { page_cache::drop_caches() }
    }
}

impl FileHost for BenchFiles<'_> {
    type Error = FilesError;

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn create_directory(&mut self, files_per_directory: u32, needed: Bytes) -> Result<(), FilesError> {
        (self.files_per_directory, self.needed) = (files_per_directory, needed);
        self.directory = Some(TemporaryDirectory::create(self.parent.path())?);
        Ok(())
    }

    fn create_subdirectory(&mut self, number: u32) -> Result<(), FilesError> {
        const DURING: &str = "creating a directory";
        let directory = self.directory(DURING)?;
        directory.create_subdirectory_for(number, self.files_per_directory).map_err(self.failed(DURING))
    }

    fn create(&mut self, number: u32) -> Result<(), FilesError> {
        const DURING: &str = "writing a file";
        let path = self.directory(DURING)?.file(number, self.files_per_directory);
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        self.file = Some(created.map_err(self.failed(DURING))?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), FilesError> {
        const DURING: &str = "writing a file";
        let written = self.open_file(DURING)?.write_all(bytes);
        written.map_err(self.failed(DURING))
    }

    fn close(&mut self, flush: FlushPolicy) -> Result<(), FilesError> {
        const DURING: &str = "writing a file";
        let synced = match flush {
            FlushPolicy::EachFile => self.open_file(DURING)?.sync_all(),
            FlushPolicy::AtEnd => Ok(()),
        };
        synced.map_err(self.failed(DURING))?;
        self.file = None;
        Ok(())
    }

    fn open(&mut self, number: u32) -> Result<(), FilesError> {
        const DURING: &str = "reading a file back";
        let path = self.directory(DURING)?.file(number, self.files_per_directory);
        self.file = Some(File::open(path).map_err(self.failed(DURING))?);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, FilesError> {
        const DURING: &str = "reading a file back";
        match self.open_file(DURING)?.read_exact(buffer) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| true).map_err(self.failed(DURING)),
        }
    }

    /// The system call cannot be interrupted, so another thread waits for it. After an interrupt, removing
    /// the files reduces what is left to write.
    fn flush_filesystem(&mut self, interrupt: &Interrupt) -> Result<bool, FilesError> {
        const DURING: &str = "flushing";
        let directory = File::open(self.parent.path()).map_err(self.failed(DURING))?;
        let (sender, receiver) = mpsc::channel();
        let flush = move || sender.send(rustix::fs::syncfs(&directory));
        std::thread::Builder::new().spawn(flush).map_err(self.failed(DURING))?;
        loop {
            match receiver.recv_timeout(INTERRUPT_POLL) {
                Ok(flushed) => return flushed.map(|()| true).map_err(|errno| self.errno(DURING, errno)),
                Err(RecvTimeoutError::Timeout) if interrupt.is_requested() => return Ok(false),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.errno(DURING, Errno::IO)),
            }
        }
    }

    fn allocated(&self) -> Bytes {
        self.directory.as_ref().map_or(Bytes::ZERO, TemporaryDirectory::allocated)
    }

    fn drop_page_cache(&mut self, count: u32) -> Result<(CacheDrop, Option<f64>), FilesError> {
        const DURING: &str = "reopening a file";
        let directory = self.directory(DURING)?;
        let open = |number| {
            File::open(directory.file(number, self.files_per_directory)).map_err(self.failed(DURING))
        };
        for number in 0..count {
            page_cache::drop_file(&open(number)?);
        }
        let cache_drop = self.drop_caches();
        let mut cached = CachedShare::default();
        for number in 0..count {
            let file = open(number)?;
            let length = file.metadata().map_err(self.failed(DURING))?.len();
            cached.add(&file, length);
        }
        // Checking opened every file, which cached directories and tables again.
        self.drop_caches();
        Ok((cache_drop, cached.share()))
    }

    fn traffic(&self) -> Option<TrafficCounters> {
        self.parent
            .node()
            .and_then(|node| Counters::parse(&node.text("stat")?))
            .map(|counters| traffic(&counters))
    }

    fn remove_all(&mut self) -> Result<(), FilesError> {
        self.file = None;
        let removed = self.directory.take().map_or(Ok(()), TemporaryDirectory::remove);
        removed.map_err(self.failed("removing its own files"))
    }
}

const fn traffic(counters: &Counters) -> TrafficCounters {
    TrafficCounters {
        writes: counters.writes.requests,
        bytes_written: counters.writes.bytes,
        reads: counters.reads.requests,
        bytes_read: counters.reads.bytes,
        busy: Duration::from_millis(counters.busy_ms),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let mut files = parent.files();
        files.create_directory(3, Bytes::ZERO).unwrap();
        for number in 0..7 {
            files.create_subdirectory(number).unwrap();
            files.create(number).unwrap();
            files.write(&[7; 300]).unwrap();
            files.write(&[8; 5]).unwrap();
            files.close(if number == 0 { FlushPolicy::EachFile } else { FlushPolicy::AtEnd }).unwrap();
        }
        assert!(files.flush_filesystem(&Interrupt::default()).unwrap());
        assert!(files.allocated() >= Bytes::new(7 * 305));
        let (cache_drop, cached) = files.drop_page_cache(7).unwrap();
        assert!(cache_drop == CacheDrop::Advised || cached.is_some(), "in memory nothing is dropped");
        files.open(6).unwrap();
        let mut found = [0; 305];
        assert!(files.read(&mut found).unwrap());
        assert!(found[..300] == [7; 300] && found[300..] == [8; 5]);
        assert!(!files.read(&mut found).unwrap(), "the file has ended");
        files.remove_all().unwrap();
        assert!(is_empty(directory.path()));
    }

    #[test]
    fn error_names_the_action_and_dropping_leaves_nothing() {
        let directory = directory();
        let parent = BenchDirectory::open(directory.path()).unwrap();
        let mut files = parent.files();
        assert!(matches!(files.create(0), Err(FilesError::System { .. })), "no directory yet");
        files.create_directory(3, Bytes::ZERO).unwrap();
        let failed = files.create(4).unwrap_err().to_string();
        assert!(failed.contains("writing a file"), "no subdirectory: {failed}");
        files.create_subdirectory(3).unwrap();
        files.create(4).unwrap();
        drop(files);
        assert!(is_empty(directory.path()));
        assert_eq!(
            FilesError::of("x", "writing", Errno::NOSPC, Bytes::ZERO),
            FilesError::Full { path: "x".to_owned(), needed: Bytes::ZERO }
        );
    }

    #[test]
    fn kernel_counters_give_the_traffic() {
        let counters = Counters::parse("100 5 800 10 200 6 1600 20 0 3000 30").unwrap();
        let expected = TrafficCounters {
            writes: 200,
            bytes_written: Bytes::kib(800),
            reads: 100,
            bytes_read: Bytes::kib(400),
            busy: Duration::from_secs(3),
        };
        assert_eq!(traffic(&counters), expected);
    }
}
