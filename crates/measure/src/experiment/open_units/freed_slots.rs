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
