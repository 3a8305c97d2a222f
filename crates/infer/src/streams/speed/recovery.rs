//! A cache that earlier rows spent: while the controller empties it, later writes are slower.

use flashscope_device::Bytes;

use flashscope_record::observation::{Direction, Order, SpeedCell};

use crate::streams::drift::Drift;
use crate::streams::speed::clear::is_clear;
use crate::streams::speed::phases::{Phases, STARTUP_RATIO};

/// A cache that rows of sequential writes spent, and that the controller may still be emptying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    /// The size of the cache.
    pub(super) cache: Bytes,
}

impl Owed {
    /// The largest cache that these rows spent; `None` once one of them has reached its steady speed.
    #[must_use]
    pub fn by(rows: &[SpeedCell]) -> Option<Self> {
        if rows.iter().any(has_recovered) {
            return None;
        }
        let is_sequential =
            |cell: &&SpeedCell| (cell.case.direction, cell.case.order) == (Direction::Write, Order::Linear);
        let cache = rows.iter().filter(is_sequential).filter_map(spent_cache).max()?;
        Some(Self { cache })
    }

    /// Whether this later row may still be slower for it.
    #[must_use]
    pub fn is_open(self, cell: &SpeedCell) -> bool {
        cell.transferred() < self.cache && !has_recovered(cell)
    }
}

/// Whether a row of writes was slow at first, became faster, and reached its steady speed.
fn has_recovered(cell: &SpeedCell) -> bool {
    let drift = || Phases::of(cell).and_then(|phases| phases.drift);
    cell.case.direction == Direction::Write && drift() == Some(Drift::Faster) && is_clear(cell)
}

/// What a row of writes wrote until it became slow.
fn spent_cache(cell: &SpeedCell) -> Option<Bytes> {
    let phases = Phases::of(cell)?;
    let startup = phases.startup(cell.case.request)?;
    let steady = 1.0 / phases.mean()?.seconds_per_byte;
    (startup.bytes_per_s > steady * STARTUP_RATIO).then_some(startup.bytes)
}
