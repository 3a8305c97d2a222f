//! Invariants of the open units.

use super::OpenBlocks;
use super::open_unit::{NO_RUN, OpenUnit};
use crate::ftl::audit::ensure;
use crate::ftl::inconsistency::Inconsistency;

impl OpenBlocks {
    /// Checks that no unit is open twice, that the limits hold, and that each run lies inside its unit.
    pub(super) fn check(&self) -> Result<(), Inconsistency> {
        let (open, random) = (self.open.len(), self.open.iter().filter(|open| open.random).count());
        ensure(open <= self.open_max, || format!("{open} units are open"))?;
        ensure(random <= self.random_max, || format!("{random} units are in random mode"))?;
        for (slot, unit) in self.open.iter().enumerate() {
            let is_twice = self.open[..slot].iter().any(|other| other.unit == unit.unit);
            ensure(!is_twice, || format!("unit {} is open twice", unit.unit))?;
            self.check_unit(unit)?;
        }
        Ok(())
    }

    fn check_unit(&self, open: &OpenUnit) -> Result<(), Inconsistency> {
        let OpenUnit { unit, run_start, run_end, log_pages, .. } = *open;
        let is_inside = run_start == NO_RUN || (run_start <= run_end && run_end <= self.block_bytes);
        ensure(is_inside, || format!("the run of unit {unit} is {run_start} to {run_end}"))?;
        ensure(log_pages < self.log_pages, || format!("the log of unit {unit} holds {log_pages} pages"))?;
        let is_past = open.written_at <= self.writes;
        ensure(is_past, || format!("unit {unit} was written after the last write"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Policy, Profile};
    use crate::rng::StreamRng;

    /// Whether a layer with two open units passes its audit after this change of the second one.
    fn is_consistent(change: impl Fn(&OpenBlocks, &mut OpenUnit)) -> bool {
        let profile = Profile::builtin("transcend-8g").unwrap();
        let Policy::OpenBlocks(policy) = &profile.policy else { panic!("{:?}", profile.policy) };
        let mut layer = OpenBlocks::new(&profile.ftl, policy, StreamRng::new(1, 1));
        layer.write_unit(8, 0, 1 << 20);
        layer.write_unit(9, 0, 1 << 20);
        let mut unit = layer.open[1];
        change(&layer, &mut unit);
        layer.open[1] = unit;
        layer.check().is_ok()
    }

    #[test]
    fn every_broken_invariant_is_an_inconsistency() {
        assert!(is_consistent(|_, _| {}) && is_consistent(|_, unit| unit.run_start = NO_RUN));
        assert!(!is_consistent(|_, unit| unit.unit = 8), "open twice");
        assert!(!is_consistent(|layer, unit| unit.run_end = layer.block_bytes + 1), "a run outside");
        assert!(
            !is_consistent(|_, unit| unit.run_start = unit.run_end + 1),
            "a run that ends before it starts"
        );
        assert!(!is_consistent(|layer, unit| unit.log_pages = layer.log_pages), "a full log");
        assert!(!is_consistent(|layer, unit| unit.written_at = layer.writes + 1), "written in the future");
    }
}
