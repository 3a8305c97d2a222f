//! *open-units* on a device to which others write as well, as a filesystem does with its journal.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Op, Pattern, Tag};
use flashscope_device::{Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt as _, Instant};
use flashscope_infer::infer;
use flashscope_measure::experiment::OpenUnits;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::finding::{Finding, FindingId, Reason, Value};
use flashscope_record::observation::{Cause, Ended, Observations};
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

use crate::support::finding;

/// A stick with a journal in its last erase block.
struct Journaling {
    stick: VirtualStick,
    erase_block: Bytes,
    /// The device time between two writes to the journal.
    every: Duration,
    next: Instant,
    position: u64,
    /// Whether completions report them.
    is_reported: bool,
    wrote: bool,
}

impl Journaling {
    fn new(target: &Target, erase_block: Bytes, every: Duration, is_reported: bool) -> Self {
        let stick = VirtualStick::new(&target.profile, target.seed);
        Self {
            stick,
            erase_block,
            every,
            next: Instant::ZERO + every,
            position: 0,
            is_reported,
            wrote: false,
        }
    }

    /// Two blocks of 4 KiB, and a flush.
    fn commit(&mut self) -> Result<(), DeviceError> {
        let journal = self.capabilities().capacity.saturating_sub(self.erase_block);
        let length = Bytes::kib(8);
        let offset = journal + length * (self.position % (self.erase_block / length));
        self.position += 1;
        self.stick.run(Op::write(ByteRange::new(offset, length), Pattern::new(9)))?;
        self.stick.run(Op::Flush)?;
        Ok(())
    }
}

impl Device for Journaling {
    fn capabilities(&self) -> Capabilities {
        self.stick.capabilities()
    }

    fn now(&self) -> Instant {
        self.stick.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.now() >= self.next {
            self.next = self.now() + self.every;
            self.commit()?;
            self.wrote = true;
        }
        self.stick.submit(tag, op)
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let others_wrote = std::mem::take(&mut self.wrote) && self.is_reported;
        Ok(self.stick.wait()?.map(|completion| Completion { others_wrote, ..completion }))
    }
}

/// The findings of *open-units* on a stick with a journal, and its observations.
fn counted(target: &str, every: Duration, is_reported: bool) -> (Vec<Finding>, Observations) {
    let target = Target::parse(target).unwrap();
    let erase_block = target.profile.truth().erase_block;
    let mut device = Journaling::new(&target, erase_block, every, is_reported);
    let experiment = OpenUnits::new(erase_block, Some(Bytes::kib(64)), 1);
    let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
    (infer(std::slice::from_ref(&seen)), seen)
}

fn value(findings: &[Finding], id: FindingId) -> Option<Value> {
    finding(findings, id).value()
}

/// A journal takes a slot at each commit. Where the device reports it, the number is that of the stick.
#[test]
fn blocks_are_counted_beside_a_journal() {
    let mut unreported_right = 0;
    let (mut all, mut known) = (0, 0);
    for open_units in [1, 2, 5, 8, 12] {
        for seed in 1..=3 {
            let target = format!(
                "transcend-8g?open_units_linear={open_units}&open_units_random={open_units}&seed={seed}"
            );
            let every = Duration::from_millis(800);
            let linear =
                |is_reported| value(&counted(&target, every, is_reported).0, FindingId::OpenUnitsLinear);
            let (found, right) = (linear(true), Some(Value::Count(open_units)));
            assert!(found.is_none() || found == right, "{target}: {found:?}");
            all += 1;
            known += u32::from(found.is_some());
            unreported_right += u32::from(linear(false) == right);
        }
    }
    assert!(known + 1 >= all, "{known} of {all}");
    assert!(unreported_right * 2 < all, "the journal disturbs little: {unreported_right} of {all}");
}

/// Sticks of several policies, with a journal that is written as often as that of ext4, and more often.
#[test]
fn findings_beside_a_journal_are_those_without_or_unknown() {
    let ids = [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom, FindingId::FtlClass];
    let never = Duration::from_secs(1_000_000);
    let (mut all, mut equal) = (0, 0);
    for stick in [
        "transcend-8g?seed=1",
        "transcend-8g?seed=2&open_units_random=5",
        "transcend-8g?seed=3&open_units_linear=8&open_units_random=0",
        "patriot-xt-16g?seed=1",
        "patriot-xt-16g?seed=4",
        "readme-card?seed=1",
        "generic-2g?seed=2",
        "linuxplanet-class10-sd?seed=1",
    ] {
        let (alone, _) = counted(stick, never, true);
        for seconds in [2, 5] {
            let (beside, seen) = counted(stick, Duration::from_secs(seconds), true);
            for id in ids {
                let [alone, beside] = [&alone, &beside].map(|findings| finding(findings, id));
                let kind = |finding: &Finding| match finding.value() {
                    Some(Value::Class { class, .. }) => Some(Value::Class { class, above: None }),
                    other => other,
                };
                let is_equal = kind(alone) == kind(beside);
                assert!(is_equal || beside.value().is_none(), "{stick}, {seconds} s: {alone:?} {beside:?}");
                if id == FindingId::OpenUnitsRandom && !is_equal && seen.ended == Ended::Complete {
                    assert_eq!(beside.reason(), Some(&Reason::OthersWrote), "{stick}, {seconds} s");
                }
                all += u32::from(seconds == 5 && alone.value().is_some());
                equal += u32::from(seconds == 5 && alone.value().is_some() && is_equal);
            }
        }
    }
    assert!(equal * 4 >= all * 3, "{equal} of {all}");
}

/// Where others write all the time, nothing is counted, and the reason is given.
#[test]
fn constant_writes_of_others_end_the_count() {
    let target = "transcend-8g?open_units_linear=5&open_units_random=5&seed=1";
    let (findings, seen) = counted(target, Duration::from_millis(20), true);
    assert_eq!(value(&findings, FindingId::OpenUnitsLinear), None, "{findings:?}");
    assert!(matches!(seen.ended, Ended::Early { cause: Cause::OtherWrites, .. }), "{:?}", seen.ended);
}
