//! The model follows its profile: the cost of one more open unit, a random write, a page, or a boundary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, FailureCause, Op, Pattern, Tag};
use flashscope_sim::{Profile, Statistics, VirtualStick, target};

/// A built-in stick without noise.
fn quiet(name: &str) -> VirtualStick {
    target::open(&format!("{name}?noise=0")).unwrap()
}

fn time(stick: &mut VirtualStick, op: Op) -> Duration {
    let completion = stick.run(op).unwrap();
    completion.outcome.as_ref().unwrap();
    completion.latency()
}

fn write(stick: &mut VirtualStick, offset: Bytes, length: Bytes) -> Duration {
    time(stick, Op::write(ByteRange::new(offset, length), Pattern::new(1)))
}

fn read(stick: &mut VirtualStick, offset: Bytes, length: Bytes) -> Duration {
    time(stick, Op::read(ByteRange::new(offset, length)))
}

/// Writes the first quarter of `count` units round-robin, behind the FAT area, and returns the number of
/// merges.
fn merges(name: &str, count: u32, offsets: impl Fn(u64) -> u64) -> u64 {
    let mut stick = quiet(name);
    let truth = stick.profile().truth();
    let request = truth.page * 2;
    for step in 0..truth.erase_block / request / 4 {
        for unit in 0..u64::from(count) {
            let start = truth.fat_area + truth.erase_block * (unit * 3 + 1);
            write(&mut stick, start + request * offsets(step), request);
        }
    }
    stick.statistics().merges
}

/// The profiles made by hand. `cargo xtask fidelity` validates the fitted ones against their logs.
fn handmade() -> impl Iterator<Item = &'static str> {
    Profile::builtin_names().filter(|name| !Profile::text(name).unwrap().starts_with("# Fitted by"))
}

#[test]
fn one_unit_more_than_can_be_open_costs_merges() {
    for name in handmade() {
        let Some(open) = Profile::builtin(name).unwrap().truth().open_units_linear else { continue };
        assert_eq!(merges(name, open, |step| step), 0, "{name}");
        // The smallest unit takes four requests.
        assert!(merges(name, open + 1, |step| step) > 3 * u64::from(open), "{name}");
    }
}

#[test]
fn random_writes_have_their_own_number_of_open_units() {
    let random_order = |step: u64| 1 + (step * 5) % 16;
    for name in ["patriot-xt-16g", "transcend-8g"] {
        let open = Profile::builtin(name).unwrap().truth().open_units_random.unwrap();
        let within = merges(name, open, random_order) / u64::from(open);
        assert!(within <= 1, "{name}: a quarter of a log was merged {within} times");
        assert!(merges(name, open + 1, random_order) > 10, "{name}");
    }
    assert!(merges("generic-2g", 1, random_order) > 10);
}

#[test]
fn write_time_beyond_the_open_units_is_constant() {
    let mut stick = quiet("transcend-8g");
    let truth = stick.profile().truth();
    let mut times = Vec::new();
    for step in 0..40 {
        for unit in 0..=u64::from(truth.open_units_linear.unwrap()) {
            let offset = truth.erase_block * (unit * 2 + 2) + truth.page * step;
            times.push(write(&mut stick, offset, truth.page).as_secs_f64());
        }
    }
    for time in &times[10..] {
        assert!((0.25..0.27).contains(time), "{time}");
    }
}

#[test]
fn write_below_the_page_costs_at_least_a_page() {
    for name in ["generic-2g", "transcend-8g"] {
        let truth = Profile::builtin(name).unwrap().truth();
        let alone = |length| write(&mut quiet(name), truth.erase_block * 8, length);
        let (half, page, two) = (alone(truth.page / 2), alone(truth.page), alone(truth.page * 2));
        assert!(half >= page && two > page && two < page * 2, "{name}: {half:?} {page:?} {two:?}");
    }
}

#[test]
fn random_writes_to_the_fat_area_never_merge() {
    let mut stick = quiet("transcend-8g");
    let truth = stick.profile().truth();
    for step in 0..1000 {
        write(&mut stick, Bytes::kib(4) * (step * 331 % 1024), Bytes::kib(4));
    }
    assert_eq!(stick.statistics().merges, 0);
    for step in 0..1000 {
        write(&mut stick, truth.fat_area + Bytes::kib(4) * (step * 331 % 1024), Bytes::kib(4));
    }
    assert!(stick.statistics().merges > 2);
}

#[test]
fn read_across_an_erase_block_boundary_is_slower() {
    for name in handmade() {
        let mut stick = quiet(name);
        let boundary = stick.profile().truth().erase_block * 5;
        let [before, across, after] =
            [1024, 512, 0].map(|back| read(&mut stick, boundary - Bytes::new(back), Bytes::kib(1)));
        assert!(across > before + Duration::from_micros(80), "{name}: {before:?} {across:?}");
        assert!(across > after + Duration::from_micros(80), "{name}: {across:?} {after:?}");
    }
}

