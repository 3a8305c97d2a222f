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
