//! The adaptive search of *open-units*: choose the most informative write, make it, update the posterior.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::choice::Step;
use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::evidence::WriteSequence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_infer::thresholds::GRANTED;
use flashscope_record::observation::{OpenUnitsCell, Order};

use super::parameters::SLOW_OPENINGS;
use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::Search;
use crate::session::Stop;

/// A search is repeated at most three times while its classifier of slow writes keeps changing. Guess.
const REPEATS_MAX: u32 = 3;
/// The first check for stalls that were taken for merges comes after 16 writes. Guess.
const FIRST_CHECK: usize = 16;
/// After 1000 writes evenly spaced slow writes are garbage collection, and the search ends. Guess.
const COLLECTION_CHECK: usize = 1000;
/// The largest block for which pairs are tested after a number was found: they cost more on larger ones.
/// Guess.
const SMALL_BLOCK: Bytes = Bytes::mib(4);

impl Search<'_, '_> {
    /// Makes the most informative writes until one number of open units is left, or no fresh block. Repeats
    /// if the classifier of slow writes has changed by the end.
    pub(super) fn search(
        &mut self,
        pool: &mut BlockPool,
        posterior: &mut Posterior,
        units_max: u32,
    ) -> Result<(), Stop> {
        let base = posterior.classifier();
        for _ in 0..REPEATS_MAX {
            self.search_once(pool, posterior, units_max, base)?;
            let known = posterior.classifier();
            if !self.over_data {
                *posterior = self.without_stalls(posterior, pool.order, base);
            }
            if posterior.classifier() == known {
                break;
            }
        }
        Ok(())
    }

    /// The posterior with the classifier that fits all writes so far. `base` is the classifier from the
    /// baseline.
    pub(super) fn without_stalls(
        &self,
        posterior: &Posterior,
        order: Order,
        base: SlowClassifier,
    ) -> Posterior {
        let sequences = match order {
            Order::Linear => evidence::write_sequences(self.data),
            Order::Random => vec![WriteSequence::new(&self.data.cells, base)],
        };
        evidence::with_best_threshold(posterior.clone(), &sequences)
    }

