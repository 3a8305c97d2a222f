//! The tests of *open-units* one after another: the sequential search, its checks, and the random search.

use std::time::Duration;

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::{OPEN_MAX, Posterior};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{Order, Times};

use super::parameters::SLOW_OPENINGS;
use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{BASELINE, Search};
use crate::session::Stop;

/// Writes of a control, if each takes as long as in the baseline.
const CONTROL_UNCHANGED: usize = 4;
/// Else writes are added in steps of seven, enough for a median,
const CONTROL_STEP: usize = 7;
/// at most four times: stalls may have fallen into most of them.
const CONTROL_STEPS_MAX: usize = 4;

/// The most requests of baselines and controls.
pub(super) const REQUESTS_MAX: u64 = (BASELINE + BASELINE * evidence::ROUND_ROBIN_UNITS) as u64
    + (2 * CONTROL_STEP * CONTROL_STEPS_MAX) as u64;

/// The outcome of the sequential tests.
struct Sequential {
    pool: BlockPool,
    posterior: Posterior,
    /// Whether the random test was made already, among the sequential ones.
    is_random_tested: bool,
}

impl Search<'_, '_> {
    /// All tests.
    pub(super) fn run(&mut self) -> Result<(), Stop> {
        let units_max = self.experiment.units_max;
        let Some((pool, posterior)) = self.search_sequentially(units_max)? else { return Ok(()) };
        let Sequential { mut pool, posterior, mut is_random_tested } =
            self.test_sequentially(pool, posterior, units_max)?;
        let verdict = posterior.verdict();
        let is_decided = verdict.is_found(units_max);
        self.control()?;
        if self.has_one_sequential_log(posterior.classifier()) {
            return Ok(());
        }
        self.test_mapping_unit(&posterior)?;
        if is_decided && posterior.eviction_probability(EvictionLaw::Random) < 0.5 {
            is_random_tested = posterior.is_seen_open() && self.continue_randomly(&mut pool, &posterior)?;
        }
        if !is_random_tested {
            self.search_randomly(&posterior, units_max)?;
        }
        self.control()?;
        let may_collect =
            self.is_evenly_slow(&posterior) || self.is_slow_in_one_block(posterior.classifier());
        if is_decided && posterior.is_seen_open() && !posterior.stalls_too_often() && !may_collect {
            return Ok(());
        }
        self.provoke_collections()
    }

    /// The sequential search, with smaller requests if need be. `None` if the baseline failed.
    fn search_sequentially(&mut self, units_max: u32) -> Result<Option<(BlockPool, Posterior)>, Stop> {
        let mut pool = self.pool(Order::Linear);
        self.rounds(&mut pool, 1, BASELINE)?;
        let Some(mut posterior) = evidence::sequential_posterior(self.data) else { return Ok(None) };
        self.search(&mut pool, &mut posterior, units_max)?;
        let whole_request = self.request;
        let should_shrink = self.should_shrink(Order::Linear, &posterior);
        // Later searches keep their request.
        self.may_shrink = false;
        if should_shrink {
            if posterior.next(units_max).is_some()
                && !posterior.fits_all(units_max)
                && self.shrink(&mut pool, &posterior)?
            {
                let Some(shrunk) = evidence::sequential_posterior(self.data) else { return Ok(None) };
                posterior = shrunk;
            }
            self.search(&mut pool, &mut posterior, units_max)?;
        }
        self.decide_and_confirm(&mut pool, &mut posterior, units_max)?;
        if self.data.led {
            self.request = whole_request;
            posterior = evidence::with_whole_requests(posterior, self.data);
        }
        if let Some(retried) = self.retry_above_switch_cost(&posterior, units_max)? {
            (pool, posterior) = retried;
        }
        Ok(Some((pool, posterior)))
    }

    /// The tests of the number that was found, and of the sizes that merge.
    fn test_sequentially(
        &mut self,
        mut pool: BlockPool,
        posterior: Posterior,
        units_max: u32,
    ) -> Result<Sequential, Stop> {
        let verdict = posterior.verdict();
        let is_decided = verdict.is_found(units_max);
        if is_decided && self.may_have_rare_merges(&posterior, verdict.number) {
            self.open_pairs(posterior.classifier())?;
        }
        // Under random eviction other blocks keep slots until they are evicted: test random writes before
        // them.
        let is_random_tested = is_decided
            && !self.has_one_sequential_log(posterior.classifier())
            && posterior.is_seen_open()
            && posterior.eviction_probability(EvictionLaw::Random) > 0.5
            && (self.continue_randomly(&mut pool, &posterior)?
                || self.open_into_freed_slots(&pool, &posterior, verdict.number)?);
        if is_decided {
            self.survey_sizes(&mut pool, verdict.number + 1, &posterior)?;
        }
        let is_found = is_decided && posterior.is_seen_open();
        if !is_found && self.may_test_pairs() && self.affords_whole_pair() {
            self.open_pairs(posterior.classifier())?;
        }
        Ok(Sequential { pool, posterior, is_random_tested })
    }

    /// The random search.
    fn search_randomly(&mut self, sequential: &Posterior, units_max: u32) -> Result<(), Stop> {
        let verdict = sequential.verdict();
        let is_decided = verdict.is_found(units_max);
        if !sequential.exceeds_max(units_max) {
            self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
        }
        let searched = self.undisturbed(|search, attempt| {
            if attempt > 0 && search.is_spent(Order::Random) {
                return Ok(None);
            }
            // A small stick has no fresh blocks left. Blocks for random writes need not be fresh.
            let left = search.blocks.left();
            if left == 0 || (is_decided && left <= u64::from(verdict.number)) {
                search.blocks.restart();
            }
            if sequential.exceeds_max(units_max) {
                return search.open_randomly(sequential, units_max).map(Some);
            }
            let mut random = evidence::random_posterior(&[], sequential, units_max);
            let mut pool = search.pool(Order::Random);
            search.search(&mut pool, &mut random, units_max).map(Some)
        })?;
        self.data.others_wrote = searched.is_none();
        Ok(())
    }

