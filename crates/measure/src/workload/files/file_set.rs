//! One set of files: written, flushed, read back and removed, each phase timed.

use std::time::Duration;

use flashscope_device::host::{CacheDrop, FileHost, FlushPolicy, TrafficCounters};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Buffer, Bytes, Instant, Lba, Pattern};
use flashscope_record::observation::{FilesPart, Traffic};

use crate::workload::{Stopped, positive_seconds};

/// The size of each write and read; cp uses the same.
const CHUNK: Bytes = Bytes::kib(128);

/// A set of files to be measured.
#[derive(Debug, Clone, Copy)]
pub struct FileSet<'a> {
    /// The size of each file.
    pub sizes: &'a [Bytes],
    /// The number of files in each subdirectory.
    pub files_per_directory: u32,
    /// When data is flushed to the medium.
    pub flush: FlushPolicy,
    /// The contents.
    pub pattern: Pattern,
}

/// A file of the set.
#[derive(Debug, Clone, Copy)]
struct PlannedFile {
    number: u32,
    size: Bytes,
    /// The first block of the pattern that it holds. No two files hold the same data.
    first: Lba,
}

impl FileSet<'_> {
    /// Runs all phases. Returns the times, and how the page cache was dropped before reading.
    pub fn measure<H: FileHost>(
        &self,
        host: &mut H,
        interrupt: &Interrupt,
    ) -> Result<(FilesPart, CacheDrop), Stopped<H::Error>> {
        host.create_directory(self.files_per_directory, self.bytes())?;
        let measured = Run::new(self, host, interrupt).all();
        Self::or_remove(host, measured)
    }

    /// Runs all phases but the last: the files stay. After an error they are removed.
    pub fn write_and_read<H: FileHost>(
        &self,
        host: &mut H,
        interrupt: &Interrupt,
    ) -> Result<(FilesPart, CacheDrop), Stopped<H::Error>> {
        host.create_directory(self.files_per_directory, self.bytes())?;
        let measured = Run::new(self, host, interrupt).write_and_read();
        Self::or_remove(host, measured)
    }

    /// Removes the files after an error.
    fn or_remove<H: FileHost, T>(
        host: &mut H,
        measured: Result<T, Stopped<H::Error>>,
    ) -> Result<T, Stopped<H::Error>> {
        if measured.is_err() {
            // The first error counts; the host removes the directory at the latest when it is dropped.
            drop(host.remove_all());
        }
        measured
    }

    /// The number of files.
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> Bytes {
        self.sizes.iter().fold(Bytes::ZERO, |sum, size| sum + *size)
    }

    fn files(&self) -> impl Iterator<Item = PlannedFile> + '_ {
        let first = self.sizes.iter().scan(Lba(0), |next, size| {
            let first = *next;
            next.0 += size.get().div_ceil(512);
            Some(first)
        });
        let numbers = 0..self.count();
        let planned =
            |((number, size), first): ((u32, &Bytes), Lba)| PlannedFile { number, size: *size, first };
        numbers.zip(self.sizes).zip(first).map(planned)
    }
}

/// The time of a phase, and of each file in it.
#[derive(Debug)]
struct Phase {
    elapsed: Duration,
    each_ns: Vec<u64>,
}

/// A running measurement.
struct Run<'a, H> {
    set: &'a FileSet<'a>,
    host: &'a mut H,
    interrupt: &'a Interrupt,
    /// Time spent generating and checking data, which does not count.
    uncounted: Duration,
    expected: Buffer,
    found: Buffer,
    corrupt: u32,
}

impl<'a, H: FileHost> Run<'a, H> {
    fn new(set: &'a FileSet<'a>, host: &'a mut H, interrupt: &'a Interrupt) -> Self {
        let (expected, found) = (Buffer::zeroed(CHUNK), Buffer::zeroed(CHUNK));
        Self { set, host, interrupt, uncounted: Duration::ZERO, expected, found, corrupt: 0 }
    }

    fn all(&mut self) -> Result<(FilesPart, CacheDrop), Stopped<H::Error>> {
        let (mut part, cache_drop) = self.write_and_read()?;
        part.removed_s = self.remove()?.as_secs_f64();
        Ok((part, cache_drop))
    }

    fn write_and_read(&mut self) -> Result<(FilesPart, CacheDrop), Stopped<H::Error>> {
        self.flush()?;
        let before = self.host.traffic();
        let written = self.write_all()?;
        let closed = self.host.now();
        self.flush()?;
        let flush = self.host.now().since(closed);
        let writes =
            traffic(before, self.host.traffic(), |counters| (counters.writes, counters.bytes_written));
        let allocated = self.host.allocated();
        let (cache_drop, cached_share) = self.host.drop_page_cache(self.set.count())?;
        self.check_interrupt()?;
        let before = self.host.traffic();
        let read = self.read_all()?;
        let reads = traffic(before, self.host.traffic(), |counters| (counters.reads, counters.bytes_read));
        let part = FilesPart {
            files: self.set.count(),
            bytes: self.set.bytes(),
            allocated,
            made_s: positive_seconds(written.elapsed),
            flush_s: flush.as_secs_f64(),
            read_s: positive_seconds(read.elapsed),
            removed_s: 0.0,
            each_made_ns: written.each_ns,
            each_read_ns: read.each_ns,
            warm: cached_share,
            wrong: self.corrupt,
            writes,
            reads,
        };
        Ok((part, cache_drop))
    }

