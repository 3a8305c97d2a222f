//! The workload against a stick behind a page cache, in virtual time.

use flashscope_device::host::{ByteSource, WriteMode};
use flashscope_device::{Instant, Pattern};

use super::*;

/// A stick that writes `stick_mb_s`, behind a page cache that takes `memory_mb_s`.
struct Fake {
    now: Instant,
    stick_mb_s: f64,
    memory_mb_s: f64,
    space: Bytes,
    refuses_direct: bool,
    mode: WriteMode,
    dirty: Bytes,
    contents: Vec<u8>,
    prepared: usize,
    fails_after: Option<u64>,
}

impl Fake {
    fn new(stick_mb_s: f64) -> Self {
        Self {
            now: Instant::ZERO,
            stick_mb_s,
            memory_mb_s: 1000.0,
            space: Bytes::gib(1),
            refuses_direct: false,
            mode: WriteMode::Buffered,
            dirty: Bytes::ZERO,
            contents: Vec::new(),
            prepared: 0,
            fails_after: None,
        }
    }

    fn spend(&mut self, bytes: Bytes, mb_s: f64) {
        self.now += Duration::from_secs_f64(bytes.as_f64() / (mb_s * 1e6));
    }
}

impl WriteHost for Fake {
    type Error = &'static str;

    fn now(&self) -> Instant {
        self.now
    }

    fn space(&mut self) -> Result<Bytes, Self::Error> {
        Ok(self.space)
    }

    fn prepare(&mut self, bytes: Bytes) -> Result<(), Self::Error> {
        assert!(self.dirty.is_zero(), "each method ends with a flush");
        self.contents.clear();
        self.prepared += 1;
        if bytes > self.space { Err("full") } else { Ok(()) }
    }

    fn open(&mut self, mode: WriteMode, _source: Option<ByteSource>) -> Result<bool, Self::Error> {
        self.mode = mode;
        Ok(!(self.refuses_direct && mode == WriteMode::Direct))
    }

    fn generate(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        buffer.fill(0);
        self.spend(Bytes::new(buffer.len() as u64), 500.0);
        Ok(())
    }

    fn write(&mut self, offset: Bytes, bytes: &[u8]) -> Result<bool, Self::Error> {
        assert_eq!(offset.to_usize(), self.contents.len(), "sequential");
        if let Some(left) = &mut self.fails_after {
            *left = left.checked_sub(1).ok_or("unplugged")?;
        }
        self.contents.extend_from_slice(bytes);
        let length = Bytes::new(bytes.len() as u64);
        if self.mode == WriteMode::Buffered {
            self.dirty += length;
            self.spend(length, self.memory_mb_s);
        } else {
            self.spend(length, self.stick_mb_s);
        }
        Ok(true)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        let dirty = std::mem::take(&mut self.dirty);
        self.spend(dirty, self.stick_mb_s);
        Ok(())
    }
}

fn settings(size: Option<Bytes>, rounds: Option<u32>) -> WriteMethods {
    WriteMethods { size, rounds, time_budget: Duration::from_secs(3600) }
}

fn measured(fake: &mut Fake, settings: WriteMethods) -> (MethodsMeasured<&'static str>, Vec<MethodsEvent>) {
    let mut events = Vec::new();
    let measured = settings.measure(fake, &Interrupt::default(), &mut |event| events.push(event));
    (measured, events)
}

#[test]
fn reported_and_durable_throughput_are_those_of_cache_and_stick() {
    let mut fake = Fake::new(10.0);
    let (measured, _) = measured(&mut fake, settings(Some(Bytes::mib(16)), Some(1)));
    assert_eq!((measured.ended, measured.rounds, measured.pilot), (Ok(()), 1, None));
    let speeds = |method: WriteMethod| {
        let timing = measured.timings.iter().find(|timing| timing.method == method).unwrap();
        [timing.reported(), timing.durable()].map(|speed| (speed / 1e5).round() / 10.0)
    };
    assert_eq!(speeds(WriteMethod::FlushAtEnd), [9.9, 9.9], "10 MB/s, and 1 % for the page cache");
    assert_eq!(speeds(WriteMethod::FlushEach), [10.0, 10.0]);
    assert_eq!(speeds(WriteMethod::Direct), [10.0, 10.0]);
    // Generating takes twice as long as the page cache: 1 / (1 / 1000 + 1 / 500) MB/s.
    assert_eq!(speeds(WriteMethod::Zeros), [333.3, 9.7]);
    let zeros = measured.timings.iter().find(|timing| timing.method == WriteMethod::Zeros).unwrap();
    assert!((zeros.source().unwrap() / 1e6 - 500.0).abs() < 1.0);
    let direct = measured.timings.iter().find(|timing| timing.method == WriteMethod::Direct).unwrap();
    assert_eq!((direct.source_s, direct.bytes), (None, Bytes::mib(16)));
}