#[test]
fn sequential_read_saves_the_read_ahead_time() {
    let mut stick = quiet("transcend-8g");
    let apart = read(&mut stick, Bytes::mib(9), Bytes::kib(4));
    let next = read(&mut stick, Bytes::mib(9) + Bytes::kib(4), Bytes::kib(4));
    assert_eq!(apart - next, Duration::from_micros(250));
    write(&mut stick, Bytes::mib(64), Bytes::kib(16));
    assert_eq!(read(&mut stick, Bytes::mib(9) + Bytes::kib(8), Bytes::kib(4)), apart);
}

#[test]
fn transcend_profile_has_its_reported_throughput() {
    let mut stick = quiet("transcend-8g");
    let mut rate = |op: fn(&mut VirtualStick, Bytes, Bytes) -> Duration| {
        let time: Duration =
            (0..16).map(|step| op(&mut stick, Bytes::mib(64 + 4 * step), Bytes::mib(4))).sum();
        Bytes::mib(64).as_f64() / time.as_secs_f64() / 1e6
    };
    assert!((33.0..34.0).contains(&rate(read)));
    assert!((13.5..14.5).contains(&rate(write)));
}

#[test]
fn generic_profile_has_about_10_random_write_iops() {
    let mut stick = quiet("generic-2g");
    for step in 0..100 {
        write(&mut stick, Bytes::kib(2) * (step * 7919 % 100_000), Bytes::kib(2));
    }
    let seconds = stick.now().as_nanos() / 1_000_000_000;
    assert!((9..=11).contains(&seconds), "{seconds} s for 100 small writes");
}

#[test]
fn never_written_factor_scales_the_access_time() {
    let text = Profile::text("generic-2g")
        .unwrap()
        .replace("access_us = 350", "access_us = 350\nnever_written_factor = 0.5");
    let mut profile = Profile::parse(&text).unwrap();
    profile.noise.jitter = 0.0;
    profile.noise.outliers_per_million = 0.0;
    let mut stick = VirtualStick::new(&profile, 1);
    let before = read(&mut stick, Bytes::mib(9), Bytes::kib(4));
    write(&mut stick, Bytes::mib(9), Bytes::kib(4));
    assert_eq!(read(&mut stick, Bytes::mib(9), Bytes::kib(4)) - before, Duration::from_micros(175));
}

#[test]
fn seed_determines_all_times() {
    let times = |seed: u64| -> (Vec<Duration>, Statistics) {
        let mut stick = target::open(&format!("patriot-xt-16g?seed={seed}")).unwrap();
        let offset = |step: u64| Bytes::kib(64) * (step * 7919 % 4096);
        let times = (0..2000).map(|step| write(&mut stick, offset(step), Bytes::kib(64))).collect();
        (times, stick.statistics())
    };
    assert_eq!(times(7), times(7));
    assert_ne!(times(7).0, times(8).0);
}

#[test]
fn noise_never_shortens_a_request() {
    let mut noisy = target::open("patriot-xt-16g?noise=3").unwrap();
    let mut ideal = quiet("patriot-xt-16g");
    for step in 0..5000 {
        let offset = Bytes::kib(4) * (step * 7919 % 100_000);
        assert!(read(&mut noisy, offset, Bytes::kib(4)) >= read(&mut ideal, offset, Bytes::kib(4)));
    }
    assert!(noisy.statistics().outliers > 0 && ideal.statistics().outliers == 0);
}

#[test]
fn requests_beyond_the_queue_depth_are_refused() {
    let mut stick = quiet("transcend-8g");
    let depth = stick.capabilities().queue_depth;
    let op = || Op::read(ByteRange::new(Bytes::mib(1), Bytes::kib(4)));
    for tag in 0..depth {
        stick.submit(Tag(u64::from(tag)), op()).unwrap();
    }
    assert!(matches!(stick.submit(Tag(99), op()), Err(DeviceError::QueueFull { .. })));
    let mut last = Duration::ZERO;
    for tag in 0..depth {
        let completion = stick.wait().unwrap().unwrap();
        assert_eq!(completion.tag, Tag(u64::from(tag)));
        assert!(completion.latency() > last);
        last = completion.latency();
    }
    assert!(stick.wait().unwrap().is_none());
}

#[test]
fn impossible_requests_are_refused_in_no_time() {
    let mut stick = quiet("generic-2g");
    let capacity = stick.capabilities().capacity;
    let cases = [
        (ByteRange::new(capacity, Bytes::kib(4)), FailureCause::OutOfRange { capacity }),
        (ByteRange::new(Bytes::ZERO, Bytes::mib(65)), FailureCause::TooLarge { max_request: Bytes::mib(64) }),
    ];
    for (range, cause) in cases {
        let completion = stick.run(Op::write(range, Pattern::new(1))).unwrap();
        assert_eq!(completion.outcome.unwrap_err().cause, cause);
    }
    assert_eq!((stick.now().as_nanos(), stick.statistics()), (0, Statistics::default()));
}