    /// Opens fresh blocks at random after a sequential search in which all blocks fit.
    fn open_randomly(&mut self, sequential: &Posterior, units_max: u32) -> Result<(), Stop> {
        let mut random = evidence::random_posterior(&[], sequential, units_max);
        let mut pool = self.pool(Order::Random);
        let left = self.experiment.bytes_max.saturating_sub(self.session.bytes_written());
        let affordable = u32::try_from(left / (self.request * 2)).unwrap_or(u32::MAX);
        self.open(&mut pool, units_max.min(affordable), &mut random)?;
        random = self.without_stalls(&random, Order::Random, random.classifier());
        if random.openings_were_slow(SLOW_OPENINGS) {
            self.search(&mut pool, &mut random, units_max)?;
            self.test_rule(&mut pool, &mut random, units_max, OPEN_MAX)?;
        }
        Ok(())
    }

    /// Sequential writes into one or two fresh units, as in the baseline. The first write into each is left
    /// out: it may close a block.
    fn control(&mut self) -> Result<(), Stop> {
        let first = self.data.larger.first().or(self.data.cells.first());
        let request = first.map_or(self.request, |cell| cell.request);
        let baseline = evidence::write_sequences(self.data).first().map(|sequence| sequence.classifier);
        let mut pool = BlockPool::new(self.experiment.erase_block, request, Order::Linear);
        let units = if self.data.appended.is_empty() { 1 } else { evidence::ROUND_ROBIN_UNITS as usize };
        for index in 0..units {
            pool.write(&mut self.session, &mut self.blocks, index)?;
        }
        let mut latencies = Vec::new();
        let steps = (1..=CONTROL_STEPS_MAX).map(|steps| steps * CONTROL_STEP);
        for writes in std::iter::once(CONTROL_UNCHANGED).chain(steps) {
            while latencies.len() < writes {
                let written = pool.write(&mut self.session, &mut self.blocks, latencies.len() % units)?;
                let latency = written.and_then(|written| written.latency);
                latencies.push(latency.filter(|_| !self.others_wrote()));
            }
            let known: Vec<Duration> = latencies.iter().copied().flatten().collect();
            let is_decided = |classifier: SlowClassifier| {
                if writes == CONTROL_UNCHANGED {
                    classifier.is_unchanged(&known)
                } else {
                    classifier.changed(&known).is_none()
                }
            };
            if baseline.is_none_or(is_decided) {
                break;
            }
        }
        let latencies = latencies.into_iter().flatten().collect();
        self.data.controls.push(Times::Each(latencies));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flashscope_device::layer::{Budget, Trace};
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{Bytes, Device, OpKind};
    use flashscope_record::observation::OpenUnitsData;

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    const UNITS_MAX: u32 = 9;
    const ERASE_BLOCK: Bytes = Bytes::mib(1);

    /// The data of some tests on a device that never merges.
    fn measured(test: impl FnOnce(&mut Search<'_, '_>)) -> OpenUnitsData {
        measured_on(&mut MemoryDevice::new(Bytes::mib(256)), test)
    }

    fn measured_on(device: &mut dyn Device, test: impl FnOnce(&mut Search<'_, '_>)) -> OpenUnitsData {
        let blocks = EraseBlocks::to_write(&*device, ERASE_BLOCK).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData::default();
        let experiment =
            OpenUnits { units_max: UNITS_MAX, ..OpenUnits::new(ERASE_BLOCK, Some(Bytes::kib(64)), 1) };
        test(&mut Search::new(experiment, session, blocks, &mut data));
        data
    }

    /// A block that is open already would not need another slot.
    #[test]
    fn random_writes_go_into_fresh_blocks_as_long_as_there_are_some() {
        let mut device = Trace::new(MemoryDevice::new(Bytes::mib(256)));
        let mut before = Bytes::ZERO;
        measured_on(&mut device, |search| {
            let (_, posterior) = search.search_sequentially(UNITS_MAX).unwrap().unwrap();
            before = search.session.bytes_written();
            search.search_randomly(&posterior, UNITS_MAX).unwrap();
        });
        let (mut written, mut sequential, mut random) = (Bytes::ZERO, BTreeSet::new(), BTreeSet::new());
        for record in device.records().iter().filter(|record| record.kind == OpKind::Write) {
            let blocks = if written < before { &mut sequential } else { &mut random };
            blocks.insert(record.range.offset / ERASE_BLOCK);
            written += record.range.length;
        }
        assert!(!random.is_empty() && sequential.is_disjoint(&random), "{sequential:?} {random:?}");
    }

    /// A single sequential log, and a layer that maps single pages, may take any number of blocks in turns.
    #[test]
    fn where_no_number_is_too_many_pairs_of_blocks_and_collections_are_tested() {
        let data = measured(|search| {
            let (pool, posterior) = search.search_sequentially(UNITS_MAX).unwrap().unwrap();
            assert!(!posterior.verdict().is_found(UNITS_MAX));
            search.test_sequentially(pool, posterior, UNITS_MAX).unwrap();
        });
        assert_eq!(data.opening_pairs.len(), 1);
        let data = measured(|search| search.run().unwrap());
        assert!(!data.one_run.is_empty());
        // Random writes are kept beside those of the search, not beside those over data.
        assert!(data.cells.iter().any(|cell| cell.order == Order::Random), "{:?}", data.cells);
        assert!(data.rewritten.iter().all(|cell| cell.order == Order::Linear), "{:?}", data.rewritten);
    }
}
