//! The workload against a filesystem in memory, in virtual time.

use std::collections::BTreeMap;

use flashscope_device::Instant;
use flashscope_device::host::TrafficCounters;
use flashscope_record::observation::FlushTime;

use super::*;

/// A filesystem that takes a fixed time for each file, and writes and reads with a fixed throughput.
struct Fake {
    now: Instant,
    each: Duration,
    mb_s: f64,
    files: BTreeMap<u32, Vec<u8>>,
    has_directory: bool,
    current: u32,
    position: usize,
    dirty: Bytes,
    counters: TrafficCounters,
    /// Every file ever written, to compare their contents.
    history: Vec<Vec<u8>>,
    corrupts: Option<u32>,
    truncates: Option<u32>,
    fails_at_file: Option<u32>,
    interrupts_at_file: Option<(u32, Interrupt)>,
}

impl Fake {
    fn new(each: Duration, mb_s: f64) -> Self {
        Self {
            now: Instant::ZERO,
            each,
            mb_s,
            files: BTreeMap::new(),
            has_directory: false,
            current: 0,
            position: 0,
            dirty: Bytes::ZERO,
            counters: TrafficCounters::default(),
            history: Vec::new(),
            corrupts: None,
            truncates: None,
            fails_at_file: None,
            interrupts_at_file: None,
        }
    }

    fn transfer(&mut self, bytes: Bytes) {
        let duration = Duration::from_secs_f64(bytes.as_f64() / (self.mb_s * 1e6));
        self.now += duration;
        self.counters.busy += duration;
    }
}

impl FileHost for Fake {
    type Error = &'static str;

    fn now(&self) -> Instant {
        self.now
    }

    fn create_directory(&mut self, files_per_directory: u32, _needed: Bytes) -> Result<(), Self::Error> {
        assert!(!self.has_directory && files_per_directory > 0);
        self.has_directory = true;
        Ok(())
    }

    fn create_subdirectory(&mut self, _number: u32) -> Result<(), Self::Error> {
        Ok(())
    }

    fn create(&mut self, number: u32) -> Result<(), Self::Error> {
        if self.fails_at_file == Some(number) {
            return Err("unplugged");
        }
        if let Some((_, interrupt)) = self.interrupts_at_file.as_ref().filter(|(at, _)| *at == number) {
            interrupt.request();
        }
        self.now += self.each;
        self.current = number;
        assert!(self.files.insert(number, Vec::new()).is_none());
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.dirty += Bytes::new(bytes.len() as u64);
        self.files.entry(self.current).or_default().extend_from_slice(bytes);
        Ok(())
    }

    fn close(&mut self, flush: FlushPolicy) -> Result<(), Self::Error> {
        if flush == FlushPolicy::EachFile {
            self.flush_filesystem(&Interrupt::default())?;
        }
        Ok(())
    }

