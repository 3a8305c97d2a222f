//! Does a log map less than an erase block at once? This shows only in writes over data.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_record::observation::{Group, Order};

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::Search;
use crate::limits::LARGE_REQUEST;
use crate::session::{Stop, range};

/// A merge of less than 4.5 ordinary writes may copy less than an erase block. Guess.
const SHORT_MERGE_WRITES: f64 = 4.5;
/// Random writes over data: two may open the block, six are enough for a median.
const RANDOM_WRITES: u32 = 8;
/// The numbers of pages a log may map at once, the larger first.
const MAPPED_PAGES: [u64; 2] = [8, 4];
/// Groups of pages that are written twice.
const GROUPS: u64 = 6;
/// A block holds at least this many of them.
const GROUPS_PER_BLOCK_MIN: u64 = 4;
/// Positions of a unit that are written and then written again.
const REWRITTEN_POSITIONS: u64 = 8;
/// The same for a longer search, if more units are needed to find one too many.
const REWRITTEN_POSITIONS_FEW: u32 = 3;
/// Pages for each position, after one page that is left out. So a run never ends with a mapping unit, and
/// there is something to merge.
const PAGES_PER_POSITION: u64 = 2;
/// Limits the bytes written before they are written again, and once more for the longer search. Guess.
const REWRITTEN_BYTES_MAX: Bytes = Bytes::mib(16);

/// The most requests these tests take beside their searches.
pub(super) const REQUESTS_MAX: u64 = RANDOM_WRITES as u64 + GROUPS * 2;

impl Search<'_, '_> {
    /// The tests over data, if the merges found are short, or none was found.
    pub(super) fn test_mapping_unit(&mut self, sequential: &Posterior) -> Result<(), Stop> {
        if sequential.exceeds_max(self.experiment.units_max) {
            let is_log = self.search_over_data(true)?;
            // All blocks that were opened fit, though stalls may have come in between.
            let slots_are_free =
                self.affords_whole_pair() || sequential.writable_units() >= self.experiment.units_max;
            if self.may_test_pairs() && !is_log && slots_are_free {
                self.open_pairs(sequential.classifier())?;
            }
            return Ok(());
        }
        let short = sequential.classifier().typical_seconds() * SHORT_MERGE_WRITES;
        if sequential.shortest_merges_seconds().is_some_and(|seconds| seconds < short) {
            let mut pool = self.pool(Order::Random).with_prewritten(2 * RANDOM_WRITES + 2);
            for _ in 0..RANDOM_WRITES {
                let written = pool.write(&mut self.session, &mut self.blocks, 0)?;
                let latency = written.and_then(|written| written.latency);
                let latency = latency.filter(|_| !self.others_wrote());
                self.data.out_of_order.extend(latency);
            }
            if evidence::is_slow_over_data(self.data, sequential.classifier()) {
                self.write_groups()?;
                if !evidence::is_no_log(self.data, sequential) {
                    self.search_over_data(false)?;
                }
            }
        }
        Ok(())
    }

    /// Groups of pages of one block, sequentially and then backward. A log that maps at most one group at
    /// once merges nothing.
    fn write_groups(&mut self) -> Result<(), Stop> {
        let page = self.experiment.mapping_unit_min();
        let fit = (LARGE_REQUEST / page).min(self.experiment.erase_block / page / GROUPS_PER_BLOCK_MIN);
        let Some(pages) = MAPPED_PAGES.into_iter().find(|pages| *pages <= fit) else { return Ok(()) };
        let group = page * pages;
        let groups = (self.experiment.erase_block / group).min(GROUPS);
        let Some(block) = self.blocks.take() else { return Ok(()) };
        let at = |index: u64| range(block + group * index, group);
        let mut forward = Vec::new();
        for index in 0..groups {
            let in_order = self.session.write_through(at(index))?;
            forward.push((index, in_order.filter(|_| !self.others_wrote())));
        }
        for (index, in_order) in forward.into_iter().rev() {
            let backward = self.session.write_through(at(index))?.filter(|_| !self.others_wrote());
            self.data
                .groups
                .extend(in_order.zip(backward).map(|(in_order, backward)| Group { in_order, backward }));
        }
        Ok(())
    }

    /// A search with requests of two pages over data. A longer one uses as many units as it takes to find one
    /// too many. True if it found a number.
    fn search_over_data(&mut self, is_long: bool) -> Result<bool, Stop> {
        let (page, erase_block) = (self.experiment.mapping_unit_min(), self.experiment.erase_block);
        let request = page * PAGES_PER_POSITION;
        let fit = erase_block.saturating_sub(page * PAGES_PER_POSITION) / request;
        let positions = fit.min(REWRITTEN_POSITIONS);
        let affordable = REWRITTEN_BYTES_MAX / (request * positions.max(1));
        let units_max = affordable.min(u64::from(self.experiment.units_max));
        let positions = u32::try_from(positions).unwrap_or(u32::MAX);
        let mut pool = BlockPool::new(erase_block, request, Order::Linear)
            .with_first_offset(page)
            .with_prewritten(positions);
        self.over_data = true;
        let mut is_found = false;
        self.rounds(&mut pool, 1, positions.saturating_sub(2))?;
        if let Some(classifier) = evidence::baseline_classifier(self.cells()) {
            let mut posterior = evidence::over_data_posterior(&self.data.rewritten, classifier);
            let mut units_max = u32::try_from(units_max).unwrap_or(u32::MAX);
            self.search(&mut pool, &mut posterior, units_max)?;
            if is_long && posterior.surely_fit(units_max) {
                let few = positions.min(REWRITTEN_POSITIONS_FEW);
                let bytes = request * u64::from(few.max(1)) + page * 2;
                let more = u32::try_from(REWRITTEN_BYTES_MAX / bytes).unwrap_or(u32::MAX);
                units_max = units_max.saturating_add(more).min(self.experiment.units_max);
                pool = pool.with_prewritten(few);
                self.search(&mut pool, &mut posterior, units_max)?;
            }
            is_found = posterior.verdict().is_found(units_max);
            self.confirm(&mut pool, &mut posterior, units_max)?;
        }
        self.over_data = false;
        Ok(is_found)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::layer::Budget;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData};

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    /// Sequential writes that take two blocks round-robin, and merge with three.
    fn two_are_open(erase_block: Bytes) -> OpenUnitsData {
        let mut data = OpenUnitsData { erase_block, ..OpenUnitsData::default() };
        let mut keep = |number, unit, milliseconds| {
            let key = (Order::Linear, number, Bytes::kib(16));
            OpenUnitsCell::keep(&mut data.cells, key, unit, Duration::from_millis(milliseconds));
        };
        (0..12).for_each(|_| keep(1, 0, 2));
        (0..9).for_each(|index| keep(2, (index + 1) % 2, 2));
        (0..12).for_each(|index| keep(3, (index + 2) % 3, 200));
        data
    }

    /// Writes over data may merge less than a block, or not at all.
    #[test]
    fn number_found_over_data_is_that_of_the_writes_over_data() {
        let (erase_block, units_max) = (Bytes::mib(1), 9);
        let mut data = two_are_open(erase_block);
        let before = evidence::sequential_posterior(&data).unwrap().verdict();
        assert!(before.number == 2 && before.is_found(units_max), "{before:?}");
        // No write merges here.
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let experiment = OpenUnits { units_max, ..OpenUnits::new(erase_block, None, 1) };
        let mut search = Search::new(experiment, session, blocks, &mut data);
        assert_eq!(search.search_over_data(false), Ok(false));
    }
}
