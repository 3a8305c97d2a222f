//! The model does what its profile says: what one more open unit, a jump, a page or a boundary costs.

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

/// Writes one quarter of `count` units in turn, from the FAT area on, and returns the merges that took.
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

/// The profiles that people made. What was fitted from a log does what its log says: `cargo xtask validate fidelity` holds them to it.
fn by_hand() -> impl Iterator<Item = &'static str> {
    Profile::builtin_names().filter(|name| !Profile::text(name).unwrap().starts_with("# Fitted by"))
}

#[test]
fn open_units_cost_nothing_and_one_more_costs_merges() {
    for name in by_hand() {
        let Some(open) = Profile::builtin(name).unwrap().truth().open_units_linear else { continue };
        assert_eq!(merges(name, open, |step| step), 0, "{name}");
        assert!(merges(name, open + 1, |step| step) > 10, "{name}");
    }
}

#[test]
fn random_order_has_its_own_number_of_open_units() {
    let scattered = |step: u64| 1 + (step * 5) % 16;
    for name in ["patriot-xt-16g", "transcend-8g"] {
        let open = Profile::builtin(name).unwrap().truth().open_units_random.unwrap();
        let within = merges(name, open, scattered) / u64::from(open);
        assert!(within <= 1, "{name}: a quarter of a log was merged {within} times");
        assert!(merges(name, open + 1, scattered) > 10, "{name}");
    }
    assert!(merges("generic-2g", 1, scattered) > 10);
}

#[test]
fn the_merge_law_beyond_the_open_units_the_time_is_constant() {
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
fn a_write_below_the_page_costs_no_less_than_the_page() {
    for name in ["generic-2g", "transcend-8g"] {
        let truth = Profile::builtin(name).unwrap().truth();
        let alone = |length| write(&mut quiet(name), truth.erase_block * 8, length);
        let (half, page, two) = (alone(truth.page / 2), alone(truth.page), alone(truth.page * 2));
        assert!(half >= page && two > page && two < page * 2, "{name}: {half:?} {page:?} {two:?}");
    }
}

#[test]
fn the_fat_area_takes_any_order() {
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
fn a_read_across_an_erase_block_boundary_takes_longer() {
    for name in by_hand() {
        let mut stick = quiet(name);
        let boundary = stick.profile().truth().erase_block * 5;
        let [before, across, after] =
            [1024, 512, 0].map(|back| read(&mut stick, boundary - Bytes::new(back), Bytes::kib(1)));
        assert!(across > before + Duration::from_micros(80), "{name}: {before:?} {across:?}");
        assert!(across > after + Duration::from_micros(80), "{name}: {across:?} {after:?}");
    }
}

#[test]
fn a_read_that_continues_another_was_read_ahead() {
    let mut stick = quiet("transcend-8g");
    let apart = read(&mut stick, Bytes::mib(9), Bytes::kib(4));
    let next = read(&mut stick, Bytes::mib(9) + Bytes::kib(4), Bytes::kib(4));
    assert_eq!(apart - next, Duration::from_micros(250));
    write(&mut stick, Bytes::mib(64), Bytes::kib(16));
    assert_eq!(read(&mut stick, Bytes::mib(9) + Bytes::kib(8), Bytes::kib(4)), apart);
}

#[test]
fn the_transcend_stick_reads_and_writes_as_reported() {
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
fn the_generic_stick_takes_about_ten_small_writes_a_second() {
    let mut stick = quiet("generic-2g");
    for step in 0..100 {
        write(&mut stick, Bytes::kib(2) * (step * 7919 % 100_000), Bytes::kib(2));
    }
    let seconds = stick.now().as_nanos() / 1_000_000_000;
    assert!((9..=11).contains(&seconds), "{seconds} s for 100 small writes");
}

#[test]
fn a_never_written_area_may_read_at_another_speed() {
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
fn the_same_seed_gives_the_same_times_and_another_seed_others() {
    let times = |seed: u64| -> (Vec<Duration>, Statistics) {
        let mut stick = target::open(&format!("patriot-xt-16g?seed={seed}")).unwrap();
        let place = |step: u64| Bytes::kib(64) * (step * 7919 % 4096);
        let times = (0..2000).map(|step| write(&mut stick, place(step), Bytes::kib(64))).collect();
        (times, stick.statistics())
    };
    assert_eq!(times(7), times(7));
    assert_ne!(times(7).0, times(8).0);
}

#[test]
fn noise_only_lengthens() {
    let mut noisy = target::open("patriot-xt-16g?noise=3").unwrap();
    let mut ideal = quiet("patriot-xt-16g");
    for step in 0..5000 {
        let offset = Bytes::kib(4) * (step * 7919 % 100_000);
        assert!(read(&mut noisy, offset, Bytes::kib(4)) >= read(&mut ideal, offset, Bytes::kib(4)));
    }
    assert!(noisy.statistics().outliers > 0 && ideal.statistics().outliers == 0);
}

#[test]
fn requests_queue_and_are_served_one_at_a_time() {
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
fn impossible_requests_are_refused_and_take_no_time() {
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
fn a_pause_lets_time_pass_and_nothing_else() {
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
fn an_erase_block_written_anew_has_a_price_unless_it_was_one_of_the_last() {
    let mut stick = with_policy("open_us = 100000");
    let block = stick.profile().ftl.erase_block;
    let mut take = |unit: u64| write(&mut stick, block * unit, block);
    let (first, again) = (take(8), take(8));
    assert_eq!(first - again, Duration::from_millis(100));
    let kept = stick_open_units("transcend-8g");
    for unit in 9..9 + kept {
        take(unit);
    }
    assert_eq!([take(8), take(8)], [first, again], "too many others came between");
}

fn stick_open_units(name: &str) -> u64 {
    u64::from(Profile::builtin(name).unwrap().truth().open_units_linear.unwrap())
}

#[test]
fn some_places_have_a_price_of_their_own_each_time() {
    let opening = "opening = [{ start = \"32MiB\", length = \"4MiB\", open_us = 50000 }]";
    let mut stick = with_policy(opening);
    let block = stick.profile().ftl.erase_block;
    let mut take = |unit: u64| write(&mut stick, block * unit, block);
    let plain = take(9);
    assert_eq!([take(8) - plain, take(8) - plain], [Duration::from_millis(50); 2]);
}

#[test]
fn a_merge_may_cost_less_for_less() {
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
fn a_run_that_is_broken_off_may_go_to_the_log() {
    let broken = |lines: &str| {
        let mut stick = with_policy(lines);
        let block = stick.profile().ftl.erase_block;
        write(&mut stick, block * 8, Bytes::kib(64));
        write(&mut stick, block * 8 + Bytes::mib(1), Bytes::kib(64));
        write(&mut stick, block * 9 - Bytes::kib(64), Bytes::kib(64));
        write(&mut stick, block * 9 + Bytes::mib(2), Bytes::mib(2));
        stick.statistics().merges
    };
    assert_eq!([broken(""), broken("completes_broken_runs = false")], [2, 0]);
}