#[test]
fn every_method_writes_all_bytes_sequentially() {
    let mut fake = Fake::new(10.0);
    let bytes = Bytes::mib(2) + Bytes::new(4096);
    for method in METHODS {
        write(&mut fake, method, bytes, &Interrupt::default()).unwrap().unwrap();
        assert_eq!(fake.contents.len() as u64, bytes.get());
        let is_pattern = Pattern::new(1).check(Bytes::ZERO.sectors(), &fake.contents).is_right();
        assert_eq!(is_pattern, !matches!(method, WriteMethod::Zeros | WriteMethod::Random), "{method:?}");
    }
}

#[test]
fn each_round_starts_with_another_method() {
    let mut fake = Fake::new(10.0);
    let (measured, events) = measured(&mut fake, settings(Some(Bytes::mib(1)), Some(3)));
    let first: Vec<WriteMethod> = measured.timings.iter().step_by(5).map(|timing| timing.method).collect();
    assert_eq!(first, [WriteMethod::Zeros, WriteMethod::Random, WriteMethod::FlushAtEnd]);
    assert_eq!(events.iter().filter(|event| matches!(event, MethodsEvent::Round(_))).count(), 3);
    assert_eq!((fake.prepared, measured.rounds), (15, 3));
}

#[test]
fn agreeing_rounds_end_the_measurement() {
    let (measured, events) = measured(&mut Fake::new(50.0), settings(None, None));
    assert_eq!((measured.rounds, measured.ended), (5, Ok(())));
    let is_reduced = |event: &MethodsEvent| matches!(event, MethodsEvent::SizeReduced { .. });
    assert!(!events.iter().any(is_reduced), "{events:?}");
}

#[test]
fn refused_method_is_left_out_and_reported_once() {
    let mut fake = Fake { refuses_direct: true, ..Fake::new(10.0) };
    let (measured, events) = measured(&mut fake, settings(Some(Bytes::mib(1)), Some(2)));
    assert_eq!(measured.timings.len(), 8);
    assert_eq!(
        events.iter().filter(|event| **event == MethodsEvent::Refused(WriteMethod::Direct)).count(),
        1
    );
}

#[test]
fn slow_stick_writes_less_and_time_budget_ends_the_rounds() {
    let settings = WriteMethods { size: None, rounds: None, time_budget: Duration::from_secs(60) };
    let (measured, events) = measured(&mut Fake::new(1.0), settings);
    assert!(measured.pilot.is_some_and(|pilot| pilot.bytes == SIZE_MIN));
    assert!(matches!(events[0], MethodsEvent::SizeReduced { size: SIZE_MIN, .. }), "{events:?}");
    assert!(measured.timings.iter().all(|timing| timing.bytes == SIZE_MIN));
    assert_eq!(measured.rounds, 1, "a round takes 42 s");
    assert!(matches!(events.last(), Some(MethodsEvent::BudgetSpent { rounds: 1, rounds_max: 6 })));
}

#[test]
fn size_fits_the_time_budget_and_the_free_space() {
    let much = Bytes::gib(4);
    assert_eq!(fitting(100.0, much), Bytes::mib(64));
    assert_eq!(fitting(3.0, much), Bytes::mib(16));
    assert_eq!(fitting(0.1, much), Bytes::mib(8), "three rounds take longer than the budget then");
    assert_eq!(fitting(100.0, Bytes::mib(40)), Bytes::mib(32));
}

#[test]
fn interrupt_and_failure_keep_complete_rounds() {
    let interrupt = Interrupt::default();
    interrupt.request();
    let stopped =
        settings(Some(Bytes::mib(1)), Some(2)).measure(&mut Fake::new(9.0), &interrupt, &mut |_| {});
    assert_eq!((stopped.rounds, stopped.ended), (0, Err(Stopped::Interrupted)));
    let mut fake = Fake { fails_after: Some(7), ..Fake::new(9.0) };
    let (failed, _) = measured(&mut fake, settings(Some(Bytes::mib(1)), Some(2)));
    assert_eq!((failed.rounds, failed.timings.len()), (1, 5));
    assert_eq!(failed.ended, Err(Stopped::Host("unplugged")));
    let (full, _) = measured(&mut Fake { space: Bytes::kib(4), ..Fake::new(9.0) }, settings(None, None));
    assert_eq!(full.ended, Err(Stopped::Host("full")));
}
