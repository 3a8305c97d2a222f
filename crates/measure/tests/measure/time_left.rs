//! The time left that is stated, compared with the true time left, on all virtual sticks.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{Bytes, Device};
use flashscope_measure::capacity::{self, Limits};
use flashscope_measure::experiment::Sustained;
use flashscope_measure::survey::Survey;
use flashscope_measure::{Estimate, Event, Expected, Experiment, Extent, Forecast, Observer, Stage};
use flashscope_sim::Profile;

use super::support::stick;

/// A statement is compared after this part of the run.
const AFTER: f64 = 0.1;
/// Nobody minds these seconds.
const TOLERANCE_S: f64 = 3.0;
/// The largest factor.
const FACTOR_MAX: f64 = 3.0;

/// What was stated in the course of a run.
struct Stated {
    forecast: Forecast,
    name: String,
    /// Device time so far, the time left that was stated, and the experiment.
    statements: Vec<(f64, f64, String)>,
}

impl Stated {
    fn new(stages: impl IntoIterator<Item = Stage>) -> Self {
        Self { forecast: Forecast::new(stages, None), name: String::new(), statements: Vec::new() }
    }

    /// The largest ratio of stated to true time left, above and below, each with the tolerance, and where.
    fn worst(&self) -> (Worst, Worst) {
        let whole = self.forecast.spent().as_secs_f64();
        let ratio = |spent: f64, stated: f64| {
            let left = whole - spent;
            (
                (stated - TOLERANCE_S).max(0.0) / left.max(1e-9),
                (left - TOLERANCE_S).max(0.0) / stated.max(1e-9),
            )
        };
        let counted = self.statements.iter().filter(|(spent, ..)| *spent >= whole * AFTER);
        let mut worst = (Worst::default(), Worst::default());
        for (spent, stated, name) in counted {
            let (above, below) = ratio(*spent, *stated);
            worst.0.note(above, *spent, *stated, whole, name);
            worst.1.note(below, *spent, *stated, whole, name);
        }
        worst
    }
}

#[derive(Debug, Default, Clone)]
struct Worst {
    ratio: f64,
    text: String,
}

impl Worst {
    fn note(&mut self, ratio: f64, spent: f64, stated: f64, whole: f64, name: &str) {
        if ratio > self.ratio {
            let left = whole - spent;
            self.ratio = ratio;
            self.text = format!(
                "{ratio:.2} in {name} at {spent:.1} of {whole:.1} s: {stated:.1} stated, {left:.1} true"
            );
        }
    }
}

impl Observer for Stated {
    fn event(&mut self, event: Event<'_>) {
        self.forecast.event(&event);
        if let Event::Begin { name, .. } = event {
            self.name = name.to_owned();
        }
        let (spent, left) = (self.forecast.spent().as_secs_f64(), self.forecast.left().as_secs_f64());
        self.statements.push((spent, left, self.name.clone()));
    }
}

