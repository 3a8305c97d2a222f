//! The verdicts on speed classes, compared with speeds that are computed on the model itself.

use flashscope_device::{ByteRange, Bytes, Device, DeviceExt, Op, Pattern};
use flashscope_infer::classes::{ClassVerdict, Requirement, classes_of};
use flashscope_measure::Silent;
use flashscope_measure::class_tests::ClassTests;
use flashscope_record::claims::SpeedMark;
use flashscope_record::claims::Untestable;
use flashscope_record::observation::{Direction, Order};
use flashscope_record::run_file::RunFile;
use flashscope_sim::VirtualStick;
use flashscope_sim::profile::Profile;

/// A verdict may be wrong this near to what a class requires.
const MARGIN: f64 = 0.1;
/// Where the classes are tested, and the range of their random requests.
const START: Bytes = Bytes::mib(192);
const RANGE: Bytes = Bytes::mib(256);
/// The unit of the standard, in requests of 1 MiB.
const UNIT_REQUESTS: u64 = 4;

fn run_of(profile: &Profile) -> RunFile {
    let empty = r#"{"format": 2, "flashscope": "0", "target": "sim:test", "observations": []}"#;
    let tests = ClassTests { writes: true, allocation_unit: None, link: None, is_buffered: false, seed: 3 };
    let observations = tests.measure(&mut VirtualStick::new(profile, 1), None, &mut Silent);
    RunFile { observations, ..RunFile::parse(empty).unwrap() }
}

/// The true speeds, bytes per second.
struct Truth {
    /// The steady state of a long stream.
    sustained: f64,
    /// The slowest unit of a stream of 2 GiB.
    slowest_unit: f64,
    read: f64,
    write: f64,
}

impl Truth {
    fn of(profile: &Profile) -> Self {
        let mut stick = VirtualStick::new(profile, 77);
        let slowest_unit = slowest_unit(&mut stick, Bytes::gib(2));
        let read = random(&mut stick, Direction::Read, 0, 4000);
        let write = random(&mut stick, Direction::Write, 16_384, 16_384);
        Self { sustained: profile.sustained_write_per_s().as_f64(), slowest_unit, read, write }
    }

    /// The speeds between which the measured one lies.
    fn range(&self, required: Requirement) -> (f64, f64) {
        match (required.order, required.direction) {
            (Order::Random, Direction::Read) => (self.read, self.read),
            (Order::Random, Direction::Write) => (self.write, self.write),
            // Stalls that come every few gibibytes may be missed.
            (Order::Linear, _) => {
                (self.slowest_unit.min(self.sustained), self.sustained.max(self.slowest_unit))
            }
        }
    }
}

fn seconds(stick: &mut VirtualStick, op: Op) -> f64 {
    let before = stick.now();
    // Failing writes take time as well.
    let _completion = stick.run(op);
    stick.now().since(before).as_secs_f64()
}

fn slowest_unit(stick: &mut VirtualStick, length: Bytes) -> f64 {
    let request = Bytes::mib(1);
    let room = (stick.capabilities().capacity - START) / request;
    let mut slowest = f64::INFINITY;
    for unit in 0..length / request / UNIT_REQUESTS {
        let offset = |index| START + request * ((unit * UNIT_REQUESTS + index) % room);
        let write = |index| Op::write(ByteRange::new(offset(index), request), Pattern::new(1));
        let took: f64 = (0..UNIT_REQUESTS).map(|index| seconds(stick, write(index))).sum();
        if unit > 0 {
            slowest = slowest.min((request * UNIT_REQUESTS).as_f64() / took);
        }
    }
    slowest
}

/// The mean speed of random requests of 4 KiB, after some that do not count.
fn random(stick: &mut VirtualStick, direction: Direction, warm_up: u64, requests: u64) -> f64 {
    let request = Bytes::kib(4);
    let mut state = 1_u64;
    let mut total = 0.0;
    for index in 0..warm_up + requests {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let range = ByteRange::new(START + request * ((state >> 33) % (RANGE / request)), request);
        let took = seconds(
            stick,
            match direction {
                Direction::Read => Op::read(range),
                Direction::Write => Op::write(range, Pattern::new(2)),
            },
        );
        if index >= warm_up {
            total += took;
        }
    }
    (request * requests).as_f64() / total
}

#[test]
fn verdicts_on_built_in_profiles_agree_with_their_true_speeds() {
    let mut wrong = Vec::new();
    for profile in Profile::builtin_names().map(|name| Profile::builtin(name).unwrap()) {
        let truth = Truth::of(&profile);
        for result in classes_of(&run_of(&profile)).all {
            for test in result.tests {
                let (low, high) = truth.range(test.required);
                let needed = test.required.bytes_per_s;
                let is_right = match test.verdict {
                    ClassVerdict::Pass => high >= needed * (1.0 - MARGIN),
                    ClassVerdict::Fail => low <= needed * (1.0 + MARGIN),
                    ClassVerdict::NotTestable(why) => {
                        // No virtual stick has a command queue.
                        why == Untestable::CommandQueue
                            && result.mark == SpeedMark::ApplicationClass(2)
                            && low <= needed * (1.0 + MARGIN)
                    }
                };
                if !is_right {
                    wrong.push(format!(
                        "{}: {}: {test:?}, true {low:.0} to {high:.0}",
                        profile.name, result.mark
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
