//! Truth tests: the speeds that are measured are those of the virtual sticks, on every profile that comes
//! with flashscope.

use std::time::Duration;

use flashscope_device::layer::{Budget, Faulty, ReadOnly};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{
    ByteRange, Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt, Instant, Op, Pattern,
    Payload, Tag,
};
use flashscope_infer::streams::speed::{Speed, Unsettled, speed, speed_of};
use flashscope_measure::experiment::{Samples, Speed as Experiment, Sustained};
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::observation::{
    Data, Direction, Ended, Observations, Order, Refusal, SpeedCase, SpeedCell, SpeedData, StopReason,
};
use flashscope_sim::{Profile, VirtualStick};

fn case(direction: Direction, order: Order, request: Bytes, queue_depth: u32) -> SpeedCase {
    SpeedCase { direction, order, request, queue_depth }
}

fn experiment(cases: &[SpeedCase]) -> Experiment {
    Experiment { cases: cases.to_vec(), link: None, is_buffered: false, is_thorough: false, seed: 5 }
}

fn measured(device: &mut dyn Device, cases: &[SpeedCase], budget: &Budget) -> Observations {
    experiment(cases).measure(device, budget, &mut Silent)
}

fn measured_thoroughly(device: &mut dyn Device, cases: &[SpeedCase]) -> SpeedData {
    let thorough = Experiment { is_thorough: true, ..experiment(cases) };
    let Data::Speed(data) = thorough.measure(device, &Budget::UNLIMITED, &mut Silent).data else {
        panic!("speed saw something else")
    };
    data
}

fn cells(seen: Observations) -> Vec<SpeedCell> {
    let Data::Speed(data) = seen.data else { panic!("speed saw something else") };
    data.cells
}

fn one(device: &mut dyn Device, case: SpeedCase) -> (SpeedCell, Speed) {
    let cell = cells(measured(device, &[case], &Budget::UNLIMITED)).remove(0);
    let speed = speed(&cell, None).unwrap();
    (cell, speed)
}

