//! Whether space is collected while nothing but one block is written, and whether pages out of order cost anything: what a layer
//! that maps single pages does. See docs/methods/open-units.md.

use std::ops::Range;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::open_blocks::collection::collections;
use flashscope_infer::open_blocks::posterior::Belief;
use flashscope_infer::open_blocks::{collection, evidence};
use flashscope_infer::slow_classifier::SlowClassifier;
use flashscope_record::observation::{OpenUnitsCell, Order, Times};

use crate::experiment::open_units::Search;
use crate::experiment::pool::Pool;
use crate::session::{Stop, range};

/// So much is written at most, if the search left as much, and this in any case.
const BYTES_USUAL: Bytes = Bytes::mib(24);
const BYTES_LEAST: Bytes = Bytes::mib(6);
/// So much where some collections were seen by then, but too few to tell, and blocks are small enough for more of them.
pub(super) const BYTES_MAX: Bytes = Bytes::mib(56);
const SEEN: Range<usize> = 2..4;
const BLOCK_MAX: Bytes = Bytes::mib(8);
/// And for so long.
const TIME_MAX: Duration = Duration::from_secs(60);
/// So many collections are enough.
const ENOUGH: usize = 10;
/// Where none, or one, came in so many writes, they are doubled.
const WRITES_OF_A_SIZE: u32 = 24;
const TOO_FEW: usize = 2;
/// Up to this size.
const LARGEST: Bytes = Bytes::mib(1);
/// So many slow writes into one block alone, and one in so many of them, tell that they may have nothing to do with other blocks.
const SLOW_ALONE: usize = 5;
const SLOW_ALONE_OF: usize = 6;
/// So many writes out of order.
const SCATTERED: u64 = 12;

/// Nor so many writes, where blocks are so small that sizes are not doubled for long.
const WRITES_MAX: u64 = 512;

/// How many requests this takes at most.
pub(super) const REQUESTS_MAX: u64 = WRITES_MAX + SCATTERED;

impl Search<'_, '_> {
    /// Whether slow writes of the search came so evenly that they may have been collections.
    pub(super) fn is_slow_evenly(&self, linear: &Belief) -> bool {
        evidence::parts(self.data)
            .last()
            .is_some_and(|part| collection::slow_each(part, linear.slowness()).is_some())
    }

    /// Whether writes into one block alone, at the start and in the controls, were slow as often as no few stalls are.
    pub(super) fn is_slow_in_one_block(&self, slowness: SlowClassifier) -> bool {
        if !self.data.larger.is_empty() || !self.data.appended.is_empty() {
            return false;
        }
        let is_alone = |cell: &&OpenUnitsCell| cell.order == Order::Linear && cell.open_units == 1;
        // The first write into a block may close another; controls leave it out.
        let first = self.data.cells.first().into_iter().filter(is_alone);
        let at_start = first.flat_map(|cell| cell.writes().skip(1).map(|(_, latency)| latency));
        let in_controls = self.data.controls.iter().flat_map(Times::each).copied();
        let slow: Vec<bool> = at_start.chain(in_controls).map(|latency| slowness.is_slow(latency)).collect();
        let number = slow.iter().filter(|slow| **slow).count();
        number >= SLOW_ALONE && number * SLOW_ALONE_OF >= slow.len()
    }

    /// Writes one block after the other from start to end, with larger and larger requests, until enough of them were held up by a
    /// collection; and then pages of one block from its end to its start, each apart from the others.
    pub(super) fn collect(&mut self) -> Result<(), Stop> {
        let page = self.experiment.mapped_at_once();
        let (erase_block, began_at) = (self.experiment.erase_block, self.session.device_time());
        let before = self.session.bytes_written();
        let left = self.experiment.bytes_max.saturating_sub(before).clamp(BYTES_LEAST, BYTES_MAX);
        let mut pool = Pool::new(erase_block, page, Order::Linear);
        if left / erase_block >= self.units.left() {
            self.units.begin_again();
        }
        let (mut of_size, mut writes) = (0, 0);
        while writes < WRITES_MAX && self.session.device_time() < began_at + TIME_MAX {
            let seen = collections(&self.data.one_run).len();
            let may_see_more = SEEN.contains(&seen) && erase_block <= BLOCK_MAX;
            let most = if may_see_more { left } else { left.min(BYTES_USUAL) };
            if seen >= ENOUGH || self.session.bytes_written() + pool.request > before + most {
                break;
            }
            let Some(written) = pool.write(&mut self.session, &mut self.units, 0)? else { break };
            let kept = (Order::Linear, 1, pool.request);
            if let Some(latency) = written.latency {
                OpenUnitsCell::keep(&mut self.data.one_run, kept, written.unit, latency);
            }
            writes += 1;
            of_size += 1;
            if of_size == WRITES_OF_A_SIZE {
                of_size = 0;
                let seen = self.data.one_run.last().map_or(0, |last| collections([last]).len());
                if seen < TOO_FEW && pool.request * 2 <= LARGEST.min(erase_block / 4) {
                    pool.set_request(pool.request * 2);
                }
            }
        }
        if collections(&self.data.one_run).is_empty() {
            return Ok(());
        }
        let Some(unit) = self.units.take() else { return Ok(()) };
        let places = (erase_block / page / 2).min(SCATTERED);
        for place in (0..places).rev() {
            let latency = self.session.write_through(range(unit + page * (place * 2), page))?;
            self.data.scattered.extend(latency);
        }
        Ok(())
    }
}
