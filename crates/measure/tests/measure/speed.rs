//! Truth tests of *speed*: measured speeds are those of the virtual sticks, on every built-in profile.

use std::time::Duration;

use flashscope_device::layer::journal::{JournalMedium, JournalStart, Journaled, MemoryStore};
use flashscope_device::layer::{Budget, Faulty, ReadOnly};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, Instant, Op, Pattern,
    Payload, ReadInto, Success, Tag,
};
use flashscope_infer::streams::speed::{Speed, Unsettled, speed, speed_of};
use flashscope_measure::experiment::{Samples, Speed as Experiment, Sustained};
use flashscope_measure::{Experiment as _, Extent, Silent};
use flashscope_record::observation::{
    Data, Direction, Ended, Observations, Order, ReadBack, Refusal, SpeedCase, SpeedCell, SpeedData,
    StopReason,
};
use flashscope_sim::{Profile, VirtualStick};

fn case(direction: Direction, order: Order, request: Bytes, queue_depth: u32) -> SpeedCase {
    SpeedCase { direction, order, request, queue_depth }
}

fn experiment(cases: &[SpeedCase]) -> Experiment {
    Experiment { cases: cases.to_vec(), link: None, is_buffered: false, extent: Extent::Usual, seed: 5 }
}

fn measured(device: &mut dyn Device, cases: &[SpeedCase], budget: &Budget) -> Observations {
    experiment(cases).measure(device, budget, &mut Silent)
}

fn measured_thoroughly(device: &mut dyn Device, cases: &[SpeedCase]) -> SpeedData {
    let thorough = Experiment { extent: Extent::Thorough, ..experiment(cases) };
    let Data::Speed(data) = thorough.measure(device, &Budget::UNLIMITED, &mut Silent).data else {
        panic!("not data of speed")
    };
    data
}

fn cells(seen: Observations) -> Vec<SpeedCell> {
    let Data::Speed(data) = seen.data else { panic!("not data of speed") };
    data.cells
}

fn one(device: &mut dyn Device, case: SpeedCase) -> (SpeedCell, Speed) {
    let cell = cells(measured(device, &[case], &Budget::UNLIMITED)).remove(0);
    let speed = speed(&cell, None).unwrap();
    (cell, speed)
}

/// The throughput of the same sequential requests on another stick of this profile, without the warm-up,
/// bytes per second.
fn truth(profile: &Profile, seed: u64, case: SpeedCase, bytes: Bytes, startup: Bytes) -> f64 {
    let mut stick = VirtualStick::new(profile, seed);
    let start = Bytes::mib(32);
    let room = (profile.capacity - start).round_down(case.request);
    let mut began = stick.now();
    for index in 0..bytes / case.request {
        if case.request * index == startup {
            began = stick.now();
        }
        let offset = start + Bytes::new((case.request * index).get() % room.get());
        let range = ByteRange::new(offset, case.request);
        let op = match case.direction {
            Direction::Read => Op::read(range),
            Direction::Write => Op::write(range, Pattern::new(1)),
        };
        stick.run(op).unwrap();
    }
    (bytes - startup).as_f64() / stick.now().since(began).as_secs_f64()
}

fn is_near(value: f64, truth: f64) -> bool {
    (value / truth - 1.0).abs() < 0.03
}

