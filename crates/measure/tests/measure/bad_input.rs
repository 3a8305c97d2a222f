//! Every experiment on devices and budgets that cannot decide: findings are unknown with a reason, data is
//! kept, and no finding is wrong.

use std::collections::VecDeque;
use std::time::Duration;

use flashscope_device::layer::{Budget, Cost, Faulty, Meter};
use flashscope_device::{
    Bytes, Capabilities, Completion, Device, DeviceError, Instant, Op, SECTOR, Success, Tag,
};
use flashscope_infer::infer;
use flashscope_infer::streams::speed::speed_of;
use flashscope_measure::experiment::{
    Align, BlockEnds, FatArea, OpenUnits, Speed, Sustained, WriteBuffer, WriteSize,
};
use flashscope_measure::{Event, Experiment, Extent, Observer, Silent};
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::{Finding, FindingId, Outcome, Quantity, Reason, Value, WouldDecide};
use flashscope_record::observation::{Cause, Data, Direction, Ended, Merges, Observations, StopReason};
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

/// The experiments, for a device with this erase block that keeps two blocks open.
fn experiments(erase_block: Bytes) -> [Box<dyn Experiment>; 7] {
    let (request, seed) = (Some(Bytes::kib(32)), 1);
    let merges = Merges { every_switch: 1.0, takes: None, is_one_run: false, too_many: Some(3) };
    [
        Box::new(Align::new(None, seed)),
        Box::new(WriteSize { erase_block, erase_block_is_known: true, seed }),
        Box::new(BlockEnds::new(None, Vec::new(), seed)),
        Box::new(OpenUnits::new(erase_block, request, seed)),
        Box::new(FatArea::new(erase_block, request, Some(merges), seed)),
        Box::new(Sustained { seed, extent: Extent::Usual, device_capacity: None }),
        Box::new(WriteBuffer { seed }),
    ]
}

/// A device whose n-th request takes the seconds that a function gives, whatever the request.
struct Timed {
    capabilities: Capabilities,
    seconds: fn(f64) -> f64,
    requests: f64,
    now: Instant,
    in_flight: VecDeque<(Tag, Instant, Op)>,
}

impl Timed {
    fn new(capacity: Bytes, seconds: fn(f64) -> f64) -> Self {
        let capabilities = Capabilities {
            capacity,
            logical_block: SECTOR,
            physical_block: SECTOR,
            max_request: Bytes::mib(1),
            queue_depth: 1,
            writable: true,
            discard: false,
        };
        Self { capabilities, seconds, requests: 0.0, now: Instant::ZERO, in_flight: VecDeque::new() }
    }
}

impl Device for Timed {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        self.in_flight.push_back((tag, self.now, op));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let Some((tag, submitted_at, op)) = self.in_flight.pop_front() else { return Ok(None) };
        self.requests += 1.0;
        self.now += Duration::from_secs_f64((self.seconds)(self.requests));
        let outcome = self.capabilities.admit(&op).map(|()| Success::Done);
        Ok(Some(Completion::new(tag, (submitted_at, self.now), outcome, op.into_buffer())))
    }
}

/// The findings. Every unknown one has a reason, and says what would decide it.
fn found(seen: &Observations) -> Vec<(FindingId, Value)> {
    let value_of = |finding: &Finding| match &finding.outcome {
        Outcome::Found { value, .. } => Some((finding.id, *value)),
        Outcome::Unknown { reason, would_decide } => {
            assert!(!would_decide.is_empty(), "{}: {reason:?}", finding.id);
            None
        }
    };
    infer(std::slice::from_ref(seen)).iter().filter_map(value_of).collect()
}

/// Asserts that each experiment has only these findings on such a device.
fn assert_finds_only(allowed: &[FindingId], capacity: Bytes, seconds: fn(f64) -> f64) {
    for experiment in experiments(Bytes::mib(4)) {
        let mut device = Timed::new(capacity, seconds);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        for (id, value) in found(&seen) {
            assert!(allowed.contains(&id), "{} on {capacity}: {id} = {value:?}", experiment.name());
        }
    }
}