    fn search_once(
        &mut self,
        pool: &mut BlockPool,
        posterior: &mut Posterior,
        mut units_max: u32,
        base: SlowClassifier,
    ) -> Result<(), Stop> {
        let mut next_check = posterior.writes() + FIRST_CHECK;
        while posterior.writes() < self.writes_max()
            && !posterior.fits_all(units_max)
            && !self.is_spent(pool.order)
        {
            let next = self.next(posterior, units_max);
            let is_disturbed = pool.order == Order::Random && self.is_disturbed;
            let Some(step) = next.filter(|_| !is_disturbed && !self.should_shrink(pool.order, posterior))
            else {
                break;
            };
            if pool.order == Order::Linear && self.should_open_pairs(posterior) {
                self.open_pairs(posterior.classifier())?;
                if self.has_one_sequential_log(posterior.classifier()) {
                    break;
                }
                self.reopen(pool, posterior)?;
            }
            if !self.step(pool, step, posterior)? {
                units_max = posterior.writable_units();
            }
            if !self.over_data && posterior.writes() >= next_check {
                next_check = posterior.writes() * 3 / 2;
                *posterior = self.without_stalls(posterior, pool.order, base);
                if posterior.writes() > COLLECTION_CHECK
                    && pool.order == Order::Linear
                    && self.is_evenly_slow(posterior)
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The next step. Over data all blocks of a round start again together, so that whole rounds are chosen.
    fn next(&self, posterior: &Posterior, units_max: u32) -> Option<Step> {
        if self.over_data {
            return posterior.next_round(units_max).map(|number| Step::Turn { number, writes: number });
        }
        posterior.next(units_max)
    }

    /// One step of the search. False if no fresh block is left.
    pub(super) fn step(
        &mut self,
        pool: &mut BlockPool,
        step: Step,
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        match step {
            Step::Turn { number, .. } if self.over_data => self.round_over_data(pool, number, posterior),
            Step::Turn { number, writes } => self.round_robin(pool, (number, writes), posterior),
            Step::Open(number) => self.open(pool, number, posterior),
        }
    }

    /// Opens fresh blocks until `number` are open. False if no fresh block is left.
    pub(super) fn open(
        &mut self,
        pool: &mut BlockPool,
        number: u32,
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        for opened in posterior.writable_units()..number {
            let index = pool.len();
            if !self.write_and_update(pool, (opened + 1, index), posterior)? {
                return Ok(false);
            }
            if pool.order == Order::Random && posterior.is_unlikely_to_fit(opened + 1) {
                break;
            }
        }
        Ok(true)
    }

    /// Writes into `number` blocks round-robin, the least recently written first, until that is surely too
    /// many.
    fn round_robin(
        &mut self,
        pool: &mut BlockPool,
        (number, writes): (u32, u32),
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        posterior.start_turn(number, writes);
        for _ in 0..writes {
            if pool.order == Order::Linear && !self.reopen_after_others(pool, posterior, number)? {
                break;
            }
            let Some((unit, since)) = posterior.least_recent_of(number) else { break };
            let Some((index, true)) = pool.member_of(unit) else {
                posterior.retire(unit);
                OpenUnitsCell::pass_over(self.cells_mut(), pool.order, unit);
                continue;
            };
            if !self.write_and_update(pool, (since, index), posterior)? {
                return Ok(false);
            }
            if posterior.is_too_many(number) {
                break;
            }
        }
        Ok(true)
    }

    /// One sequential write, or two random ones: a single random write may not open the block.
    fn write_and_update(
        &mut self,
        pool: &mut BlockPool,
        (number, index): (u32, usize),
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        for _ in 0..if pool.order == Order::Random { 2 } else { 1 } {
            if !self.write_once_and_update(pool, (number, index), posterior)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One write, added to the posterior. Under random eviction a block that is full now is filled to its end
    /// and replaced by a fresh one. So its slot does not stay with a block that is no longer written. False
    /// if no fresh block is left.
    fn write_once_and_update(
        &mut self,
        pool: &mut BlockPool,
        (number, index): (u32, usize),
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        let Some(written) = self.write(pool, number, index)? else { return Ok(false) };
        if let Some(latency) = written.latency {
            posterior.write(written.unit, latency);
        }
        if pool.has_room(index)
            || self.over_data
            || posterior.eviction_probability(EvictionLaw::Random) < GRANTED
        {
            return Ok(true);
        }
        if !pool.write_rest(&mut self.session, index)? {
            return Ok(true);
        }
        posterior.retire(written.unit);
        OpenUnitsCell::pass_over(self.cells_mut(), pool.order, written.unit);
        let Some(next) = self.write(pool, number, index)? else { return Ok(false) };
        if let Some(latency) = next.latency {
            posterior.write(next.unit, latency);
        }
        Ok(true)
    }

    /// One round over data, ended once its number is clearly too large. False if no fresh block is left.
    fn round_over_data(
        &mut self,
        pool: &mut BlockPool,
        number: u32,
        posterior: &mut Posterior,
    ) -> Result<bool, Stop> {
        if !self.reopen_after_others(pool, posterior, number)? {
            return Ok(true);
        }
        pool.prepare(&mut self.session, &mut self.blocks, number)?;
        let left_out = self.left_out;
        for index in 0..number as usize {
            if !self.write_once_and_update(pool, (number, index), posterior)? {
                return Ok(false);
            }
            if posterior.is_too_many(number) || self.left_out > left_out {
                break;
            }
        }
        Ok(true)
    }

    /// Whether pairs should be tested: every opening was slow, and no other write. Once only.
    fn should_open_pairs(&self, posterior: &Posterior) -> bool {
        self.affords_whole_pair()
            && self.may_test_pairs()
            && !self.over_data
            && posterior.opens_slowly(SLOW_OPENINGS as usize)
    }

    /// Whether a single sequential log may explain the number found: such a log merges now and then,
    /// whichever block is opened.
    pub(super) fn may_have_rare_merges(&self, posterior: &Posterior, number: u32) -> bool {
        self.experiment.erase_block <= SMALL_BLOCK
            && self.affords_whole_pair()
            && self.may_test_pairs()
            && posterior.opens_fast_beyond(number)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::layer::Budget;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_infer::open_blocks::prior::Prior;
    use flashscope_record::observation::OpenUnitsData;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    /// Whether a single log may explain two open blocks of this size, if opening more took this time. Other
    /// writes took 2 ms.
    fn may_have_rare_merges(erase_block: Bytes, milliseconds: u64) -> bool {
        let mut data = OpenUnitsData { erase_block, ..OpenUnitsData::default() };
        let mut keep = |number, unit, milliseconds| {
            let key = (Order::Linear, number, Bytes::kib(64));
            OpenUnitsCell::keep(&mut data.cells, key, unit, Duration::from_millis(milliseconds));
        };
        (0..12).for_each(|_| keep(1, 0, 2));
        keep(2, 1, 2);
        (2..8).for_each(|unit| keep(unit + 1, unit, milliseconds));
        let posterior = evidence::sequential_posterior(&data).unwrap();
        let mut device = MemoryDevice::new(Bytes::mib(64));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let search = Search::new(OpenUnits::new(erase_block, None, 1), session, blocks, &mut data);
        search.may_have_rare_merges(&posterior, 2)
    }

    #[test]
    fn only_fast_openings_of_small_blocks_beyond_the_number_may_be_those_of_a_single_log() {
        assert!(may_have_rare_merges(Bytes::mib(4), 2));
        assert!(!may_have_rare_merges(Bytes::mib(4), 200), "each opening closes another block");
        assert!(!may_have_rare_merges(Bytes::mib(5), 2), "a test of larger blocks costs more");
    }

    /// Every eighth write into one block was slow, as where garbage is collected. 50 blocks are open.
    #[test]
    fn evenly_slow_sequential_writes_do_not_end_the_search_in_random_order() {
        let erase_block = Bytes::mib(1);
        let mut data = OpenUnitsData { erase_block, ..OpenUnitsData::default() };
        for index in 0..100 {
            let milliseconds = if index >= 12 && index % 8 == 0 { 40 } else { 2 };
            let key = (Order::Linear, 1, Bytes::kib(64));
            OpenUnitsCell::keep(&mut data.cells, key, 0, Duration::from_millis(milliseconds));
        }
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let experiment = OpenUnits::new(erase_block, None, 1);
        let mut search = Search::new(experiment, session, blocks, &mut data);
        let classifier = SlowClassifier::from_baseline(&[Duration::from_millis(2); 12]).unwrap();
        let prior = Prior::Random { linear: Some(50), lru: 0.98, hidden_ratio: 0.02 };
        let mut posterior = Posterior::new(Order::Random, classifier, prior);
        assert!(search.is_evenly_slow(&posterior));
        let mut pool = search.pool(Order::Random);
        search.search(&mut pool, &mut posterior, experiment.units_max).unwrap();
        assert!(pool.len() > 40, "{} blocks opened", pool.len());
    }
}
