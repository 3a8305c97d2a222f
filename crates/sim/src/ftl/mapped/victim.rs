//! The choice of the block to collect.
//!
//! *Greedy*: the one with the fewest valid units; its write amplification under uniformly random writes is
//! known in closed form (P. Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012; B. Van
//! Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid state
//! drives", SIGMETRICS 2013). *Cost-benefit*: the one with the largest (1 - u) / (1 + u) times its age, u
//! being the share of valid units (M. Rosenblum and J. K. Ousterhout, "The design and implementation of a
//! log-structured file system", ACM TOCS 10(1), 1992). As in A. Kawaguchi et al., "A flash-memory based file
//! system", USENIX 1995, the age is the time since the last unit of the block became invalid, here in units
//! written. Of blocks with the same u the oldest wins, so one candidate for each number of valid units is
//! enough.

use super::Mapped;
use crate::profile::GcVictim;

impl Mapped {
    /// The block to collect; `None` if no closed block has an invalid unit.
    pub(super) fn choose_victim(&mut self) -> Option<u32> {
        let fewest_valid = self.blocks.fewest_valid()?;
        match self.layout.victim {
            GcVictim::Greedy => Some(fewest_valid),
            GcVictim::CostBenefit => Some(self.best_benefit(fewest_valid)),
        }
    }

    fn best_benefit(&self, fewest_valid: u32) -> u32 {
        let block_units = u64::from(self.layout.block_units);
        let now = self.programs;
        let benefit = |(valid, _, changed_at): &(u32, u32, u64)| {
            let valid = u64::from(*valid);
            ratio(block_units - valid, block_units + valid) * ratio(now - changed_at, 1)
        };
        let best = self.blocks.oldest_per_level().max_by(|a, b| benefit(a).total_cmp(&benefit(b)));
        best.map_or(fewest_valid, |(_, block, _)| block)
    }
}

#[expect(clippy::cast_precision_loss, reason = "only a rank")]
const fn ratio(numerator: u64, denominator: u64) -> f64 {
    numerator as f64 / denominator as f64
}