#[test]
fn pause_only_advances_the_clock() {
    let mut stick = quiet("generic-2g");
    stick.pause(Duration::from_secs(3600)).unwrap();
    assert_eq!(stick.now().as_nanos(), 3_600_000_000_000);
    assert_eq!(stick.statistics(), Statistics::default());
}

/// The Transcend stick with these lines in its policy.
fn with_policy(lines: &str) -> VirtualStick {
    let text = Profile::text("transcend-8g")
        .unwrap()
        .replace("[policy.open_blocks]", &format!("[policy.open_blocks]\n{lines}"));
    let mut profile = Profile::parse(&text).unwrap();
    profile.noise.jitter = 0.0;
    profile.noise.outliers_per_million = 0.0;
    VirtualStick::new(&profile, 1)
}

#[test]
fn opening_cost_applies_unless_the_block_was_recently_open() {
    let mut stick = with_policy("open_us = 100000");
    let block = stick.profile().ftl.erase_block;
    let mut write_block = |unit: u64| write(&mut stick, block * unit, block);
    let (first, again) = (write_block(8), write_block(8));
    assert_eq!(first - again, Duration::from_millis(100));
    let open = open_units("transcend-8g");
    for unit in 9..9 + open {
        write_block(unit);
    }
    assert_eq!([write_block(8), write_block(8)], [first, again], "too many other blocks were opened");
}

fn open_units(name: &str) -> u64 {
    u64::from(Profile::builtin(name).unwrap().truth().open_units_linear.unwrap())
}

#[test]
fn opening_cost_of_a_range_applies_every_time() {
    let opening = "opening = [{ start = \"32MiB\", length = \"4MiB\", open_us = 50000 }]";
    let mut stick = with_policy(opening);
    let block = stick.profile().ftl.erase_block;
    let mut write_block = |unit: u64| write(&mut stick, block * unit, block);
    let plain = write_block(9);
    assert_eq!([write_block(8) - plain, write_block(8) - plain], [Duration::from_millis(50); 2]);
}

#[test]
fn merge_time_follows_its_curve() {
    let mut stick = with_policy("random_merge_us = [[\"16KiB\", 1000], [\"1MiB\", 64000]]");
    let truth = stick.profile().truth();
    let units = u64::from(truth.open_units_random.unwrap()) + 1;
    let mut merging = |kib: u64| {
        let request = Bytes::kib(kib);
        let steps: Vec<u64> = (0..12).map(|step| 1 + (step * 5) % 12).collect();
        let times = steps.iter().flat_map(|step| (0..units).map(move |unit| (unit, *step)));
        times
            .map(|(unit, step)| write(&mut stick, truth.erase_block * (20 + unit) + request * step, request))
            .next_back()
            .unwrap()
    };
    let (small, large) = (merging(16), merging(256));
    assert!(small < Duration::from_millis(5), "{small:?}");
    assert!(large > Duration::from_millis(15), "{large:?}");
}

#[test]
fn skipped_pages_are_copied_and_the_run_continues_if_configured() {
    let times = |fills: &str| {
        let text = Profile::text("linuxplanet-noname-2g").unwrap();
        let text = text.replace("fills_gaps = true", fills).replace("jitter = 0.03", "jitter = 0.0");
        let mut stick = VirtualStick::new(&Profile::parse(&text).unwrap(), 1);
        let block = stick.profile().ftl.erase_block;
        let file = Bytes::kib(16);
        write(&mut stick, block * 8, file);
        let behind = write(&mut stick, block * 8 + file * 2, file);
        let in_front = write(&mut stick, block * 8 + file, file);
        (behind.as_secs_f64(), in_front.as_secs_f64(), stick.statistics().merges)
    };
    let ((behind, in_front, merges), (jump, _, all)) =
        (times("fills_gaps = true"), times("fills_gaps = false"));
    assert!(behind * 5.0 < jump && behind * 5.0 < in_front, "{behind} {in_front} {jump}");
    assert_eq!((merges, all), (1, 2));
}

#[test]
fn broken_run_goes_to_the_log_if_configured() {
    let merges_with = |lines: &str| {
        let mut stick = with_policy(lines);
        let block = stick.profile().ftl.erase_block;
        write(&mut stick, block * 8, Bytes::kib(64));
        write(&mut stick, block * 8 + Bytes::mib(1), Bytes::kib(64));
        write(&mut stick, block * 9 - Bytes::kib(64), Bytes::kib(64));
        write(&mut stick, block * 9 + Bytes::mib(2), Bytes::mib(2));
        stick.statistics().merges
    };
    assert_eq!([merges_with(""), merges_with("completes_broken_runs = false")], [2, 0]);
}