/// Equal latencies are true of this device: reads without boundaries, writes without cache or buffer.
#[test]
fn device_with_equal_latencies_has_no_geometry() {
    let even = [
        FindingId::ReadBoundarySignal,
        FindingId::SlcCacheBytes,
        FindingId::SustainedWriteBytesPerS,
        FindingId::WriteBufferBytes,
    ];
    assert_finds_only(&even, Bytes::gib(2), |_| 1e-3);
}

#[test]
fn slowing_device_has_no_findings() {
    assert_finds_only(&[FindingId::ReadBoundarySignal], Bytes::gib(2), |index| 1e-3 + index * 1e-5);
}

#[test]
fn standing_clock_gives_no_findings() {
    assert_finds_only(&[], Bytes::gib(2), |_| 0.0);
}

/// The clock is set ahead by weeks, or by its whole range, while a request is in flight. The data is kept and
/// readable, and gives no speed.
#[test]
fn run_with_a_leaping_clock_is_kept_and_readable() {
    let leaps: [fn(f64) -> f64; 2] = [
        |request| if request as u32 == 40 { 2e6 } else { 1e-3 },
        |request| if request as u32 == 40 { 1.8e10 } else { 1e-3 },
    ];
    let usual = [Direction::Read, Direction::Write].map(Speed::default_cases);
    let speeds =
        usual.map(|cases| Speed { cases, link: None, is_buffered: false, extent: Extent::Usual, seed: 1 });
    for seconds in leaps {
        let rows = speeds.clone().map(|speed| Box::new(speed) as Box<dyn Experiment>);
        for experiment in experiments(Bytes::mib(4)).into_iter().chain(rows) {
            let mut device = Meter::new(Timed::new(Bytes::gib(2), seconds), Budget::UNLIMITED);
            let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
            let text = run_of(seen, device.cost()).to_json().unwrap();
            let read = RunFile::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", experiment.name()));
            let speed = FindingId::SustainedWriteBytesPerS;
            assert!(
                flashscope_infer::findings_of(&read)
                    .iter()
                    .all(|found| found.id != speed || found.value().is_none())
            );
            if let Data::Speed(data) = &read.observations[0].data {
                assert!(!data.cells.is_empty() && speed_of(data, &data.cells[0]).is_none(), "{data:?}");
            }
        }
    }
}

fn run_of(seen: Observations, cost: Cost) -> RunFile {
    RunFile {
        format: FORMAT,
        flashscope: String::new(),
        target: "test".to_owned(),
        device_name: String::new(),
        attachment: Attachment::default(),
        measured_at: String::new(),
        observations: vec![seen],
        cost,
        failed_requests: 0,
        is_erased: false,
        capacity: None,
        remarks: Vec::new(),
    }
}

#[test]
fn region_too_small_is_refused_or_unknown() {
    for capacity in [SECTOR, Bytes::kib(2), Bytes::kib(64), Bytes::mib(1), Bytes::mib(5)] {
        let even = [FindingId::ReadBoundarySignal];
        assert_finds_only(&even, capacity, |_| 1e-3);
    }
}

/// A stick, and its erase block.
fn stick() -> (VirtualStick, Bytes) {
    let target = Target::parse("generic-2g").unwrap();
    (VirtualStick::new(&target.profile, target.seed), target.profile.truth().erase_block)
}

#[derive(Default)]
struct Requests(u64);

impl Observer for Requests {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Progress { requests, .. } = event {
            self.0 = requests;
        }
    }
}

/// Asserts that each experiment keeps its data under this disturbance, and has no finding that differs from
/// the undisturbed one. The second argument is the number of undisturbed requests.
fn assert_true_or_unknown(disturb: impl Fn(&dyn Experiment, u64) -> Observations) {
    for experiment in experiments(stick().1) {
        let mut requests = Requests::default();
        let whole = experiment.measure(&mut stick().0, &Budget::UNLIMITED, &mut requests);
        let truth = found(&whole);
        let seen = disturb(experiment.as_ref(), requests.0);
        assert!(
            matches!(seen.ended, Ended::Early { cause: Cause::Budget | Cause::Device, .. }),
            "{}: {:?}",
            experiment.name(),
            seen.ended
        );
        assert_among(&found(&seen), &truth, experiment.name());
    }
}

