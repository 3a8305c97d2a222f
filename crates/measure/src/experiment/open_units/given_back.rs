//! Where any block may have to go, out of order: whole blocks are written, which gives back what places they hold, and as many are begun
//! out of order, until that costs a merge. See docs/methods/open-units.md.

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::evidence;
use flashscope_infer::open_blocks::posterior::Belief;
use flashscope_record::observation::Order;

use crate::experiment::open_units::Search;
use crate::experiment::pool::Pool;
use crate::session::{PIECE, Stop, fill, range};

/// From so many open blocks on this is tried: fewer are soon told by writing into them in turn.
const NUMBER_MIN: u32 = 3;
/// So many blocks more than are open are written at least, and one more of so many: some were closed before that.
const SPARE: u32 = 2;
const SPARE_OF: u32 = 16;
/// So many begun beyond the last that cost nothing are enough, all but one of which cost something.
const BEYOND: u32 = 4;
/// Where a stall came in between, so many more at most, until one number is that likely.
const SURE: f64 = 0.98;
/// So much is written at most, where that is enough for all of them, for which the search afterwards may have nothing left; and where it is
/// not, but for one of so many.
const BYTES_MAX: Bytes = Bytes::mib(152);
const BYTES_OF_SOME: Bytes = Bytes::mib(112);
const SOME: u32 = 4;
/// So much more may be written in the search afterwards, where that told nothing.
pub(super) const BYTES_AFTERWARDS: Bytes = Bytes::mib(48);

/// How many requests this takes at most.
pub(super) fn requests_max(units_max: u32) -> u64 {
    u64::from(units_max + BEYOND) * 2 + (BYTES_MAX / PIECE) + u64::from(units_max)
}

impl Search<'_, '_> {
    /// Writes blocks of the search in order, the last first, as a whole, and begins as many out of order, where so many were seen open
    /// in order. Where that does not tell how many fit out of order, it is how the search out of order begins. Whether that is done.
    pub(super) fn begin_given_back(
        &mut self,
        pool: &Pool,
        linear: &Belief,
        number: u32,
    ) -> Result<bool, Stop> {
        if number < NUMBER_MIN || self.units.left() == 0 {
            return Ok(false);
        }
        let cells = std::mem::take(&mut self.data.cells);
        let begun = self.begin_those(pool, linear, number);
        self.data.given_back = std::mem::replace(&mut self.data.cells, cells);
        let Some((mut begun, may_tell)) = begun? else { return Ok(false) };
        let most = self.experiment.units_max;
        if may_tell && evidence::given_back_tells(&self.data.given_back, linear, most).is_some() {
            return Ok(true);
        }
        self.data.cells.append(&mut self.data.given_back);
        self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
        let mut random = evidence::random(&self.data.cells, linear, most);
        self.search(&mut begun, &mut random, most)?;
        Ok(true)
    }

    /// The blocks that were begun, and whether the places of all of them were free; `None` if that is too much to write.
    fn begin_those(
        &mut self,
        pool: &Pool,
        linear: &Belief,
        number: u32,
    ) -> Result<Option<(Pool, bool)>, Stop> {
        let erase_block = self.experiment.erase_block;
        let left = self.experiment.bytes_max.saturating_sub(self.session.bytes_written());
        let afterwards = self.experiment.bytes_afterwards;
        let fit = |most: Bytes| u32::try_from(most / erase_block).unwrap_or(u32::MAX);
        let fit_all = fit((left + afterwards).min(BYTES_MAX));
        let fit_some = fit(left.min(BYTES_OF_SOME));
        let before = std::mem::take(&mut self.begun);
        let in_order = |unit| pool.offset_of(unit).filter(|offset| !before.contains(offset));
        let in_order_may_be_open = linear.may_be_open(number).filter_map(in_order).count();
        let may_be_open = u32::try_from(before.len() + in_order_may_be_open).unwrap_or(u32::MAX);
        let is_all = fit_all >= may_be_open;
        let (whole, most) = if is_all {
            (fit_all.min(may_be_open.max(number + SPARE + number / SPARE_OF)), number + BEYOND)
        } else {
            (fit_some, fit_some)
        };
        if most < NUMBER_MIN.max(number / SOME) {
            return Ok(None);
        }
        if erase_block * u64::from(whole) > left {
            self.experiment.bytes_max += std::mem::take(&mut self.experiment.bytes_afterwards);
        }
        // First all of them: writing one whole may close another.
        let latest = linear.latest().filter_map(in_order);
        for offset in before.iter().copied().chain(latest).take(whole as usize) {
            fill(&mut self.session, range(offset, erase_block))?;
        }
        let mut begun = self.pool(Order::Random);
        let mut random = evidence::given_back(&[], linear, self.experiment.units_max);
        let mut sought = BEYOND;
        for opened in 1..=most {
            if !self.open(&mut begun, opened, &mut random)? {
                break;
            }
            random.settle();
            if random.openings_were_slow(BEYOND) && (random.verdict().probability > SURE || sought == 0) {
                break;
            }
            sought -= u32::from(random.openings_were_slow(BEYOND));
        }
        // Not all places are free: what is slow with the first write of two wants for one. Out of order fewer fit where the second is.
        let may_tell = is_all || (before.len() <= whole as usize && !self.first_is_slow(&random));
        Ok(Some((begun, may_tell)))
    }

    /// Whether of the last blocks begun any was slow with the first of its two writes.
    fn first_is_slow(&self, random: &Belief) -> bool {
        let last = self.data.cells.iter().rev().take(BEYOND as usize);
        let first = last.filter_map(|cell| cell.writes().next());
        first.into_iter().any(|(_, latency)| random.slowness().is_slow(latency))
    }
}
