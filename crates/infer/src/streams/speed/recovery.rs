//! An SLC cache that earlier rows exhausted: while the controller folds its data, later writes are slower.

use flashscope_device::Bytes;

use flashscope_record::observation::{Direction, Order, SpeedCell};

use crate::streams::drift::Drift;
use crate::streams::speed::clear::is_clear;
use crate::streams::speed::phases::{Phases, STARTUP_RATIO};

/// A cache that rows of sequential writes exhausted, and whose data the controller may still be folding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExhaustedCache {
    /// The size of the cache.
    pub(super) size: Bytes,
}

impl ExhaustedCache {
    /// The largest cache that these rows exhausted; `None` once one of them has reached its steady speed.
    #[must_use]
    pub fn after(rows: &[SpeedCell]) -> Option<Self> {
        if rows.iter().any(has_recovered) {
            return None;
        }
        let is_sequential =
            |cell: &&SpeedCell| (cell.case.direction, cell.case.order) == (Direction::Write, Order::Linear);
        let size = rows.iter().filter(is_sequential).filter_map(exhausted_cache).max()?;
        Some(Self { size })
    }

    /// Whether this later row may still be slowed by folding.
    #[must_use]
    pub fn may_slow(self, cell: &SpeedCell) -> bool {
        cell.transferred() < self.size && !has_recovered(cell)
    }
}

/// Whether a row of writes was slow at first, became faster, and reached its steady speed.
fn has_recovered(cell: &SpeedCell) -> bool {
    let drift = || Phases::of(cell).and_then(|phases| phases.drift);
    cell.case.direction == Direction::Write && drift() == Some(Drift::Faster) && is_clear(cell)
}

/// The bytes that a row of writes wrote before it became slow.
fn exhausted_cache(cell: &SpeedCell) -> Option<Bytes> {
    let phases = Phases::of(cell)?;
    let startup = phases.startup(cell.case.request)?;
    let steady = 1.0 / phases.mean()?.seconds_per_byte;
    (startup.bytes_per_s > steady * STARTUP_RATIO).then_some(startup.bytes)
}
