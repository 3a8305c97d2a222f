//! Links: the ceiling of each is reached and never exceeded, commands overlap only with a queue, and
//! impossible links are refused.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern, Tag};
use flashscope_sim::profile::{Boundary, Bus};
use flashscope_sim::{Profile, ProfileError, Target, VirtualStick, target};

/// A profile with fast flash: 20 us to the first byte, 0 with read-ahead, and 100 us for 1 MiB of pages.
fn fast(link: &str) -> Result<Profile, ProfileError> {
    Profile::parse(&format!(
        r#"
        name = "fast"
        description = "flash faster than any link"
        capacity = "1GiB"
        [link]
        basis = "assumed"
        {link}
        [read]
        basis = "assumed"
        access_us = 20
        read_ahead_saves_us = 20
        channels = 4
        [write]
        basis = "assumed"
        overhead_us = 10
        page_program_us = 6
        partial_page_us = 6
        [ftl]
        basis = "assumed"
        erase_block = "4MiB"
        page = "64KiB"
        [policy.open_blocks]
        basis = "assumed"
        open_units_linear = 4
        open_units_random = 4
        victim = "lru"
        merge_us = 1000
        [noise]
        basis = "assumed"
        jitter = 0
        "#
    ))
}

fn stick(link: &str) -> VirtualStick {
    VirtualStick::new(&fast(link).unwrap(), 1)
}

/// Keeps `depth` requests in flight and returns the bytes per second of them all.
fn rate(
    stick: &mut VirtualStick,
    depth: u64,
    count: u64,
    length: Bytes,
    op: impl Fn(ByteRange) -> Op,
) -> f64 {
    let started_at = stick.now();
    let submit = |stick: &mut VirtualStick, step: u64| {
        stick.submit(Tag(step), op(ByteRange::new(length * step, length))).unwrap();
    };
    (0..depth).for_each(|step| submit(stick, step));
    for step in depth..count + depth {
        stick.wait().unwrap().unwrap().outcome.unwrap();
        if step < count {
            submit(stick, step);
        }
    }
    (length * count).as_f64() / stick.now().since(started_at).as_secs_f64()
}

fn read_rate(stick: &mut VirtualStick, depth: u64, length: Bytes) -> f64 {
    rate(stick, depth, 64, length, Op::read)
}

fn write_rate(stick: &mut VirtualStick, depth: u64, length: Bytes) -> f64 {
    rate(stick, depth, 64, length, |range| Op::write(range, Pattern::new(1)))
}

#[test]
fn large_requests_reach_the_ceiling_of_each_bus() {
    for bus in Bus::ALL {
        let mut stick = stick(&format!("bus = \"{bus}\""));
        let most = stick.profile().truth().link_bytes_per_s.as_f64();
        let allowed = bus.figures().ceiling_megabytes_per_s * 1e6;
        for rate in [read_rate(&mut stick, 1, Bytes::mib(4)), write_rate(&mut stick, 1, Bytes::mib(4))] {
            let share = rate / most;
            assert!((0.95..=1.000_1).contains(&share), "{bus}: {share} of what the link allows");
            assert!(rate < allowed, "{bus}: {rate}");
        }
    }
}

#[test]
fn bus_ceilings_match_reported_rates() {
    let reported = [
        ("usb-full", 0.9e6, 1.1e6),
        ("usb-high", 30e6, 42e6),
        ("usb-super-5", 400e6, 450e6),
        ("usb-super-10", 800e6, 950e6),
        ("sd-default", 10e6, 12.5e6),
        ("sd-high-speed", 21e6, 25e6),
        ("sd-sdr50", 42e6, 50e6),
        ("sd-ddr50", 42e6, 50e6),
        ("sd-sdr104", 88e6, 104e6),
    ];
    for (bus, low, high) in reported {
        let ceiling = fast(&format!("bus = \"{bus}\"")).unwrap().link.timing().ceiling_per_s().as_f64();
        assert!((low..=high).contains(&ceiling), "{bus}: {ceiling}");
    }
}

#[test]
fn throughput_without_a_queue_is_independent_of_queue_depth() {
    for link in ["bus = \"usb-super-5\"", "bus = \"sd-sdr104\"\nprotocol = \"single\""] {
        for length in [Bytes::kib(4), Bytes::mib(1)] {
            let [depth_1, depth_32] = [1, 32].map(|depth| read_rate(&mut stick(link), depth, length));
            assert!((depth_32 / depth_1 - 1.0).abs() < 1e-9, "{link}, {length}: {depth_1}, {depth_32}");
        }
    }
}