/// What the statements of all virtual sticks were like.
#[derive(Default)]
struct Sticks {
    /// Sticks with a statement that is more than [`FACTOR_MAX`] times too long, and which.
    too_long: Vec<(&'static str, String)>,
    /// Sticks with a statement that is as much too short.
    too_short: Vec<(&'static str, String)>,
}

impl Sticks {
    /// Fails if a statement was too long on a stick that is not `excepted`, or too short on more than `most`.
    fn assert(&self, excepted: &[&str], most: usize) {
        let failed: Vec<_> = self.too_long.iter().filter(|(name, _)| !excepted.contains(name)).collect();
        assert!(failed.is_empty(), "too long: {failed:#?}");
        assert!(self.too_short.len() <= most, "too short: {:#?}", self.too_short);
    }
}

/// Runs this on every virtual stick.
fn on_every_stick(run: impl Fn(&mut dyn Device) -> Stated) -> Sticks {
    let mut sticks = Sticks::default();
    for name in Profile::builtin_names() {
        let (mut device, _) = stick(name);
        let (above, below) = run(&mut device).worst();
        if above.ratio > FACTOR_MAX {
            sticks.too_long.push((name, above.text));
        }
        if below.ratio > FACTOR_MAX {
            sticks.too_short.push((name, below.text));
        }
    }
    sticks
}

fn checked(device: &mut dyn Device, writes: bool) -> Stated {
    let survey = Survey::new(writes, 1);
    let mut stages = Vec::new();
    if writes {
        stages.push(survey.brief_fill_stage(device));
    }
    stages.extend(survey.stages(device));
    if writes {
        stages.extend(capacity::probe_stage(device, Limits::default()));
    }
    let mut stated = Stated::new(stages);
    if writes {
        survey.fill_briefly(device, &mut stated);
    }
    survey.run(device, &mut stated);
    survey.speeds(device, None, &mut stated);
    if writes {
        capacity::probe(device, 1, Limits::default(), &mut stated).unwrap();
    }
    stated
}

#[test]
fn time_left_of_a_check_is_at_most_three_times_too_long() {
    // A search for open blocks may take minutes.
    on_every_stick(|device| checked(device, true)).assert(&[], 4);
}

#[test]
fn time_left_of_a_check_that_reads_is_at_most_three_times_too_long() {
    on_every_stick(|device| checked(device, false)).assert(&[], 0);
}

#[test]
fn time_left_of_a_check_with_a_long_stream_is_at_most_three_times_too_long() {
    let sticks = on_every_stick(|device| {
        let survey = Survey::new(true, 1);
        let probe = capacity::probe_stage(device, Limits::default());
        let stages = probe.into_iter().chain(survey.fill_stages(device)).chain(survey.stages(device));
        let mut stated = Stated::new(stages);
        capacity::probe(device, 1, Limits::default(), &mut stated).unwrap();
        survey.fill(device, &mut stated);
        survey.run(device, &mut stated);
        survey.speeds(device, None, &mut stated);
        stated
    });
    // Each ends soon after a slow-down, which is not certain before.
    sticks.assert(&["modern-ssd-stick-128g", "wirenboard-08"], 10);
}

#[test]
fn time_left_of_a_long_stream_is_at_most_three_times_too_long() {
    let sticks = on_every_stick(|device| {
        let mut stated = Stated::new([]);
        let stream = Sustained { seed: 1, extent: Extent::Thorough, device_capacity: None };
        stream.measure(device, &Budget::UNLIMITED, &mut stated);
        stated
    });
    sticks.assert(&[], 2);
}

#[test]
fn time_left_of_a_test_of_the_capacity_is_at_most_three_times_too_long() {
    let sticks = on_every_stick(|device| {
        let mut stated = Stated::new([]);
        let settings = capacity::Settings { seed: 1, cache_bound: capacity::CACHE_BOUND_DEFAULT };
        capacity::verify(device, settings, &mut stated).unwrap();
        stated
    });
    sticks.assert(&[], 0);
}

#[test]
fn time_left_without_a_plan_is_that_of_all_requests() {
    let mut forecast = Forecast::default();
    let estimate = Estimate { requests: 10, ..Default::default() };
    forecast.event(&Event::Begin { name: "x", estimate });
    let (bytes_written, bytes_read) = Default::default();
    let device_time = Duration::from_secs(4);
    forecast.event(&Event::Progress { requests: 2, writes: 0, bytes_written, bytes_read, device_time });
    assert_eq!(forecast.left(), Duration::from_secs(16));
}

#[test]
fn time_left_follows_reads_of_half_a_mebibyte_and_not_smaller_ones() {
    let left = |read: Bytes| {
        let mut forecast = Forecast::default();
        let expected = Expected::transfer(Bytes::ZERO, read + Bytes::new(3_770_240));
        let (bytes_written, device_time) = (Bytes::ZERO, Duration::from_secs(1));
        let estimate = Estimate { requests: 10, bytes_written, expected };
        forecast.event(&Event::Begin { name: "x", estimate });
        let (requests, writes, bytes_read) = (1, 0, read);
        forecast.event(&Event::Progress { requests, writes, bytes_written, bytes_read, device_time });
        forecast.left()
    };
    // 512 KiB in 1 s, and 4 MB in 0.2 s as assumed.
    assert_eq!(left(Bytes::kib(512)), Duration::from_secs(1));
    // 20 MB/s as assumed.
    assert_eq!(left(Bytes::kib(256)), Duration::from_secs_f64(3_770_240.0 / 20e6));
}

/// Each takes 16 ms: a device with such writes is five times as fast as assumed. 100 MB are left, at 10 MB/s
/// or at 50.
#[test]
fn time_left_follows_small_writes_from_eight_on() {
    let left = |writes: u64| {
        let mut forecast = Forecast::default();
        let written = Bytes::kib(4) * writes;
        let expected = Expected::transfer(written + Bytes::new(100_000_000), Bytes::ZERO);
        let estimate = Estimate { requests: 100, bytes_written: written, expected };
        forecast.event(&Event::Begin { name: "x", estimate });
        for number in 1..=writes {
            forecast.event(&Event::Progress {
                requests: number,
                writes: number,
                bytes_written: Bytes::kib(4) * number,
                bytes_read: Bytes::ZERO,
                device_time: Duration::from_millis(16 * number),
            });
        }
        forecast.left()
    };
    assert_eq!([0, 7, 8, 20].map(left), [10, 10, 2, 2].map(Duration::from_secs));
}

#[test]
fn time_left_is_within_the_time_budget() {
    let (device, _) = stick("generic-2g");
    let stages = Survey::new(true, 1).stages(&device);
    let forecast = Forecast::new(stages, Some(Duration::from_secs(5)));
    assert_eq!(forecast.left(), Duration::from_secs(5));
}