#[test]
fn large_request_rows_have_the_true_speed_on_every_profile() {
    let mut wrong = Vec::new();
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap();
        for direction in [Direction::Read, Direction::Write] {
            let case = case(direction, Order::Linear, Bytes::mib(1), 1);
            let (cell, speed) = one(&mut VirtualStick::new(&profile, 3), case);
            let startup = speed.startup.map_or(Bytes::ZERO, |startup| startup.bytes);
            let truth =
                (11..17).map(|seed| truth(&profile, seed, case, cell.transferred(), startup)).sum::<f64>()
                    / 6.0;
            if !is_near(speed.bytes_per_s, truth) {
                wrong.push(format!(
                    "{name} {}: {} instead of {truth}",
                    direction.as_str(),
                    speed.bytes_per_s
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn speed_is_sustained_with_long_irregular_stalls() {
    let profile = Profile::builtin("cheap-usb3-32g").unwrap();
    let case = case(Direction::Write, Order::Linear, Bytes::mib(1), 1);
    let truth = profile.sustained_write_per_s().as_f64();
    let seen: Vec<f64> =
        (1..9).map(|seed| one(&mut VirtualStick::new(&profile, seed), case).1.bytes_per_s).collect();
    assert!(seen.iter().all(|seen| is_near(*seen, truth)), "{seen:?} instead of {truth}");
}

#[test]
fn small_write_rows_wait_for_stalls_met_by_large_writes() {
    let sequential = |request| case(Direction::Write, Order::Linear, request, 1);
    let cases = [Bytes::mib(1), Bytes::kib(64), Bytes::kib(4)].map(sequential);
    let mut wrong = Vec::new();
    for name in ["cheap-usb3-32g", "wirenboard-31"] {
        let profile = Profile::builtin(name).unwrap();
        let seen = measured(&mut VirtualStick::new(&profile, 3), &cases, &Budget::UNLIMITED);
        let Data::Speed(data) = &seen.data else { panic!("not data of speed") };
        for cell in &data.cells[1..] {
            let speed = speed_of(data, cell).unwrap();
            let truth = (11..17)
                .map(|seed| truth(&profile, seed, cell.case, Bytes::mib(64), Bytes::ZERO))
                .sum::<f64>()
                / 6.0;
            let holds = speed.bytes_per_s_low * 0.99 <= truth && truth <= speed.bytes_per_s_high * 1.01;
            if !holds || (speed.bytes_per_s / truth - 1.0).abs() > 0.05 {
                wrong.push(format!("{name} {}: {speed:?} instead of {truth}", cell.case.request));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lone_small_write_row_waits_for_stalls() {
    let mut wrong = Vec::new();
    for name in ["cheap-usb3-32g", "samsung-fit-plus", "wirenboard-31"] {
        let profile = Profile::builtin(name).unwrap();
        let case = case(Direction::Write, Order::Linear, Bytes::kib(4), 1);
        let truth = |seed| truth(&profile, seed, case, Bytes::mib(64), Bytes::ZERO);
        let truth = (11..17).map(truth).sum::<f64>() / 6.0;
        for seed in 1..4 {
            let seen = measured(&mut VirtualStick::new(&profile, seed), &[case], &Budget::UNLIMITED);
            let Data::Speed(data) = &seen.data else { panic!("not data of speed") };
            let speed = speed_of(data, &data.cells[0]).unwrap();
            let holds = speed.bytes_per_s_low * 0.99 <= truth && truth <= speed.bytes_per_s_high * 1.01;
            if !holds || (speed.bytes_per_s / truth - 1.0).abs() > 0.05 {
                wrong.push(format!("{name}, seed {seed}: {speed:?} instead of {truth}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The speed of this kind of request after the usual rows before it, and the throughput of such a stick in
/// the later half of
/// `requests` more.
fn speed_and_long_run(profile: &Profile, seed: u64, wanted: SpeedCase, requests: u64) -> (Speed, f64) {
    let usual = Experiment::default_cases(Direction::Write);
    let until = usual.iter().position(|case| *case == wanted).unwrap();
    let seen = measured(&mut VirtualStick::new(profile, seed), &usual[..=until], &Budget::UNLIMITED);
    let Data::Speed(data) = &seen.data else { panic!("not data of speed") };
    let speed = speed_of(data, &data.cells[until]).unwrap();
    let mut stick = VirtualStick::new(profile, seed + 100);
    measured(&mut stick, &usual[..=until], &Budget::UNLIMITED);
    (speed, long_run(&mut stick, wanted, requests))
}

/// The throughput of this stick in the later half of `requests` more requests of this kind.
fn long_run(stick: &mut VirtualStick, wanted: SpeedCase, requests: u64) -> f64 {
    let (start, mut began) = (Bytes::mib(32), stick.now());
    let positions = (stick.capabilities().capacity - start) / wanted.request;
    for index in 0..requests {
        if index == requests / 2 {
            began = stick.now();
        }
        // Sequentially from the middle on, or by a step that reaches every position.
        let position = if wanted.order == Order::Linear { positions / 2 + index } else { index * 7_368_787 };
        let range = ByteRange::new(start + wanted.request * (position % positions), wanted.request);
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    (wanted.request * (requests / 2)).as_f64() / stick.now().since(began).as_secs_f64()
}

#[test]
fn thorough_rows_meet_rare_stalls_and_the_cost_of_an_exhausted_cache() {
    let write = |order, request| case(Direction::Write, order, request, 1);
    let (sequential, random) = (Order::Linear, Order::Random);
    // Stalls of 90 s every 4 GiB; and a cache of 12.5 GiB that the first row exhausts, which halves the speed
    // of the next one for as many bytes. A first random row exhausts it, too.
    for (name, cases) in [
        (
            "lexar-633x-16g",
            vec![
                (write(sequential, Bytes::mib(1)), 65_536),
                (write(sequential, Bytes::kib(64)), 262_144),
                (write(random, Bytes::mib(1)), 65_536),
            ],
        ),
        (
            "modern-ssd-stick-128g",
            vec![(write(sequential, Bytes::mib(1)), 24_000), (write(random, Bytes::mib(1)), 32_768)],
        ),
        ("modern-ssd-stick-128g", vec![(write(random, Bytes::mib(1)), 65_536)]),
    ] {
        let profile = Profile::builtin(name).unwrap();
        let all: Vec<SpeedCase> = cases.iter().map(|(case, _)| *case).collect();
        let data = measured_thoroughly(&mut VirtualStick::new(&profile, 3), &all);
        for (index, (cell, (case, requests))) in data.cells.iter().zip(cases).enumerate() {
            let mut stick = VirtualStick::new(&profile, 103);
            measured_thoroughly(&mut stick, &all[..=index]);
            let (speed, truth) = (speed_of(&data, cell).unwrap(), long_run(&mut stick, case, requests));
            assert!(is_near(speed.bytes_per_s, truth), "{name}: {speed:?} instead of {truth}");
            assert_eq!(speed.unsettled, None, "{name}");
        }
    }
}

#[test]
fn thorough_row_beyond_the_true_capacity_is_no_speed() {
    let (first, second) = (Bytes::mib(1), Bytes::kib(64));
    let cases = [first, second].map(|request| case(Direction::Write, Order::Linear, request, 1));
    for (name, fault) in [
        ("counterfeit-128g-limbo", Some("limbo:real=15360MiB,cache=1MiB")),
        // Data that wraps around is written all the same.
        ("counterfeit-64g-wrap", Some("wrap:real=7680MiB")),
        ("patriot-fitted", None),
    ] {
        let stick = VirtualStick::new(&Profile::builtin(name).unwrap(), 3);
        let faults: Vec<_> = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let data = measured_thoroughly(&mut Faulty::new(stick, &faults, 3).unwrap(), &cases);
        for cell in &data.cells {
            let cached = speed_of(&data, cell).unwrap().cached;
            assert_eq!(cached.is_some(), name == "counterfeit-128g-limbo", "{name}: {cached:?}");
            assert!((16..=32).contains(&cell.read_back.places), "{:?}", cell.read_back);
        }
    }
}

#[test]
fn writes_continue_until_their_speed_is_sustained() {
    let (sequential, random) = (Order::Linear, Order::Random);
    let rows = [
        // The first 32 MiB of this card are managed otherwise.
        ("wirenboard-08", sequential, Bytes::mib(1), 800),
        // A cache of 12.5 GiB.
        ("modern-ssd-stick-128g", sequential, Bytes::mib(1), 30_000),
        // Stalls depend on the bytes written, sequential or random.
        ("cheap-usb3-32g", random, Bytes::kib(64), 20_000),
        // The first write of the row is one that stalls.
        ("wirenboard-22", sequential, Bytes::kib(64), 8000),
        // One write in four opens a block, and takes eight times as long as the others.
        ("wirenboard-22", random, Bytes::mib(1), 8000),
    ];
    let mut wrong = Vec::new();
    for (name, order, request, requests) in rows {
        let profile = Profile::builtin(name).unwrap();
        for seed in 1..3 {
            let case = case(Direction::Write, order, request, 1);
            let (speed, truth) = speed_and_long_run(&profile, seed, case, requests);
            if !is_near(speed.bytes_per_s, truth) {
                wrong.push(format!("{name}, seed {seed}: {speed:?} instead of {truth}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn accelerating_writes_continue_or_are_marked_unsettled() {
    let profile = Profile::builtin("modern-ssd-stick-128g").unwrap();
    let of = |request, requests| {
        let case = case(Direction::Write, Order::Random, request, 1);
        speed_and_long_run(&profile, 3, case, requests)
    };
    // After the first row, which exhausts a cache of 12.5 GiB, this one runs at half of its speed over tens
    // of gigabytes.
    let (large, truth) = of(Bytes::mib(1), 24_000);
    assert!(matches!(large.unsettled, Some(Unsettled::AfterExhaustedCache(cache)) if cache > Bytes::gib(12)));
    assert!(large.bytes_per_s < truth * 0.7, "{large:?} instead of {truth}");
    // Small writes start at a sixth of it.
    let (small, truth) = of(Bytes::kib(4), 60_000);
    assert!(is_near(small.bytes_per_s, truth), "{small:?} instead of {truth}");
    assert_eq!(small.unsettled, None);
}

#[test]
fn row_after_a_slow_down_continues_until_its_speed_is_known() {
    let profile = Profile::builtin("a1-card-64g").unwrap();
    // Once all blocks for random writes are open, each write costs a merge.
    let mut stick = VirtualStick::new(&profile, 11);
    let mut began = stick.now();
    for index in 0..200 {
        if index == 100 {
            began = stick.now();
        }
        let range = ByteRange::new(Bytes::mib(16 + index * 40_503 % 60_000), Bytes::mib(1));
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    let truth = Bytes::mib(100).as_f64() / stick.now().since(began).as_secs_f64();
    for seed in 1..4 {
        let case = case(Direction::Write, Order::Random, Bytes::mib(1), 1);
        let (_, speed) = one(&mut VirtualStick::new(&profile, seed), case);
        assert!(speed.startup.is_some() && is_near(speed.bytes_per_s, truth), "{speed:?} instead of {truth}");
    }
}

#[test]
fn large_random_write_rows_continue_until_their_mean_is_known() {
    let case = case(Direction::Write, Order::Random, Bytes::mib(1), 1);
    let mut wrong = Vec::new();
    for name in ["transcend-8g", "patriot-xt-16g", "wirenboard-18"] {
        let profile = Profile::builtin(name).unwrap();
        let mut stick = VirtualStick::new(&profile, 11);
        let mut began = stick.now();
        for index in 0..2000 {
            if index == 500 {
                began = stick.now();
            }
            let offset = Bytes::mib(16 + index * 40_503 % (profile.capacity / Bytes::mib(1) - 16));
            stick.run(Op::write(ByteRange::new(offset, Bytes::mib(1)), Pattern::new(1))).unwrap();
        }
        let truth = Bytes::mib(1500).as_f64() / stick.now().since(began).as_secs_f64();
        let (_, speed) = one(&mut VirtualStick::new(&profile, 1), case);
        if !is_near(speed.bytes_per_s, truth) {
            wrong.push(format!("{name}: {speed:?} instead of {truth}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dropped_writes_are_no_speed() {
    let usual = Experiment::default_cases(Direction::Write);
    for (name, fault) in [
        ("counterfeit-128g-limbo", Some("limbo:real=15360MiB,cache=1MiB")),
        ("counterfeit-128g-limbo", None),
        ("counterfeit-64g-wrap", Some("wrap:real=7680MiB")),
        ("generic-2g", None),
    ] {
        let stick = VirtualStick::new(&Profile::builtin(name).unwrap(), 3);
        let faults: Vec<_> = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let seen = measured(&mut Faulty::new(stick, &faults, 3).unwrap(), &usual, &Budget::UNLIMITED);
        let Data::Speed(data) = &seen.data else { panic!("not data of speed") };
        let is_dropped = fault.is_some_and(|fault| fault.starts_with("limbo"));
        for cell in &data.cells {
            let cached = speed_of(data, cell).unwrap().cached;
            assert_eq!(
                cached.is_some(),
                is_dropped && cell.case.order == Order::Random,
                "{name} {fault:?}: {cached:?}"
            );
            let least = if cell.case.order == Order::Random { 16 } else { 8 };
            assert!((least..=32).contains(&cell.read_back.places), "{name}: {:?}", cell.read_back);
            assert!(
                cell.case.order == Order::Random || cell.read_back.lost == 0,
                "{name}: {:?}",
                cell.read_back
            );
        }
    }
}

#[test]
fn row_reports_the_bytes_written_before_it() {
    let mut stick = VirtualStick::new(&Profile::builtin("generic-2g").unwrap(), 3);
    let seen = measured(&mut stick, &Experiment::default_cases(Direction::Write), &Budget::UNLIMITED);
    let Data::Speed(data) = &seen.data else { panic!("not data of speed") };
    let mut before = Bytes::ZERO;
    for cell in &data.cells {
        let speed = speed_of(data, cell).unwrap();
        let startup = speed.startup.map_or(Bytes::ZERO, |startup| startup.bytes);
        assert_eq!(speed.written, Some((before + startup, before + cell.transferred())));
        before += cell.transferred();
    }
}

#[test]
fn random_requests_keep_their_queue_depth() {
    let profile = Profile::builtin("samsung-fit-plus").unwrap();
    let small = |depth| case(Direction::Read, Order::Random, Bytes::kib(4), depth);
    let (one_by_one, alone) = one(&mut VirtualStick::new(&profile, 3), small(1));
    let (several, together) = one(&mut VirtualStick::new(&profile, 3), small(8));
    // One at a time, no time passes between two requests.
    let summed: u64 = one_by_one.took_ns.iter().sum();
    assert!(is_near(summed as f64, *one_by_one.ended_ns.last().unwrap() as f64));
    // Little's law: the mean number in flight is the queue depth.
    let in_flight = several.took_ns.iter().sum::<u64>() as f64 / *several.ended_ns.last().unwrap() as f64;
    assert!((7.5..=8.0).contains(&in_flight), "{in_flight}");
    assert!(together.requests_per_s() >= alone.requests_per_s() * 0.97);
}

#[test]
fn budget_ends_a_row_and_leaves_nothing_in_flight() {
    let mut stick = VirtualStick::new(&Profile::builtin("generic-2g").unwrap(), 3);
    let budget = Budget { bytes_written: Some(Bytes::mib(1)), ..Budget::UNLIMITED };
    let seen = measured(&mut stick, &[case(Direction::Write, Order::Random, Bytes::kib(64), 4)], &budget);
    assert!(
        matches!(&seen.ended, Ended::Early { reason: StopReason::Budget { .. }, .. }),
        "{:?}",
        seen.ended
    );
    assert_eq!(cells(seen)[0].transferred(), Bytes::mib(1));
    assert!(stick.wait().unwrap().is_none());
}

#[test]
fn read_only_and_tiny_devices_are_refused() {
    let write = case(Direction::Write, Order::Linear, Bytes::mib(1), 1);
    let stick = VirtualStick::new(&Profile::builtin("generic-2g").unwrap(), 3);
    let seen = measured(&mut ReadOnly::new(stick), &[write], &Budget::UNLIMITED);
    assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::ReadOnly, .. }));
    let mut tiny = MemoryDevice::new(Bytes::mib(1));
    let seen = measured(&mut tiny, &[write], &Budget::UNLIMITED);
    assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    // Requests that do not fit are left out, and the others measured.
    let small = case(Direction::Write, Order::Linear, Bytes::kib(64), 1);
    let seen = measured(&mut tiny, &[write, small], &Budget::UNLIMITED);
    assert_eq!((seen.ended.clone(), cells(seen).len()), (Ended::Complete, 1));
}

#[test]
fn same_seed_same_requests() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let run = || {
        let cases = Experiment::default_cases(Direction::Read);
        cells(measured(&mut VirtualStick::new(&profile, 3), &cases, &Budget::UNLIMITED))
    };
    assert_eq!(run(), run());
}

#[test]
fn full_queue_of_large_requests_does_not_exceed_the_time() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let large = case(Direction::Read, Order::Random, Bytes::mib(64), 32);
    let time = |budget: &Budget| {
        let mut stick = VirtualStick::new(&profile, 3);
        let started = stick.now();
        let seen = cells(measured(&mut stick, &[large], budget));
        assert!(!seen.is_empty());
        stick.now().since(started)
    };
    // Two requests: the first that is timed, and the one that shows that the time is over.
    let few = Budget { device_time: Some(Duration::from_secs(5)), ..Budget::UNLIMITED };
    assert!(time(&few) < Duration::from_secs(9), "{:?}", time(&few));
    assert!(time(&Budget::UNLIMITED) < Duration::from_secs(80), "{:?}", time(&Budget::UNLIMITED));
}

/// Counts the writes of the data pattern, and all others.
struct PatternCounter {
    device: MemoryDevice,
    patterns: u64,
    others: u64,
}

impl Device for PatternCounter {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        match &op {
            Op::Write { payload: Payload::Pattern { .. }, .. } => self.patterns += 1,
            Op::Write { .. } => self.others += 1,
            _ => {}
        }
        self.device.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.device.wait()
    }
}

#[test]
fn zeros_and_repeated_data_are_never_written() {
    let mut device = PatternCounter { device: MemoryDevice::new(Bytes::mib(64)), patterns: 0, others: 0 };
    measured(&mut device, &Experiment::default_cases(Direction::Write), &Budget::UNLIMITED);
    Samples { count: 12, size: Bytes::mib(1), seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
    Sustained { seed: 1, extent: Extent::Thorough, device_capacity: None }.measure(
        &mut device,
        &Budget::UNLIMITED,
        &mut Silent,
    );
    assert!(
        device.patterns > 100 && device.others == 0,
        "{} patterns, {} others",
        device.patterns,
        device.others
    );
    let blank =
        device.device.contents().chunks(4096).filter(|block| block.iter().all(|byte| *byte == 0)).count();
    assert!(blank < 16 * 256, "{blank} blocks are still zeros");
}

/// Under a journal only samples are test data. What is read back must be among them, also where later writes
/// overwrite it. The stream writes this small device four times, so its samples lie close together.
#[test]
fn written_data_reads_back_under_a_journal_and_the_rest_is_the_old_data() {
    let mut device = MemoryDevice::new(Bytes::mib(64));
    let whole = device.capabilities().whole();
    device.run(Op::write(whole, Pattern::new(77))).unwrap().outcome.unwrap();
    let medium = JournalMedium {
        capacity: whole.length,
        logical_block: device.capabilities().logical_block,
        ..JournalMedium::default()
    };
    let start = JournalStart { medium, ..JournalStart::default() };
    let mut journaled = Journaled::start(&mut device, MemoryStore::default(), start).unwrap();
    let unlimited = &Budget::UNLIMITED;
    let rows = cells(measured(&mut journaled, &Experiment::default_cases(Direction::Write), unlimited));
    let stream = Sustained { seed: 1, extent: Extent::Thorough, device_capacity: None };
    let samples = Samples { count: 12, size: Bytes::mib(1), seed: 1 };
    let mut all: Vec<ReadBack> = rows.iter().map(|cell| cell.read_back).collect();
    for seen in [
        stream.measure(&mut journaled, unlimited, &mut Silent),
        samples.measure(&mut journaled, unlimited, &mut Silent),
    ] {
        let Data::Sustained(data) = seen.data else { panic!("no stream") };
        all.push(data.read_back);
    }
    assert!(all.iter().all(|read_back| read_back.places > 0 && read_back.lost == 0), "{all:?}");
    let restored = journaled.restore().unwrap();
    assert!(restored.written < restored.bytes, "{restored:?}");
    drop(journaled);
    let read = device.run(Op::Read { range: whole, into: ReadInto::Check(Pattern::new(77)) }).unwrap();
    assert_eq!(read.outcome, Ok(Success::AllRight));
}

/// Every request takes this much longer.
#[derive(Debug)]
struct Slow(MemoryDevice, Duration);

impl Device for Slow {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn now(&self) -> Instant {
        self.0.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.0.submit(tag, Op::Pause { duration: self.1 })?;
        self.0.wait()?;
        self.0.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        self.0.wait()
    }
}

#[test]
fn time_max_bounds_every_row_on_slow_devices() {
    for (direction, order, request) in [
        (Direction::Read, Order::Random, Bytes::kib(4)),
        (Direction::Write, Order::Random, Bytes::mib(1)),
        (Direction::Write, Order::Linear, Bytes::mib(1)),
    ] {
        for millis in [1, 700, 4000, 30_000, 200_000] {
            let each = Duration::from_millis(millis);
            let mut device = Slow(MemoryDevice::new(Bytes::mib(512)), each);
            for is_thorough in [false, true] {
                let experiment = Experiment {
                    extent: Extent::thorough_if(is_thorough),
                    ..experiment(&[case(direction, order, request, 1)])
                };
                let started = device.now();
                experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
                let lasted = device.now().since(started);
                // Some offsets are read before reads, a flush follows writes, some are read back, and one
                // request is in flight at the end.
                let most = experiment.time_max() + each * 20;
                assert!(lasted <= most, "{direction:?} {order:?} at {each:?}: {lasted:?} of {most:?}");
            }
        }
    }
}
