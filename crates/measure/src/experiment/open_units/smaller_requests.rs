//! Continues the sequential search of *open-units* with the smallest request that still merges, so that it
//! writes fewer bytes.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::eviction::EvictionLaw;
use flashscope_infer::open_blocks::posterior::Posterior;
use flashscope_record::observation::Order;

use crate::experiment::block_pool::BlockPool;
use crate::experiment::open_units::search::{BASELINE, Search};
use crate::session::Stop;

/// An undecided sequential search under random eviction switches to smaller requests after 24 MiB. Guess.
const BYTES_BEFORE: Bytes = Bytes::mib(24);
/// A smaller request merges if opening a block takes 1.6 times as long as the next write. Guess.
const SLOW_RATIO: f64 = 1.6;
/// Blocks opened to test one size.
const OPENINGS: u32 = 5;
/// How many of these must be slow.
const SLOW_OPENINGS_MIN: u32 = 4;

/// The most requests these tests take: sizes double, so there are at most as many as a size has bits.
pub(super) const REQUESTS_MAX: u64 = (u64::BITS * (2 * OPENINGS + BASELINE)) as u64;

impl Search<'_, '_> {
    /// Whether the sequential search has written enough bytes under random eviction for smaller requests to
    /// be worth a try.
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
        // Each block continues where its writes ended.
        let sizes = doubled.take_while(|size| *size < larger).filter(|size| larger.is_multiple_of(*size));
        self.data.larger = std::mem::take(&mut self.data.cells);
        for size in sizes {
            self.continue_with(pool, size)?;
            if self.merges(pool, posterior.writable_units())? {
                return Ok(true);
            }
            self.data.larger.append(&mut self.data.cells);
        }
        pool.fill_gaps(&mut self.session, 0..pool.len(), larger)?;
        pool.set_request(larger);
        self.request = larger;
        self.data.cells = std::mem::take(&mut self.data.larger);
        Ok(false)
    }

    /// Continues with requests of this size after a new baseline.
    fn continue_with(&mut self, pool: &mut BlockPool, size: Bytes) -> Result<(), Stop> {
        pool.set_request(size);
        self.request = size;
        let last = pool.len().saturating_sub(1);
        for _ in 0..BASELINE {
            self.write(pool, 1, last)?;
        }
        Ok(())
    }

    /// Whether the first write into a fresh block merges another one. `opened` blocks were opened before.
    fn merges(&mut self, pool: &mut BlockPool, opened: u32) -> Result<bool, Stop> {
        let mut slow = 0;
        for number in (opened + 1..).take(OPENINGS as usize) {
            let index = pool.len();
            let mut write = || -> Result<Option<Duration>, Stop> {
                let written = self.write(pool, number, index)?;
                Ok(written.and_then(|written| written.latency))
            };
            let (Some(opening), Some(next)) = (write()?, write()?) else { return Ok(false) };
            slow += u32::from(opening >= next.mul_f64(SLOW_RATIO));
            if slow == SLOW_OPENINGS_MIN || number - opened - slow > OPENINGS - SLOW_OPENINGS_MIN {
                break;
            }
        }
        Ok(slow == SLOW_OPENINGS_MIN)
    }
}