/// Asserts that all findings are those without disturbance. Figures that differ between any two measurements
/// must only exist.
fn assert_among(found: &[(FindingId, Value)], truth: &[(FindingId, Value)], name: &str) {
    for (id, value) in found {
        let is_figure = matches!(value, Value::BytesPerSecond(_) | Value::Seconds(_) | Value::Shows(Some(_)));
        let is_expected =
            truth.iter().any(|(other, expected)| other == id && (is_figure || expected == value));
        assert!(is_expected, "{name}: {id:?} = {value:?}, not {truth:?}");
    }
}

#[test]
fn small_budget_is_the_reason_and_keeps_data() {
    assert_true_or_unknown(|experiment, _| {
        // One or two pieces of the long stream, some of the first erase blocks, and a few dozen requests of
        // the others.
        let most = match experiment.name() {
            "sustained" => Bytes::mib(2),
            "fat-area" => Bytes::kib(144),
            _ => Bytes::kib(288),
        };
        let budget = Budget { reads: Some(60), bytes_written: Some(most), device_time: None };
        let seen = experiment.measure(&mut stick().0, &budget, &mut Silent);
        assert!(seen.data.facts().records() > 0, "{}", experiment.name());
        let findings = infer(std::slice::from_ref(&seen));
        let says = |finding: &Finding| match &finding.outcome {
            Outcome::Unknown { reason: Reason::EndedEarly { stops, .. }, would_decide } => {
                matches!(stops.as_slice(), [StopReason::Budget { .. }])
                    && *would_decide == [WouldDecide::Larger(Quantity::Budget)]
            }
            _ => false,
        };
        assert!(findings.iter().any(says), "{}: {findings:?}", experiment.name());
        seen
    });
}

#[test]
fn device_that_vanishes_half_way_leaves_its_data() {
    assert_true_or_unknown(|experiment, requests| {
        let unplug = format!("unplug:after={}", requests / 2);
        let mut dying = Faulty::new(stick().0, &[unplug.parse().unwrap()], 1).unwrap();
        let seen = experiment.measure(&mut dying, &Budget::UNLIMITED, &mut Silent);
        assert!(seen.data.facts().records() > 0, "{}", experiment.name());
        seen
    });
}

#[test]
fn device_with_only_errors_is_left_alone() {
    assert_true_or_unknown(|experiment, _| {
        let faults = ["read-errors:share=1", "write-errors:share=1"].map(|fault| fault.parse().unwrap());
        let mut dead = Faulty::new(stick().0, &faults, 1).unwrap();
        let mut requests = Requests::default();
        let seen = experiment.measure(&mut dead, &Budget::UNLIMITED, &mut requests);
        assert!(requests.0 <= 16, "{}: {} requests", experiment.name(), requests.0);
        seen
    });
}

#[test]
fn occasional_errors_cause_no_wrong_finding() {
    for experiment in experiments(stick().1) {
        let truth = found(&experiment.measure(&mut stick().0, &Budget::UNLIMITED, &mut Silent));
        let faults =
            ["read-errors:share=0.05", "write-errors:share=0.05"].map(|fault| fault.parse().unwrap());
        let mut faulty = Faulty::new(stick().0, &faults, 3).unwrap();
        let seen = experiment.measure(&mut faulty, &Budget::UNLIMITED, &mut Silent);
        assert_among(&found(&seen), &truth, experiment.name());
    }
}

#[test]
fn page_by_reads_is_unknown_after_a_device_failure() {
    let target = Target::parse("a1-card-64g").unwrap();
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let whole = Align::new(None, 1).measure(&mut stick, &Budget::UNLIMITED, &mut Silent);
    let page = |ended: Ended| {
        let seen = Observations { ended, ..whole.clone() };
        infer(&[seen]).into_iter().find(|finding| finding.id == FindingId::PageBytes).unwrap()
    };
    let early = |cause| Ended::Early { reason: StopReason::Interrupted { rounds: None }, cause };
    assert!(page(Ended::Complete).value().is_some());
    assert!(page(early(Cause::Interrupt)).value().is_some());
    let failed = page(early(Cause::Device));
    assert!(matches!(failed.reason(), Some(Reason::PageFromReads(Some(_)))), "{failed:?}");
}
