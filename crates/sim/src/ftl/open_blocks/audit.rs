//! Whether the books of the open units agree.

use super::{NOWHERE, OpenBlocks, OpenUnit};
use crate::ftl::Inconsistency;
use crate::ftl::audit::ensure;

impl OpenBlocks {
    /// Checks that no unit is open twice, that not too many are, and that each run lies in its unit.
    pub(crate) fn audit(&self) -> Result<(), Inconsistency> {
        let (open, random) = (self.open.len(), self.open.iter().filter(|open| open.random).count());
        ensure(open <= self.open_max, || format!("{open} units are open"))?;
        ensure(random <= self.random_max, || format!("{random} units are in random mode"))?;
        for (slot, unit) in self.open.iter().enumerate() {
            let twice = self.open[..slot].iter().any(|other| other.unit == unit.unit);
            ensure(!twice, || format!("unit {} is open twice", unit.unit))?;
            self.audit_unit(unit)?;
        }
        Ok(())
    }

    fn audit_unit(&self, open: &OpenUnit) -> Result<(), Inconsistency> {
        let OpenUnit { unit, run_start, run_end, log_pages, .. } = *open;
        let inside = run_start == NOWHERE || (run_start <= run_end && run_end <= self.block_bytes);
        ensure(inside, || format!("the run of unit {unit} is {run_start} to {run_end}"))?;
        ensure(log_pages < self.log_pages, || format!("the log of unit {unit} holds {log_pages} pages"))?;
        let seen = open.written_at <= self.writes;
        ensure(seen, || format!("unit {unit} was written after the last write"))
    }
}
