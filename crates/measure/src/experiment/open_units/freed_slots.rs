//! Random writes under random eviction: fills whole blocks, which frees their slots, and opens as many others
//! at random, until an opening costs a merge. See docs/methods/open-units.md.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::GRANTED;
use flashscope_record::observation::Order;

use super::parameters::{NUMBER_TRIED_MIN, SLOW_OPENINGS};
use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::Search;
use crate::limits::LARGE_REQUEST;
use crate::session::{Stop, fill, range};

/// Blocks filled beyond the number open, as some were closed before.
const SPARE: u32 = 2;
/// One more for each 16 open blocks.
const BLOCKS_PER_SPARE: u32 = 16;
/// Limits the bytes of filling blocks, which may leave nothing for a search afterwards. Guess.
const BYTES_MAX: Bytes = Bytes::mib(152);

/// The most requests this test takes.
pub(super) fn requests_max(units_max: u32) -> u64 {
    u64::from(units_max + SLOW_OPENINGS) * 2 + (BYTES_MAX / LARGE_REQUEST) + u64::from(units_max)
}

impl Search<'_, '_> {
    /// Fills sequentially opened blocks, the most recent first, and opens as many at random. If that decides
    /// no number, the random search continues from there. False if the test is not possible.
    pub(super) fn open_into_freed_slots(
        &mut self,
        pool: &BlockPool,
        sequential: &Posterior,
        number: u32,
    ) -> Result<bool, Stop> {
        if number < NUMBER_TRIED_MIN || self.blocks.left() == 0 {
            return Ok(false);
        }
        self.others_wrote();
        if self.since_others < number as usize {
            // What others wrote still holds a slot.
            return Ok(false);
        }
        self.is_disturbed = false;
        let cells = std::mem::take(&mut self.data.cells);
        let opened = self.fill_and_open(pool, sequential, number);
        self.data.freed = std::mem::replace(&mut self.data.cells, cells);
        let Some(mut opened) = opened? else { return Ok(false) };
        self.others_wrote();
        if self.is_disturbed {
            // What others wrote took a slot that had been freed.
            self.data.freed.clear();
            self.leave_out()?;
            return Ok(false);
        }
        let units_max = self.experiment.units_max;
        let decided = || evidence::found_with_freed_slots(&self.data.freed, sequential, units_max);
        if decided().is_some() {
            return Ok(true);
        }
        let before = self.data.cells.len();
        self.data.cells.append(&mut self.data.freed);
        self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
        let mut random = evidence::random_posterior(&self.data.cells, sequential, units_max);
        self.search(&mut opened, &mut random, units_max)?;
        self.others_wrote();
        if self.is_disturbed {
            self.data.cells.truncate(before);
            self.leave_out()?;
        }
        Ok(!self.is_disturbed)
    }

    /// The blocks that were opened. `None` if freeing the slots of all blocks takes too many bytes.
    fn fill_and_open(
        &mut self,
        pool: &BlockPool,
        sequential: &Posterior,
        number: u32,
    ) -> Result<Option<BlockPool>, Stop> {
        let erase_block = self.experiment.erase_block;
        let others_open = std::mem::take(&mut self.others_open);
        let of_pool = |unit| pool.offset_of(unit).filter(|offset| !others_open.contains(offset));
        let may_be_open = others_open.len() + sequential.may_be_open(number).filter_map(of_pool).count();
        let left = self.experiment.bytes_max.saturating_sub(self.session.bytes_written());
        let affordable = (left + self.experiment.bytes_afterwards).min(BYTES_MAX) / erase_block;
        if affordable < may_be_open as u64 {
            return Ok(None);
        }
        let wanted = may_be_open.max((number + SPARE + number / BLOCKS_PER_SPARE) as usize);
        let filled = wanted.min(usize::try_from(affordable).unwrap_or(usize::MAX));
        if erase_block * filled as u64 > left {
            self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
        }
        // Fill all of them first: filling one may close another.
        let latest = sequential.most_recent_first().filter_map(of_pool);
        for offset in others_open.iter().copied().chain(latest).take(filled) {
            fill(&mut self.session, range(offset, erase_block))?;
        }
        let mut opened = self.pool(Order::Random);
        let mut random = evidence::posterior_with_freed_slots(&[], sequential, self.experiment.units_max);
        let mut more = SLOW_OPENINGS;
        for number in 1..=number + SLOW_OPENINGS {
            if !self.open(&mut opened, number, &mut random)? {
                break;
            }
            random.finish_pair();
            let is_sure = random.verdict().probability > GRANTED;
            if random.openings_were_slow(SLOW_OPENINGS) && (is_sure || more == 0) {
                break;
            }
            more -= u32::from(random.openings_were_slow(SLOW_OPENINGS));
        }
        Ok(Some(opened))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::layer::Budget;
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData};

    use super::*;
    use crate::contract::{Estimate, Silent};
    use crate::experiment::erase_blocks::EraseBlocks;
    use crate::experiment::open_units::OpenUnits;
    use crate::session::Session;

    /// The test after two sequential writes into each of this number of blocks of 4 MiB, on a device that
    /// never merges: whether it was made, the bytes it wrote, and the number of random writes.
    fn opened(number: u32, bytes_max: Bytes) -> (bool, Bytes, usize) {
        let erase_block = Bytes::mib(4);
        let mut device = MemoryDevice::new(Bytes::mib(256));
        let blocks = EraseBlocks::to_write(&device, erase_block).unwrap();
        let (budget, estimate, mut observer) = (Budget::UNLIMITED, Estimate::default(), Silent);
        let session = Session::begin("test", estimate, &mut device, &budget, &mut observer, 1);
        let mut data = OpenUnitsData { erase_block, ..OpenUnitsData::default() };
        let experiment = OpenUnits::new(erase_block, Some(Bytes::kib(16)), 1);
        let experiment = OpenUnits { units_max: 24, bytes_max, ..experiment };
        let mut search = Search::new(experiment, session, blocks, &mut data);
        let mut pool = search.pool(Order::Linear);
        assert_eq!(search.rounds(&mut pool, 1, 12), Ok(true));
        assert_eq!(search.rounds(&mut pool, number, 2), Ok(true));
        let sequential = evidence::sequential_posterior(search.data).unwrap();
        let before = search.session.bytes_written();
        let is_made = search.open_into_freed_slots(&pool, &sequential, number).unwrap();
        let written = search.session.bytes_written() - before;
        drop(search);
        let random = data.cells.iter().filter(|cell| cell.order == Order::Random);
        (is_made, written, random.flat_map(OpenUnitsCell::writes).count())
    }

    #[test]
    fn slots_of_three_blocks_are_tried_one_by_one_and_those_of_two_are_not() {
        let (two, three) = (opened(2, Bytes::mib(160)), opened(3, Bytes::mib(160)));
        assert_eq!(two, (false, Bytes::ZERO, 0));
        assert!(three.0 && three.1 > Bytes::mib(4) * 3, "{three:?}");
    }

    /// To fill 13 blocks and two spare ones takes all of the 60 MiB that may be written.
    #[test]
    fn after_filling_blocks_the_search_continues_with_the_bytes_kept_for_it() {
        let (is_made, _, random) = opened(13, Bytes::mib(60));
        assert!(is_made && random > 2 * (13 + 4), "{random} random writes");
    }
}