#[test]
fn queue_depth_helps_until_the_command_stage_is_saturated() {
    // 30 us in the command stage, 20 us of flash without read-ahead, 9.6 us of data.
    let rates = [1, 2, 4, 32].map(|depth| {
        read_rate(&mut stick("bus = \"usb-super-5\"\nprotocol = \"uas\""), depth, Bytes::kib(4))
    });
    assert!(rates[1] > 1.2 * rates[0], "{rates:?}");
    let commands_per_s = 1e6 / 30.0;
    assert!((0.95..=1.0).contains(&(rates[3] / 4096.0 / commands_per_s)), "{rates:?}");
}

#[test]
fn queue_keeps_the_wire_busy() {
    let rate_of =
        |link: &str| read_rate(&mut stick(&format!("bus = \"usb-super-5\"\n{link}")), 8, Bytes::kib(64));
    let (queued, single) = (rate_of("protocol = \"uas\""), rate_of(""));
    assert!((0.95..=1.000_1).contains(&(queued / 425e6)), "{queued}");
    assert!(single < 0.9 * queued, "{single} without a queue");
}

#[test]
fn channels_serve_reads_in_parallel() {
    // Random reads of 20 us in the flash each, with 1 us in the command stage.
    let rate_of = |channels: u32| {
        let mut profile = fast("bus = \"usb-super-10\"\nprotocol = \"uas\"\ncommand_us = 1").unwrap();
        profile.read.channels = channels;
        let mut stick = VirtualStick::new(&profile, 1);
        rate(&mut stick, 32, 256, Bytes::kib(4), |range| {
            Op::read(ByteRange::new(range.offset * 3, range.length))
        })
    };
    let rates = [1, 2, 3].map(rate_of);
    assert!((1.9..2.1).contains(&(rates[1] / rates[0])), "{rates:?}");
    assert!((2.8..3.1).contains(&(rates[2] / rates[0])), "{rates:?}");
}

#[test]
fn queue_depth_1_has_the_same_latency_with_and_without_a_queue() {
    let read = |link: &str, step: u64| {
        let op = Op::read(ByteRange::new(Bytes::mib(7 * step), Bytes::kib(32)));
        stick(link).run(op).unwrap().latency()
    };
    for step in 0..4 {
        assert_eq!(read("protocol = \"uas\"", step), read("", step));
    }
}

#[test]
fn completions_of_a_queue_are_in_order_of_time() {
    let mut profile = fast("bus = \"usb-super-5\"\nprotocol = \"uas\"").unwrap();
    let (period, phase) = (Bytes::mib(4), Bytes::ZERO);
    profile.read.boundary =
        vec![Boundary { period, phase, across_us: 5000.0, before_us: 0.0, after_us: None }];
    let mut stick = VirtualStick::new(&profile, 1);
    let read = |offset| Op::read(ByteRange::new(offset, Bytes::kib(4)));
    stick.submit(Tag(0), Op::Pause { duration: Duration::from_secs(1) }).unwrap();
    stick.submit(Tag(1), read(Bytes::mib(4) - Bytes::kib(2))).unwrap();
    (2..5).for_each(|tag| stick.submit(Tag(tag), read(Bytes::mib(100 + tag) + Bytes::kib(8))).unwrap());
    stick.submit(Tag(5), Op::Flush).unwrap();
    let completions: Vec<_> = std::iter::from_fn(|| stick.wait().unwrap()).collect();
    assert!(completions.is_sorted_by_key(|completion| completion.completed_at));
    // Fast reads overtake a slow one. A flush waits for all of them. A pause delays no request.
    let tags: Vec<u64> = completions.iter().map(|completion| completion.tag.0).collect();
    assert_eq!(tags, [2, 3, 4, 1, 5, 0]);
}

#[test]
fn flush_waits_for_earlier_writes() {
    let mut stick = stick("bus = \"usb-super-5\"\nprotocol = \"uas\"");
    stick.submit(Tag(0), Op::write(ByteRange::new(Bytes::ZERO, Bytes::mib(8)), Pattern::new(1))).unwrap();
    stick.submit(Tag(1), Op::Flush).unwrap();
    let [write, flush] = [(); 2].map(|()| stick.wait().unwrap().unwrap());
    assert_eq!((write.tag, flush.tag), (Tag(0), Tag(1)));
    assert_eq!(flush.completed_at.since(write.completed_at), Duration::from_micros(30));
}

#[test]
fn card_reader_adds_its_overhead_and_the_slower_bus_limits_the_rate() {
    let timing = |link: &str| fast(link).unwrap().link.timing();
    let card = "\n[link.card]\nbus = \"sd-high-speed\"";
    let [direct, usb, both] = ["bus = \"sd-high-speed\"", "", card].map(timing);
    assert!((both.command_us - direct.command_us - usb.command_us).abs() < 1e-9);
    assert_eq!(both.megabytes_per_s.to_bits(), direct.megabytes_per_s.to_bits());
    assert_eq!(both.max_command, usb.max_command);
    let fast_card = timing("\n[link.card]\nbus = \"sd-sdr104\"");
    assert_eq!(fast_card.megabytes_per_s.to_bits(), usb.megabytes_per_s.to_bits());
    let rate = read_rate(&mut stick(card), 1, Bytes::mib(4));
    assert!((0.95..=1.000_1).contains(&(rate / both.ceiling_per_s().as_f64())), "{rate}");
}

