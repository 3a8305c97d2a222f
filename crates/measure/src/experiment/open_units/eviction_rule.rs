//! Confirms the number of open units, and decides which block is evicted: the least recently written, or a
//! random one.

use flashscope_infer::open_blocks::choice::Step;
use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::LITTLE;

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{ROUNDS_MAX, Search};
use crate::session::Stop;

/// The largest number of open units for which the eviction rule is tested: more units take too many writes.
pub(super) const NUMBER_MAX: u32 = 8;
/// Rounds of such a test. Guess.
const TEST_ROUNDS_MAX: u32 = 12;
/// In a confirming round one in 16 writes may stall. Guess.
const WRITES_PER_STALL: u32 = 16;

/// The most requests a confirmation takes.
pub(super) const fn requests_max(units_max: u32) -> u64 {
    (ROUNDS_MAX * 2 * (units_max + 1)) as u64
}

impl Search<'_, '_> {
    /// The rule, then the number, then what the confirmed number says about the rule.
    pub(super) fn decide_and_confirm(
        &mut self,
        pool: &mut BlockPool,
        sequential: &mut Posterior,
        units_max: u32,
    ) -> Result<(), Stop> {
        self.decide_rule(pool, sequential, units_max)?;
        self.confirm(pool, sequential, units_max)?;
        self.decide_rule(pool, sequential, units_max)
    }

    /// Writes into as many blocks as were found to fit until a round is fast. The first round may have to
    /// reopen them. This tells a cache that filled up during the search from one unit too many.
    pub(super) fn confirm(
        &mut self,
        pool: &mut BlockPool,
        posterior: &mut Posterior,
        units_max: u32,
    ) -> Result<(), Stop> {
        let verdict = posterior.verdict();
        // Under random eviction fast writes among the last merges confirm the number already.
        let is_lru = verdict.is_found(units_max) && posterior.eviction_probability(EvictionLaw::Random) < 0.5;
        for round in 0..if is_lru { ROUNDS_MAX } else { 0 } {
            // Slow writes of a whole round may be stalls. Before the first round they may be evictions.
            let stalls = if round == 0 { 0 } else { verdict.number / WRITES_PER_STALL };
            if posterior.has_recovered(verdict.number, stalls) || self.is_spent(pool.order) {
                break;
            }
            self.step(pool, posterior.whole_turn(verdict.number), posterior)?;
        }
        Ok(())
    }

    /// The eviction rule. If it changes the most probable number, the search continues from there.
    pub(super) fn decide_rule(
        &mut self,
        pool: &mut BlockPool,
        posterior: &mut Posterior,
        units_max: u32,
    ) -> Result<(), Stop> {
        let number = posterior.verdict().number;
        self.test_rule(pool, posterior, units_max, NUMBER_MAX)?;
        if posterior.verdict().number == number {
            return Ok(());
        }
        self.search(pool, posterior, units_max)?;
        self.test_rule(pool, posterior, units_max, NUMBER_MAX)
    }

    /// Writes round-robin into one block too many while the rule is undecided and at most `number_max` blocks
    /// fit.
    pub(super) fn test_rule(
        &mut self,
        pool: &mut BlockPool,
        posterior: &mut Posterior,
        units_max: u32,
        number_max: u32,
    ) -> Result<(), Stop> {
        let verdict = posterior.verdict();
        if !verdict.is_found(units_max) || verdict.number > number_max {
            return Ok(());
        }
        let number = verdict.number + 1;
        for _ in 0..TEST_ROUNDS_MAX {
            let is_undecided =
                (LITTLE..1.0 - LITTLE).contains(&posterior.eviction_probability(EvictionLaw::Random));
            if !is_undecided || self.is_spent(pool.order) {
                break;
            }
            let step = match posterior.whole_turn(number) {
                Step::Turn { writes, .. } => Step::Turn { number, writes: writes.min(NUMBER_MAX + 1) },
                open => open,
            };
            if !self.step(pool, step, posterior)? {
                break;
            }
        }
        Ok(())
    }
}
