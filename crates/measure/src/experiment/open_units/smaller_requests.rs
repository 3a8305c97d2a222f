//! Continues the sequential search of *open-units* with the smallest request that still merges, so that it
//! writes fewer bytes.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_infer::thresholds::CLEARLY_LONGER;
use flashscope_record::observation::Order;

use super::parameters::SLOW_OPENINGS;
use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{BASELINE, Search};
use crate::session::Stop;

/// An undecided sequential search under random eviction switches to smaller requests after 24 MiB. Guess.
const BYTES_BEFORE: Bytes = Bytes::mib(24);
/// Blocks opened to test one size.
const OPENINGS: u32 = 5;

/// The most requests these tests take: sizes double, so there are at most as many as a size has bits.
pub(super) const REQUESTS_MAX: u64 = (u64::BITS * (2 * OPENINGS + BASELINE)) as u64;

/// Which of the first two writes into a block merges another block. Some controllers write a small first
/// request elsewhere and merge only when the second one continues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MergingWrite {
    First,
    Second,
}

impl Search<'_, '_> {
    /// Whether the sequential search has written enough bytes for smaller requests to be worth a try. Under
    /// LRU eviction few writes decide, and the openings of the test would be evidence themselves.
    pub(super) fn should_shrink(&self, order: Order, posterior: &Posterior) -> bool {
        let writes = u64::try_from(posterior.writes()).unwrap_or(u64::MAX);
        self.is_first(order)
            && self.may_shrink
            && self.request > self.experiment.request_min()
            && posterior.eviction_probability(EvictionLaw::Random) > 0.5
            && (self.request * writes >= BYTES_BEFORE || posterior.fills_blocks_in_turns())
    }

    /// Continues with the smallest request that still merges. False if there is none.
    pub(super) fn shrink(&mut self, pool: &mut BlockPool, posterior: &Posterior) -> Result<bool, Stop> {
        let larger = self.request;
        let doubled = std::iter::successors(Some(self.experiment.request_min()), |size| Some(*size * 2));
        let sizes = doubled.take_while(|size| *size < larger);
        // Each block continues where its writes ended.
        let sizes = sizes.filter(|size| larger.is_multiple_of(*size));
        self.data.larger = std::mem::take(&mut self.data.cells);
        for size in sizes {
            self.continue_with(pool, size, false)?;
            let merging = self.merging_write(pool, posterior.writable_units())?;
            match merging {
                Some(MergingWrite::First) => return Ok(true),
                Some(MergingWrite::Second) => {
                    self.data.larger.append(&mut self.data.cells);
                    self.data.led = true;
                    self.continue_with(pool, size, true)?;
                    return Ok(true);
                }
                None => self.data.larger.append(&mut self.data.cells),
            }
        }
        pool.fill_gaps(&mut self.session, 0..pool.len(), larger)?;
        pool.set_request(larger);
        self.request = larger;
        self.data.cells = std::mem::take(&mut self.data.larger);
        Ok(false)
    }

    /// Continues with requests of this size after a new baseline. If `repeats`, each write is preceded by one
    /// to the position before it.
    fn continue_with(&mut self, pool: &mut BlockPool, size: Bytes, repeats: bool) -> Result<(), Stop> {
        pool.set_request(size);
        if repeats {
            pool.repeat_previous();
        }
        self.request = size;
        let last = pool.len().saturating_sub(1);
        for _ in 0..BASELINE {
            self.write(pool, 1, last)?;
        }
        Ok(())
    }

    /// Which of two writes into a fresh block merges. `opened` blocks were opened before.
    fn merging_write(&mut self, pool: &mut BlockPool, opened: u32) -> Result<Option<MergingWrite>, Stop> {
        let (mut first, mut second) = (0, 0);
        for number in (opened + 1..).take(OPENINGS as usize) {
            let index = pool.len();
            let mut write = || -> Result<Option<Duration>, Stop> {
                let written = self.write(pool, number, index)?;
                Ok(written.and_then(|written| written.latency))
            };
            let (Some(opening), Some(next)) = (write()?, write()?) else { return Ok(None) };
            first += u32::from(opening >= next.mul_f64(CLEARLY_LONGER));
            second += u32::from(next >= opening.mul_f64(CLEARLY_LONGER));
            let slow = first.max(second);
            if slow == SLOW_OPENINGS || number - opened - slow > OPENINGS - SLOW_OPENINGS {
                break;
            }
        }
        let first = (first == SLOW_OPENINGS).then_some(MergingWrite::First);
        Ok(first.or((second == SLOW_OPENINGS).then_some(MergingWrite::Second)))
    }
}
