//! Second searches of *open-units*, where the first one measured something else than merges.

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::SEVERAL;
use flashscope_record::observation::Order;

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{BASELINE, Search};
use crate::session::Stop;

/// A search above the cost of switching blocks needs at least 16 fresh blocks. Guess.
const FRESH_BLOCKS_MIN: u32 = 16;

impl Search<'_, '_> {
    /// Searches again from two blocks on, if every switch of blocks takes longer by less than the copy of a
    /// block. On some cards such a switch is no merge, and merges, which take far longer, begin with more
    /// blocks. `None` if none come. Then the data is unchanged.
    pub(super) fn retry_above_switch_cost(
        &mut self,
        posterior: &Posterior,
        units_max: u32,
    ) -> Result<Option<(BlockPool, Posterior)>, Stop> {
        let verdict = posterior.verdict();
        let is_one = verdict.is_found(units_max) && verdict.number == 1;
        if !is_one
            || !self.merges_are_short(posterior)
            || self.has_one_sequential_log(posterior.classifier())
            || !self.data.larger.is_empty()
        {
            return Ok(None);
        }
        self.data.appended = std::mem::take(&mut self.data.cells);
        if self.blocks.left() < u64::from(FRESH_BLOCKS_MIN) {
            self.blocks.restart();
        }
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, evidence::ROUND_ROBIN_UNITS, BASELINE)?;
        if let Some(mut retried) = evidence::sequential_posterior(self.data) {
            self.search(&mut pool, &mut retried, units_max)?;
            self.decide_rule(&mut pool, &mut retried, units_max)?;
            self.confirm(&mut pool, &mut retried, units_max)?;
            let verdict = retried.verdict();
            // Rare slow writes that are too short to copy a block may have any cause.
            let is_lru = retried.eviction_probability(EvictionLaw::Lru) > 0.5;
            let is_decided =
                is_lru && verdict.is_found(units_max) && verdict.number >= evidence::ROUND_ROBIN_UNITS;
            if is_decided || (retried.merges() >= SEVERAL && !self.merges_are_short(&retried)) {
                return Ok(Some((pool, retried)));
            }
        }
        self.data.cells = std::mem::take(&mut self.data.appended);
        Ok(None)
    }

    /// Whether the merges found are too short to copy an erase block.
    fn merges_are_short(&self, posterior: &Posterior) -> bool {
        posterior.merge_seconds().is_some_and(|seconds| {
            let erase_block = self.experiment.erase_block;
            evidence::hardly_copies_block(seconds, posterior.classifier(), self.request, erase_block)
        })
    }
}
