//! *open-units* on a device to which others write as well, as a filesystem does with its journal.

use std::time::Duration;

use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Op, Pattern, Tag};
use flashscope_device::{Bytes, Capabilities, Completion, Device, DeviceError, DeviceExt as _, Instant};
use flashscope_infer::infer;
use flashscope_measure::experiment::OpenUnits;
use flashscope_measure::{Experiment as _, Silent};
use flashscope_record::finding::{Finding, FindingId, Value};
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

fn counted(open_units: u32, seed: u64, every: Duration, is_reported: bool) -> (Finding, Observations) {
    let target =
        format!("transcend-8g?open_units_linear={open_units}&open_units_random={open_units}&seed={seed}");
    let target = Target::parse(&target).unwrap();
    let erase_block = target.profile.truth().erase_block;
    let mut device = Journaling::new(&target, erase_block, every, is_reported);
    let experiment = OpenUnits::new(erase_block, Some(Bytes::kib(64)), 1);
    let seen = experiment.measure(&mut device, &Budget::UNLIMITED, &mut Silent);
    (finding(&infer(std::slice::from_ref(&seen)), FindingId::OpenUnitsLinear).clone(), seen)
}

/// A journal takes a slot at each commit. Where the device reports it, the number is that of the stick.
#[test]
fn blocks_are_counted_beside_a_journal() {
    let mut unreported_right = 0;
    let (mut all, mut known) = (0, 0);
    for open_units in [1, 2, 5, 8, 12] {
        for seed in 1..=3 {
            let every = Duration::from_millis(800);
            let (found, _) = counted(open_units, seed, every, true);
            let right = Some(Value::Count(open_units));
            assert!(found.value().is_none() || found.value() == right, "{open_units} {seed}: {found:?}");
            all += 1;
            known += u32::from(found.value().is_some());
            unreported_right += u32::from(counted(open_units, seed, every, false).0.value() == right);
        }
    }
    assert!(known + 1 >= all, "{known} of {all}");
    assert!(unreported_right * 2 < all, "the journal disturbs little: {unreported_right} of {all}");
}

/// Where others write all the time, nothing is counted, and the reason is given.
#[test]
fn constant_writes_of_others_end_the_count() {
    let (found, seen) = counted(5, 1, Duration::from_millis(20), true);
    assert_eq!(found.value(), None, "{found:?}");
    assert!(matches!(seen.ended, Ended::Early { cause: Cause::OtherWrites, .. }), "{:?}", seen.ended);
}
