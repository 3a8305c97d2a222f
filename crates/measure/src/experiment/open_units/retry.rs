//! Second searches of *open-units*, where the first one measured something else than merges.

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_record::observation::Order;

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{BASELINE, Search, oldest_first};
use crate::session::Stop;

/// A search above the cost of switching blocks needs at least 16 fresh blocks. Guess.
const FRESH_BLOCKS_MIN: u32 = 16;
/// From four merges above the cost of switching on, the switches themselves are no merges, also if merges are
/// rare. Guess.
const MERGES_MIN: usize = 4;

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
            if is_decided || (retried.merges() >= MERGES_MIN && !self.merges_are_short(&retried)) {
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

    /// Searches again with fresh blocks if whole requests into one block too many merge no more, as smaller
    /// ones did not. A block from before the experiment held a slot then, and was evicted at random only now.
    /// `None` if they do merge. Then the data is unchanged.
    pub(super) fn retry_with_fresh_blocks(
        &mut self,
        pool: &mut BlockPool,
        posterior: &Posterior,
        units_max: u32,
    ) -> Result<Option<(BlockPool, Posterior)>, Stop> {
        let too_many = posterior.verdict().number + 1;
        // The last blocks of a small stick may lie in its FAT area, where nothing merges.
        let has_fresh = self.blocks.left() >= u64::from(2 * too_many);
        if !has_fresh || self.data.led || !self.data.larger.is_empty() || self.is_spent(pool.order) {
            return Ok(None);
        }
        let indices = oldest_first(pool, posterior, too_many as usize);
        pool.fill_gaps(&mut self.session, indices.iter().copied(), self.request)?;
        pool.set_request(self.request);
        // The posterior is not updated: it does not know the smaller requests in between.
        for index in indices {
            let written = pool.write(&mut self.session, &mut self.blocks, index)?;
            let latency = written.and_then(|written| written.latency);
            if latency.is_none_or(|latency| posterior.classifier().is_slow(latency)) {
                return Ok(None);
            }
        }
        let before = std::mem::take(&mut self.data.cells);
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(mut retried) = evidence::sequential_posterior(self.data) else {
            self.data.cells = before;
            return Ok(None);
        };
        self.data.outgrown = before;
        self.search(&mut pool, &mut retried, units_max)?;
        self.decide_rule(&mut pool, &mut retried, units_max)?;
        self.confirm(&mut pool, &mut retried, units_max)?;
        Ok(Some((pool, retried)))
    }
}