#[test]
fn requests_are_split_at_the_hosts_limit() {
    let limits = [
        ("", 120),
        ("bus = \"usb-super-5\"", 1024),
        ("bus = \"usb-super-5\"\nprotocol = \"uas\"", 512),
        ("bus = \"sd-sdr50\"", 512),
        ("max_command = \"64KiB\"", 64),
    ];
    for (link, kib) in limits {
        let mut stick = stick(link);
        stick.run(Op::read(ByteRange::new(Bytes::ZERO, Bytes::mib(4)))).unwrap().outcome.unwrap();
        assert_eq!(stick.statistics().commands, 4096_u64.div_ceil(kib), "{link}");
    }
}

#[test]
fn target_link_replaces_the_bus() {
    let timing = |text: &str| Target::parse(text).unwrap().profile.link.timing();
    // A slower bus sets rate and overhead, unless those of the stick are worse.
    let full = timing("patriot-xt-16g?link=usb-full");
    assert_eq!(
        (full.megabytes_per_s.to_bits(), full.command_us.to_bits()),
        (1f64.to_bits(), 1000f64.to_bits())
    );
    let slower_than_its_bus = timing("generic-2g?link=sd-high-speed");
    assert_eq!(slower_than_its_bus.megabytes_per_s.to_bits(), 20f64.to_bits());
    // Figures measured over a slower bus do not apply to a faster one.
    let super_speed = timing("patriot-xt-16g?link=usb-super-5");
    assert_eq!(
        (super_speed.megabytes_per_s.to_bits(), super_speed.max_command),
        (425f64.to_bits(), Bytes::mib(1))
    );
    assert_eq!(timing("patriot-xt-16g?link=usb-high"), timing("patriot-xt-16g"));
    let error = target::open("patriot-xt-16g?link=usb-4").unwrap_err().to_string();
    assert!(
        error.contains("link") && error.contains("usb-super-10") && error.contains("sd-sdr104"),
        "{error}"
    );
}

#[test]
fn impossible_links_are_refused_with_key_value_and_bound() {
    let cases = [
        ("megabytes_per_s = 54", "link.megabytes_per_s", "54", "0.01 to 53.248"),
        ("bus = \"usb-full\"\nmegabytes_per_s = 2", "link.megabytes_per_s", "2", "1.216"),
        ("bus = \"usb-super-5\"\nmegabytes_per_s = 500", "link.megabytes_per_s", "500", "484.8"),
        ("bus = \"sd-default\"\nmegabytes_per_s = 25", "link.megabytes_per_s", "25", "12.28"),
        ("megabytes_per_s = nan", "link.megabytes_per_s", "NaN", "0.01 to 53.248"),
        ("command_us = -1", "link.command_us", "-1", "0"),
        ("max_command = \"1KiB\"", "link.max_command", "1 KiB", "4 KiB"),
        ("protocol = \"single\"", "link.protocol", "single", "bulk-only or uas on usb-high"),
        ("bus = \"sd-sdr50\"\nprotocol = \"uas\"", "link.protocol", "uas", "single or command-queue"),
        ("queue_depth = 8", "link.queue_depth", "8", "bulk-only has no queue"),
        ("protocol = \"uas\"\nqueue_depth = 0", "link.queue_depth", "0", "1 to 256"),
        ("[link.card]\nbus = \"usb-high\"", "link.card.bus", "usb-high", "SD"),
        ("bus = \"sd-sdr50\"\n[link.card]\nbus = \"sd-sdr50\"", "link.card.bus", "sd-sdr50", "reader on USB"),
        ("[link.card]\nbus = \"sd-sdr50\"\nmegabytes_per_s = 50", "link.card.megabytes_per_s", "50", "49.13"),
        ("[link.card]\nbus = \"sd-sdr50\"\ncommand_us = -2", "link.card.command_us", "-2", "0"),
    ];
    for (link, expected_key, expected_value, bound) in cases {
        let Err(ProfileError::Impossible { key, value, allowed }) = fast(link) else {
            unreachable!("{link} was accepted")
        };
        assert_eq!((key, value.as_str()), (expected_key, expected_value));
        assert!(allowed.contains(bound), "{link}: {allowed}");
    }
    let unknown = fast("bus = \"usb-5\"").unwrap_err().to_string();
    assert!(unknown.contains("'usb-5' is not a bus") && unknown.contains("usb-super-5"), "{unknown}");
}