    fn open(&mut self, number: u32) -> Result<(), Self::Error> {
        (self.current, self.position) = (number, 0);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Self::Error> {
        let length = Bytes::new(buffer.len() as u64);
        self.counters.reads += 1;
        self.counters.bytes_read += length;
        self.transfer(length);
        let file = &self.files[&self.current];
        let Some(found) = file.get(self.position..self.position + buffer.len()) else { return Ok(false) };
        buffer.copy_from_slice(found);
        self.position += buffer.len();
        Ok(true)
    }

    fn flush_filesystem(&mut self, interrupt: &Interrupt) -> Result<bool, Self::Error> {
        let dirty = std::mem::take(&mut self.dirty);
        self.counters.writes += u64::from(!dirty.is_zero());
        self.counters.bytes_written += dirty;
        self.transfer(dirty);
        Ok(!interrupt.is_requested())
    }

    fn allocated(&self) -> Bytes {
        self.files.values().map(|file| Bytes::new(file.len() as u64).round_up(Bytes::kib(4))).sum()
    }

    fn drop_page_cache(&mut self, count: u32) -> Result<(CacheDrop, Option<f64>), Self::Error> {
        assert_eq!(count as usize, self.files.len());
        self.history.extend(self.files.values().cloned());
        if let Some(file) = self.corrupts.and_then(|number| self.files.get_mut(&number)) {
            file[0] ^= 1;
        }
        if let Some(file) = self.truncates.and_then(|number| self.files.get_mut(&number)) {
            file.pop();
        }
        Ok((CacheDrop::Dropped, Some(0.0)))
    }

    fn traffic(&self) -> Option<TrafficCounters> {
        Some(self.counters)
    }

    fn remove_all(&mut self) -> Result<(), Self::Error> {
        self.files.clear();
        self.has_directory = false;
        Ok(())
    }
}

fn workload(sizes: Vec<Bytes>, rounds: Option<u32>) -> FilesWorkload {
    FilesWorkload {
        sizes,
        files_per_directory: 3,
        flush: FlushPolicy::AtEnd,
        seed: 5,
        rounds,
        time_budget: Duration::from_secs(600),
        may_reduce_count: true,
    }
}

fn data() -> FilesData {
    FilesData {
        profile: "test".to_owned(),
        flush: FlushTime::AtEnd,
        cluster: Bytes::kib(4),
        filesystem: "fake".to_owned(),
        cold: ColdBy::Advice,
        instead: Vec::new(),
        link: None,
        rounds: Vec::new(),
    }
}

type Measured = (Result<(), Stopped<&'static str>>, FilesData, Vec<String>);

fn measured(fake: &mut Fake, workload: &FilesWorkload) -> Measured {
    let (mut data, mut events) = (data(), Vec::new());
    let mut note = |event: FilesEvent<'_>| events.push(format!("{event:?}"));
    let ended = workload.measure(fake, &mut data, &Interrupt::default(), &mut note);
    (ended, data, events)
}

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[test]
fn phases_take_the_time_of_the_filesystem() {
    let sizes = vec![Bytes::new(250_000); 8];
    let mut fake = Fake::new(milliseconds(10), 10.0);
    let (ended, data, _) = measured(&mut fake, &workload(sizes, Some(1)));
    assert_eq!((ended, data.cold), (Ok(()), ColdBy::Drop));
    let FilesRound { small, large } = &data.rounds[0];
    let times = |part: &FilesPart| [part.made_s, part.flush_s, part.read_s].map(|s| (s * 1e3).round());
    assert_eq!(times(small), [80.0, 200.0, 200.0], "8 files of 10 ms, and 2 MB at 10 MB/s");
    assert_eq!(times(large), [10.0, 200.0, 200.0]);
    assert_eq!(small.each_made_ns, [10_000_000; 8]);
    assert_eq!((small.files, small.bytes, large.files), (8, Bytes::new(2_000_000), 1));
    assert_eq!((small.wrong, small.warm, small.allocated), (0, Some(0.0), Bytes::new(8 * 253_952)));
    let (writes, reads) = (small.writes.unwrap(), small.reads.unwrap());
    assert_eq!((writes.bytes, writes.requests, reads.requests), (small.bytes, 1, 16));
    assert!((writes.busy_s - 0.2).abs() < 1e-6);
    assert!(fake.files.is_empty() && !fake.has_directory);
}

#[test]
fn flush_after_each_file_is_part_of_its_time() {
    let workload =
        FilesWorkload { flush: FlushPolicy::EachFile, ..workload(vec![Bytes::new(100_000); 4], Some(1)) };
    let (_, data, _) = measured(&mut Fake::new(milliseconds(10), 10.0), &workload);
    assert_eq!(data.rounds[0].small.each_made_ns, [20_000_000; 4]);
    assert!(data.rounds[0].small.flush_s < 1e-9);
}

#[test]
fn no_two_files_hold_the_same_data() {
    let mut fake = Fake::new(milliseconds(1), 100.0);
    measured(&mut fake, &workload(vec![Bytes::new(700); 4], Some(2))).0.unwrap();
    let mut files = fake.history;
    assert!(files.iter().all(|file| file.iter().filter(|byte| **byte == 0).count() < file.len() / 20));
    files.sort();
    files.dedup();
    assert_eq!(files.len(), 10, "two rounds of four small files and a large one");
}

#[test]
fn corrupt_and_truncated_files_are_counted() {
    let mut fake = Fake { corrupts: Some(1), truncates: Some(2), ..Fake::new(milliseconds(1), 100.0) };
    let (_, data, _) = measured(&mut fake, &workload(vec![Bytes::new(200_000); 4], Some(1)));
    assert_eq!((data.rounds[0].small.wrong, data.rounds[0].large.wrong), (2, 0));
}

#[test]
fn rounds_end_when_they_agree() {
    let (ended, data, _) =
        measured(&mut Fake::new(milliseconds(2), 50.0), &workload(vec![Bytes::kib(8); 40], None));
    assert_eq!((ended, data.rounds.len()), (Ok(()), ROUNDS_MIN as usize));
}

#[test]
fn pilots_reduce_the_number_of_files_on_a_slow_stick() {
    let slow = FilesWorkload {
        time_budget: Duration::from_secs(30),
        ..workload(vec![Bytes::kib(4); 1000], Some(1))
    };
    let (ended, data, events) = measured(&mut Fake::new(milliseconds(100), 10.0), &slow);
    assert_eq!(ended, Ok(()));
    let files = data.rounds[0].small.files;
    assert!((290..=300).contains(&files), "{files} files of 100 ms in 30 s");
    assert!(events[0].contains("Pilot { files: 128") && events[1].contains("CountReduced"), "{events:?}");
    let expected = events[0].split_once("expected_s: ").unwrap().1.trim_end_matches(" }");
    let expected: f64 = expected.parse().unwrap();
    assert!((expected - 100.8).abs() < 0.1, "{expected} s for 1000 files of 100.8 ms");
    let fixed = FilesWorkload { may_reduce_count: false, ..slow };
    let (_, data, _) = measured(&mut Fake::new(milliseconds(100), 10.0), &fixed);
    assert_eq!(data.rounds[0].small.files, 1000);
}

#[test]
fn round_that_exceeds_the_time_budget_is_not_started() {
    let workload =
        FilesWorkload { time_budget: Duration::from_secs(5), ..workload(vec![Bytes::kib(4); 20], Some(9)) };
    let (ended, data, events) = measured(&mut Fake::new(milliseconds(100), 10.0), &workload);
    assert_eq!((ended, data.rounds.len()), (Ok(()), 2), "a round takes 2.1 s");
    assert_eq!(events.last().unwrap(), "BudgetSpent { rounds: 2, rounds_max: 9 }");
}

#[test]
fn interrupt_and_failure_leave_no_file_and_keep_complete_rounds() {
    let interrupt = Interrupt::default();
    for sizes in [vec![Bytes::new(10); 5], vec![Bytes::mib(4); 1]] {
        let at = sizes.len() as u32 - 1;
        let mut fake = Fake::new(milliseconds(1), 10.0);
        fake.interrupts_at_file = Some((at, interrupt.clone()));
        let (workload, mut data) = (workload(sizes, Some(1)), data());
        let ended = workload.measure(&mut fake, &mut data, &interrupt, &mut |_| {});
        assert_eq!(ended, Err(Stopped::Interrupted));
        assert!(fake.files.is_empty() && !fake.has_directory && data.rounds.is_empty());
    }
    let mut fake = Fake { fails_at_file: Some(3), ..Fake::new(milliseconds(1), 10.0) };
    let (ended, data, _) = measured(&mut fake, &workload(vec![Bytes::new(10); 5], Some(1)));
    assert_eq!((ended, data.rounds.len()), (Err(Stopped::Host("unplugged")), 0));
    assert!(fake.files.is_empty() && !fake.has_directory);
}

#[test]
fn two_pilots_separate_the_time_per_file_from_the_flush() {
    let pilot = |files, seconds| Pilot { files, seconds };
    let rate = |pilots: &[Pilot]| (Pilot::rate(pilots) * 1e3).round();
    assert!((rate(&[pilot(32, 3.2)]) - 100.0).abs() < 1.0);
    assert!((rate(&[pilot(32, 3.2), pilot(128, 5.12)]) - 20.0).abs() < 1.0);
    // After a stall in either pilot, the mean of the second one is the best estimate.
    assert!((rate(&[pilot(32, 6.0), pilot(128, 5.12)]) - 40.0).abs() < 1.0);
    assert!((rate(&[pilot(32, 0.1), pilot(128, 12.8)]) - 100.0).abs() < 1.0);
}