/// The same requests in order on another stick of this profile: bytes per second of those behind the
/// start-up.
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
fn rows_of_large_requests_have_the_sticks_own_speed_on_every_profile() {
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
fn where_stalls_take_most_of_the_time_and_none_is_like_another_the_speed_is_still_the_one_that_lasts() {
    let profile = Profile::builtin("cheap-usb3-32g").unwrap();
    let case = case(Direction::Write, Order::Linear, Bytes::mib(1), 1);
    let truth = profile.sustained_write_per_s().as_f64();
    let seen: Vec<f64> =
        (1..9).map(|seed| one(&mut VirtualStick::new(&profile, seed), case).1.bytes_per_s).collect();
    assert!(seen.iter().all(|seen| is_near(*seen, truth)), "{seen:?} instead of {truth}");
}

#[test]
fn rows_of_small_writes_wait_for_the_stalls_that_a_row_of_large_ones_met() {
    let in_order = |request| case(Direction::Write, Order::Linear, request, 1);
    let cases = [Bytes::mib(1), Bytes::kib(64), Bytes::kib(4)].map(in_order);
    let mut wrong = Vec::new();
    for name in ["cheap-usb3-32g", "wirenboard-31"] {
        let profile = Profile::builtin(name).unwrap();
        let seen = measured(&mut VirtualStick::new(&profile, 3), &cases, &Budget::UNLIMITED);
        let Data::Speed(data) = &seen.data else { panic!("speed saw something else") };
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
fn a_row_of_small_writes_that_runs_alone_waits_for_the_stalls_itself() {
    let mut wrong = Vec::new();
    for name in ["cheap-usb3-32g", "samsung-fit-plus", "wirenboard-31"] {
        let profile = Profile::builtin(name).unwrap();
        let case = case(Direction::Write, Order::Linear, Bytes::kib(4), 1);
        let truth = |seed| truth(&profile, seed, case, Bytes::mib(64), Bytes::ZERO);
        let truth = (11..17).map(truth).sum::<f64>() / 6.0;
        for seed in 1..4 {
            let seen = measured(&mut VirtualStick::new(&profile, seed), &[case], &Budget::UNLIMITED);
            let Data::Speed(data) = &seen.data else { panic!("speed saw something else") };
            let speed = speed_of(data, &data.cells[0]).unwrap();
            let holds = speed.bytes_per_s_low * 0.99 <= truth && truth <= speed.bytes_per_s_high * 1.01;
            if !holds || (speed.bytes_per_s / truth - 1.0).abs() > 0.05 {
                wrong.push(format!("{name}, seed {seed}: {speed:?} instead of {truth}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The speed of this kind of request behind the usual rows that go before it, and what such a stick gives in
/// the later half of so many more.
fn beside_the_long_run(profile: &Profile, seed: u64, wanted: SpeedCase, requests: u64) -> (Speed, f64) {
    let usual = Experiment::usual_cases(Direction::Write);
    let until = usual.iter().position(|case| *case == wanted).unwrap();
    let seen = measured(&mut VirtualStick::new(profile, seed), &usual[..=until], &Budget::UNLIMITED);
    let Data::Speed(data) = &seen.data else { panic!("speed saw something else") };
    let speed = speed_of(data, &data.cells[until]).unwrap();
    let mut stick = VirtualStick::new(profile, seed + 100);
    measured(&mut stick, &usual[..=until], &Budget::UNLIMITED);
    (speed, long_run(&mut stick, wanted, requests))
}

/// What this stick gives in the later half of so many more requests of this kind.
fn long_run(stick: &mut VirtualStick, wanted: SpeedCase, requests: u64) -> f64 {
    let (start, mut began) = (Bytes::mib(32), stick.now());
    let places = (stick.capabilities().capacity - start) / wanted.request;
    for index in 0..requests {
        if index == requests / 2 {
            began = stick.now();
        }
        // In order from the middle on, or by a step that comes everywhere.
        let place = if wanted.order == Order::Linear { places / 2 + index } else { index * 7_368_787 };
        let range = ByteRange::new(start + wanted.request * (place % places), wanted.request);
        stick.run(Op::write(range, Pattern::new(1))).unwrap();
    }
    (wanted.request * (requests / 2)).as_f64() / stick.now().since(began).as_secs_f64()
}

#[test]
fn thorough_rows_meet_stalls_that_come_every_few_gibibytes_and_what_a_spent_cache_owes() {
    let write = |order, request| case(Direction::Write, order, request, 1);
    let (in_order, here_and_there) = (Order::Linear, Order::Random);
    // 90 s each 4 GiB; and a cache of 12.5 GiB that the first row spends, which halves the speed of the other
    // for as much again. A row here and there that none goes before spends it as well.
    for (name, cases) in [
        (
            "lexar-633x-16g",
            vec![
                (write(in_order, Bytes::mib(1)), 65_536),
                (write(in_order, Bytes::kib(64)), 262_144),
                (write(here_and_there, Bytes::mib(1)), 65_536),
            ],
        ),
        (
            "modern-ssd-stick-128g",
            vec![(write(in_order, Bytes::mib(1)), 24_000), (write(here_and_there, Bytes::mib(1)), 32_768)],
        ),
        ("modern-ssd-stick-128g", vec![(write(here_and_there, Bytes::mib(1)), 65_536)]),
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
fn a_thorough_row_in_order_that_goes_beyond_what_a_counterfeit_holds_is_no_speed() {
    let (first, second) = (Bytes::mib(1), Bytes::kib(64));
    let cases = [first, second].map(|request| case(Direction::Write, Order::Linear, request, 1));
    for (name, fault) in [
        ("counterfeit-128g-limbo", Some("limbo:real=15360MiB,cache=1MiB")),
        // What goes elsewhere is written all the same.
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
fn writes_go_on_until_they_have_met_what_the_long_run_holds() {
    let (in_order, here_and_there) = (Order::Linear, Order::Random);
    let rows = [
        // The first 32 MiB of this card are managed otherwise.
        ("wirenboard-08", in_order, Bytes::mib(1), 800),
        // A cache of 12.5 GiB.
        ("modern-ssd-stick-128g", in_order, Bytes::mib(1), 30_000),
        // Stalls come by what is written, in order or not.
        ("cheap-usb3-32g", here_and_there, Bytes::kib(64), 20_000),
        // The first write of the row is one that stalls.
        ("wirenboard-22", in_order, Bytes::kib(64), 8000),
        // One write in four begins a block, and takes eight times as long as those within.
        ("wirenboard-22", here_and_there, Bytes::mib(1), 8000),
    ];
    let mut wrong = Vec::new();
    for (name, order, request, requests) in rows {
        let profile = Profile::builtin(name).unwrap();
        for seed in 1..3 {
            let case = case(Direction::Write, order, request, 1);
            let (speed, truth) = beside_the_long_run(&profile, seed, case, requests);
            if !is_near(speed.bytes_per_s, truth) {
                wrong.push(format!("{name}, seed {seed}: {speed:?} instead of {truth}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn writes_that_become_faster_go_on_until_they_no_longer_do_and_those_that_may_say_so() {
    let profile = Profile::builtin("modern-ssd-stick-128g").unwrap();
    let of = |request, requests| {
        let case = case(Direction::Write, Order::Random, request, 1);
        beside_the_long_run(&profile, 3, case, requests)
    };
    // Behind the first row, which spends a cache of 12.5 GiB, this one is at half of what it comes to over
    // tens of gigabytes.
    let (large, truth) = of(Bytes::mib(1), 24_000);
    assert!(matches!(large.unsettled, Some(Unsettled::BehindCache(cache)) if cache > Bytes::gib(12)));
    assert!(large.bytes_per_s < truth * 0.7, "{large:?} instead of {truth}");
    // At a sixth when it begins.
    for (request, requests) in [(Bytes::kib(64), 120_000), (Bytes::kib(4), 60_000)] {
        let (small, truth) = of(request, requests);
        assert!(is_near(small.bytes_per_s, truth), "{small:?} instead of {truth}");
        assert_eq!(small.unsettled, None);
    }
}

#[test]
fn a_row_that_has_just_become_slow_goes_on_until_it_tells_how_slow() {
    let profile = Profile::builtin("a1-card-64g").unwrap();
    // Behind the blocks that take writes out of order each write costs a merge.
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
fn rows_of_large_writes_here_and_there_go_on_until_their_mean_is_known() {
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
            let place = Bytes::mib(16 + index * 40_503 % (profile.capacity / Bytes::mib(1) - 16));
            stick.run(Op::write(ByteRange::new(place, Bytes::mib(1)), Pattern::new(1))).unwrap();
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
fn writes_that_were_dropped_are_no_speed() {
    let usual = Experiment::usual_cases(Direction::Write);
    for (name, fault) in [
        ("counterfeit-128g-limbo", Some("limbo:real=15360MiB,cache=1MiB")),
        ("counterfeit-128g-limbo", None),
        ("counterfeit-64g-wrap", Some("wrap:real=7680MiB")),
        ("generic-2g", None),
    ] {
        let stick = VirtualStick::new(&Profile::builtin(name).unwrap(), 3);
        let faults: Vec<_> = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        let seen = measured(&mut Faulty::new(stick, &faults, 3).unwrap(), &usual, &Budget::UNLIMITED);
        let Data::Speed(data) = &seen.data else { panic!("speed saw something else") };
        let is_dropped = fault.is_some_and(|fault| fault.starts_with("limbo"));
        for cell in &data.cells {
            let cached = speed_of(data, cell).unwrap().cached;
            assert_eq!(
                cached.is_some(),
                is_dropped && cell.case.order == Order::Random,
                "{name} {fault:?}: {cached:?}"
            );
            assert_eq!(cell.read_back.places, if cell.case.order == Order::Random { 16 } else { 0 });
        }
    }
}

#[test]
fn a_row_says_what_was_written_before_it() {
    let mut stick = VirtualStick::new(&Profile::builtin("generic-2g").unwrap(), 3);
    let seen = measured(&mut stick, &Experiment::usual_cases(Direction::Write), &Budget::UNLIMITED);
    let Data::Speed(data) = &seen.data else { panic!("speed saw something else") };
    let mut before = Bytes::ZERO;
    for cell in &data.cells {
        let speed = speed_of(data, cell).unwrap();
        let startup = speed.startup.map_or(Bytes::ZERO, |startup| startup.bytes);
        assert_eq!(speed.written, Some((before + startup, before + cell.transferred())));
        before += cell.transferred();
    }
}

#[test]
fn requests_here_and_there_and_in_flight_are_as_many_as_asked_for() {
    let profile = Profile::builtin("samsung-fit-plus").unwrap();
    let small = |depth| case(Direction::Read, Order::Random, Bytes::kib(4), depth);
    let (one_by_one, alone) = one(&mut VirtualStick::new(&profile, 3), small(1));
    let (several, together) = one(&mut VirtualStick::new(&profile, 3), small(8));
    // One at a time, nothing lies between one request and the next.
    let summed: u64 = one_by_one.took_ns.iter().sum();
    assert!(is_near(summed as f64, *one_by_one.ended_ns.last().unwrap() as f64));
    // Little's law: as many in flight as were asked for.
    let in_flight = several.took_ns.iter().sum::<u64>() as f64 / *several.ended_ns.last().unwrap() as f64;
    assert!((7.5..=8.0).contains(&in_flight), "{in_flight}");
    assert!(together.requests_per_s() >= alone.requests_per_s() * 0.97);
}

#[test]
fn a_budget_ends_a_row_with_what_was_seen_and_nothing_left_in_flight() {
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
fn a_read_only_device_is_not_written_and_a_tiny_one_not_used() {
    let write = case(Direction::Write, Order::Linear, Bytes::mib(1), 1);
    let stick = VirtualStick::new(&Profile::builtin("generic-2g").unwrap(), 3);
    let seen = measured(&mut ReadOnly::new(stick), &[write], &Budget::UNLIMITED);
    assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::ReadOnly, .. }));
    let mut tiny = MemoryDevice::new(Bytes::mib(1));
    let seen = measured(&mut tiny, &[write], &Budget::UNLIMITED);
    assert!(matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. }));
    // What does not fit is left out, and does not take the others with it.
    let small = case(Direction::Write, Order::Linear, Bytes::kib(64), 1);
    let seen = measured(&mut tiny, &[write, small], &Budget::UNLIMITED);
    assert_eq!((seen.ended.clone(), cells(seen).len()), (Ended::Complete, 1));
}

#[test]
fn same_seed_same_requests() {
    let profile = Profile::builtin("generic-2g").unwrap();
    let run = || {
        let cases = Experiment::usual_cases(Direction::Read);
        cells(measured(&mut VirtualStick::new(&profile, 3), &cases, &Budget::UNLIMITED))
    };
    assert_eq!(run(), run());
}

/// Notes of every write whether its data is the pattern.
struct Noting {
    device: MemoryDevice,
    patterns: u64,
    others: u64,
}

impl Device for Noting {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        match &op {
            Op::Write { payload: Payload::Pattern(_), .. } => self.patterns += 1,
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
fn zeros_and_repeated_data_are_never_used_to_measure() {
    let mut device = Noting { device: MemoryDevice::new(Bytes::mib(64)), patterns: 0, others: 0 };
    measured(&mut device, &Experiment::usual_cases(Direction::Write), &Budget::UNLIMITED);
    Samples { count: 12, size: Bytes::mib(1), seed: 1 }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
    Sustained { seed: 1, is_thorough: true }.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
    assert!(
        device.patterns > 100 && device.others == 0,
        "{} patterns, {} others",
        device.patterns,
        device.others
    );
    let blank =
        device.device.contents().chunks(4096).filter(|block| block.iter().all(|byte| *byte == 0)).count();
    assert!(blank < 16 * 256, "what was written is there: {blank} blocks are still zeros");
}

/// Every request takes so long.
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
fn no_row_takes_longer_than_was_said_beforehand_however_slow_the_device() {
    for (direction, order, request) in [
        (Direction::Read, Order::Random, Bytes::kib(4)),
        (Direction::Write, Order::Random, Bytes::mib(1)),
        (Direction::Write, Order::Linear, Bytes::mib(1)),
    ] {
        for millis in [1, 700, 4000, 30_000, 200_000] {
            let each = Duration::from_millis(millis);
            let mut device = Slow(MemoryDevice::new(Bytes::mib(512)), each);
            for is_thorough in [false, true] {
                let experiment =
                    Experiment { is_thorough, ..experiment(&[case(direction, order, request, 1)]) };
                let began = device.now();
                experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
                let took = device.now().since(began);
                // Places are looked at before reads, a flush comes behind writes, some are read back, and one
                // request is in flight at the end.
                let most = experiment.time_max() + each * 20;
                assert!(took <= most, "{direction:?} {order:?} at {each:?}: {took:?} of {most:?}");
            }
        }
    }
}
