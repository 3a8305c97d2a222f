//! Every experiment on devices and budgets that cannot tell: unknown with its reason and with what would
//! decide it, what was measured is kept, and nothing is found that is not so.

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
use flashscope_measure::{Event, Experiment, Observer, Silent};
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::{Finding, FindingId, Outcome, Quantity, Reason, Value, WouldDecide};
use flashscope_record::observation::{Cause, Data, Direction, Ended, Merges, Observations, StopReason};
use flashscope_record::run_file::{FORMAT, RunFile};
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

/// The experiments, for a device with this erase block that keeps two of them open.
fn experiments(erase_block: Bytes) -> [Box<dyn Experiment>; 7] {
    let (request, seed) = (Some(Bytes::kib(32)), 1);
    let merges = Merges { every_switch: 1.0, takes: None, is_one_run: false, too_many: Some(3) };
    [
        Box::new(Align::new(None, seed)),
        Box::new(WriteSize { erase_block, erase_block_is_known: true, seed }),
        Box::new(BlockEnds::new(None, Vec::new(), seed)),
        Box::new(OpenUnits::new(erase_block, request, seed)),
        Box::new(FatArea::new(erase_block, request, Some(merges), seed)),
        Box::new(Sustained { seed, is_thorough: false }),
        Box::new(WriteBuffer { seed }),
    ]
}

/// A device whose n-th request takes as long as a function says, whatever it asks for.
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
        Ok(Some(Completion { tag, submitted_at, completed_at: self.now, outcome, buffer: op.into_buffer() }))
    }
}

/// What is found, where all that is not found says why, and what would decide it.
fn found(seen: &Observations) -> Vec<(FindingId, Value)> {
    let told = |finding: &Finding| match &finding.outcome {
        Outcome::Found { value, .. } => Some((finding.id, *value)),
        Outcome::Unknown { reason, would_decide } => {
            assert!(!would_decide.is_empty(), "{}: {reason:?}", finding.id);
            None
        }
    };
    infer(std::slice::from_ref(seen)).iter().filter_map(told).collect()
}

/// Holds that each experiment finds nothing on such a device but what is allowed.
fn assert_finds_only(allowed: &[FindingId], capacity: Bytes, seconds: fn(f64) -> f64) {
    for experiment in experiments(Bytes::mib(4)) {
        let mut device = Timed::new(capacity, seconds);
        let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
        for (id, value) in found(&seen) {
            assert!(allowed.contains(&id), "{} on {capacity}: {id} = {value:?}", experiment.name());
        }
    }
}

/// Equal times are what the device is like: reads that feel no boundary, writes without a cache or memory.
#[test]
fn a_device_whose_every_latency_is_the_same_has_no_geometry() {
    let even = [
        FindingId::ReadBoundarySignal,
        FindingId::SlcCacheBytes,
        FindingId::SustainedWriteBytesPerS,
        FindingId::WriteBufferBytes,
    ];
    assert_finds_only(&even, Bytes::gib(2), |_| 1e-3);
}

#[test]
fn a_device_that_is_slower_and_slower_tells_nothing_of_itself() {
    assert_finds_only(&[FindingId::ReadBoundarySignal], Bytes::gib(2), |index| 1e-3 + index * 1e-5);
}

#[test]
fn a_clock_that_stands_still_tells_nothing() {
    assert_finds_only(&[], Bytes::gib(2), |_| 0.0);
}

/// The clock is set ahead by weeks, and by as far as it counts, while a request is in flight: what was
/// measured is kept, can be read again, and tells no speed.
#[test]
fn a_run_in_which_the_clock_leapt_is_kept_and_can_be_read() {
    let leaps: [fn(f64) -> f64; 2] = [
        |request| if request as u32 == 40 { 2e6 } else { 1e-3 },
        |request| if request as u32 == 40 { 1.8e10 } else { 1e-3 },
    ];
    let usual = [Direction::Read, Direction::Write].map(Speed::usual_cases);
    let speeds =
        usual.map(|cases| Speed { cases, link: None, is_buffered: false, is_thorough: false, seed: 1 });
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
        remarks: Vec::new(),
    }
}

#[test]
fn a_region_too_small_for_the_question_is_refused_or_unknown() {
    for capacity in [SECTOR, Bytes::kib(2), Bytes::kib(64), Bytes::mib(1), Bytes::mib(5)] {
        let even = [FindingId::ReadBoundarySignal];
        assert_finds_only(&even, capacity, |_| 1e-3);
    }
}

/// A stick with its erase block, and what each experiment finds on it.
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

/// Holds that each experiment, made worse like this, keeps what it measured and finds nothing that it would
/// not have found undisturbed. The other argument: how many requests the undisturbed one took.
fn assert_true_or_unknown(worse: impl Fn(&dyn Experiment, u64) -> Observations) {
    for experiment in experiments(stick().1) {
        let mut requests = Requests::default();
        let whole = experiment.measure(&mut stick().0, &Budget::UNLIMITED, &mut requests);
        let truth = found(&whole);
        let seen = worse(experiment.as_ref(), requests.0);
        assert!(
            matches!(seen.ended, Ended::Early { cause: Cause::Budget | Cause::Device, .. }),
            "{}: {:?}",
            experiment.name(),
            seen.ended
        );
        assert_among(&found(&seen), &truth, experiment.name());
    }
}

/// Holds that what was found is what was found undisturbed; of a figure that no two measurements share, that
/// there is one.
fn assert_among(found: &[(FindingId, Value)], truth: &[(FindingId, Value)], name: &str) {
    for (id, value) in found {
        let is_figure = matches!(value, Value::BytesPerSecond(_) | Value::Seconds(_) | Value::Shows(Some(_)));
        let is_so = truth.iter().any(|(other, so)| other == id && (is_figure || so == value));
        assert!(is_so, "{name}: {id} = {value:?}, not {truth:?}");
    }
}

#[test]
fn a_budget_too_small_to_decide_is_the_reason_and_what_it_allowed_is_kept() {
    assert_true_or_unknown(|experiment, _| {
        // A piece or two of the long stream, not all of the first erase blocks, and a few dozen requests of
        // all others.
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
fn a_device_that_vanishes_half_way_leaves_what_was_measured() {
    assert_true_or_unknown(|experiment, requests| {
        let unplug = format!("unplug:after={}", requests / 2);
        let mut dying = Faulty::new(stick().0, &[unplug.parse().unwrap()], 1).unwrap();
        let seen = experiment.measure(&mut dying, &Budget::UNLIMITED, &mut Silent);
        assert!(seen.data.facts().records() > 0, "{}", experiment.name());
        seen
    });
}

#[test]
fn a_device_that_only_errs_is_left_alone() {
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
fn a_device_that_errs_now_and_then_is_found_out_or_not_but_never_wrongly() {
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
fn a_page_that_reads_show_is_a_guess_once_the_device_failed() {
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