    fn write_all(&mut self) -> Result<Phase, Stopped<H::Error>> {
        let mut each_ns = Vec::with_capacity(self.set.sizes.len());
        let phase_started = self.start_phase();
        for file in self.set.files() {
            self.check_interrupt()?;
            self.host.create_subdirectory(file.number)?;
            let (started, uncounted) = (self.host.now(), self.uncounted);
            self.write_file(file)?;
            each_ns.push(self.elapsed_ns(started, uncounted));
        }
        Ok(self.end_phase(phase_started, each_ns))
    }

    fn read_all(&mut self) -> Result<Phase, Stopped<H::Error>> {
        let mut each_ns = Vec::with_capacity(self.set.sizes.len());
        let phase_started = self.start_phase();
        for file in self.set.files() {
            self.check_interrupt()?;
            let (started, uncounted) = (self.host.now(), self.uncounted);
            self.corrupt += u32::from(!self.read_file(file)?);
            each_ns.push(self.elapsed_ns(started, uncounted));
        }
        Ok(self.end_phase(phase_started, each_ns))
    }

    fn start_phase(&mut self) -> Instant {
        self.uncounted = Duration::ZERO;
        self.host.now()
    }

    fn end_phase(&self, started: Instant, each_ns: Vec<u64>) -> Phase {
        Phase { elapsed: self.host.now().since(started).saturating_sub(self.uncounted), each_ns }
    }

    /// Nanoseconds since `started`, without the uncounted time since then.
    fn elapsed_ns(&self, started: Instant, uncounted: Duration) -> u64 {
        let uncounted = self.uncounted.saturating_sub(uncounted);
        let elapsed = self.host.now().since(started).saturating_sub(uncounted);
        u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
    }

    fn write_file(&mut self, file: PlannedFile) -> Result<(), Stopped<H::Error>> {
        self.host.create(file.number)?;
        let mut done = Bytes::ZERO;
        while done < file.size {
            // A single large file takes as long as many small ones, so it can be interrupted in between.
            self.check_interrupt()?;
            let length = CHUNK.min(file.size - done);
            self.generate(file, done, length);
            self.host.write(&self.expected[..length.to_usize()])?;
            done += length;
        }
        self.host.close(self.set.flush)?;
        Ok(())
    }

    /// Whether the file holds what was written.
    fn read_file(&mut self, file: PlannedFile) -> Result<bool, Stopped<H::Error>> {
        self.host.open(file.number)?;
        let (mut done, mut is_correct) = (Bytes::ZERO, true);
        while done < file.size {
            self.check_interrupt()?;
            let length = CHUNK.min(file.size - done);
            if !self.host.read(&mut self.found[..length.to_usize()])? {
                return Ok(false);
            }
            self.generate(file, done, length);
            is_correct &= self.expected[..length.to_usize()] == self.found[..length.to_usize()];
            done += length;
        }
        Ok(is_correct)
    }

    /// Generates the contents of a file from `offset` on, in uncounted time.
    fn generate(&mut self, file: PlannedFile, offset: Bytes, length: Bytes) {
        let started = self.host.now();
        let first = Lba(file.first.0 + offset.sectors().0);
        self.set.pattern.fill(first, &mut self.expected[..length.to_usize()]);
        self.uncounted += self.host.now().since(started);
    }

    /// Removes the files and flushes the removal.
    fn remove(&mut self) -> Result<Duration, Stopped<H::Error>> {
        let started = self.host.now();
        self.host.remove_all()?;
        self.flush()?;
        Ok(self.host.now().since(started))
    }

    fn flush(&mut self) -> Result<(), Stopped<H::Error>> {
        if self.host.flush_filesystem(self.interrupt)? { Ok(()) } else { Err(Stopped::Interrupted) }
    }

    fn check_interrupt(&self) -> Result<(), Stopped<H::Error>> {
        if self.interrupt.is_requested() { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}

/// The traffic between two readings. `None` if the counters are missing, or decreased: they belong to
/// another device.
fn traffic(
    before: Option<TrafficCounters>,
    after: Option<TrafficCounters>,
    kind: fn(&TrafficCounters) -> (u64, Bytes),
) -> Option<Traffic> {
    let (before, after) = (before?, after?);
    let (first, last) = (kind(&before), kind(&after));
    Some(Traffic {
        requests: last.0.checked_sub(first.0)?,
        bytes: Bytes::new(last.1.get().checked_sub(first.1.get())?),
        busy_s: after.busy.checked_sub(before.busy)?.as_secs_f64(),
    })
}
