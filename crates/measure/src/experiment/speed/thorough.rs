//! How long thorough rows of writes go on: until they have met stalls, and the cost of an exhausted cache,
//! that come only every few gibibytes.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::streams::speed::{ExhaustedCache, Expected, is_changing, is_clear, is_fresh};
use flashscope_record::observation::{Direction, SpeedCase, SpeedCell};

/// The most time of a row: at 10 MB/s that is four periods of stalls that come every 8 GiB.
pub const TIME_MAX: Duration = Duration::from_secs(3600);
/// The first row writes at least this much, if the device holds as much. That is four periods of the rarest
/// known stalls, which come every 4 GiB, and more than the largest known cache.
const FIRST_BYTES_MIN: Bytes = Bytes::gib(16);
/// The most bytes of a row. Guess: flash cells last for hundreds of such rows.
const BYTES_MAX: Bytes = Bytes::gib(48);
/// A row writes the device at most twice.
const OVERWRITES_MAX: u64 = 2;
/// The most requests of a row in a run file: 16 GiB in requests of 64 KiB.
const REQUESTS_MAX: usize = 262_144;
/// A row checks its own times each time it has become longer by a 16th: the check takes host time, in which
/// the device idles.
pub const CHECK_SHARE: u32 = 16;

/// The most requests of such a row on a device of this capacity.
pub fn requests_max(case: SpeedCase, capacity: Bytes) -> usize {
    let bytes = BYTES_MAX.min(capacity * OVERWRITES_MAX);
    usize::try_from(bytes / case.request).unwrap_or(REQUESTS_MAX).clamp(32, REQUESTS_MAX)
}

/// What a row must still meet before it may end.
#[derive(Debug)]
pub struct Goal {
    /// The least bytes of the first row.
    first_bytes_min: Option<Bytes>,
    /// The cache that earlier rows exhausted.
    exhausted: Option<ExhaustedCache>,
    next_check: Duration,
    /// The result of the last check.
    is_open: bool,
}

impl Goal {
    /// The goal of a row after these. Reads have none.
    pub fn new(case: SpeedCase, is_first: bool, before: &[SpeedCell], capacity: Bytes) -> Option<Self> {
        let first_bytes_min = is_first.then(|| FIRST_BYTES_MIN.min(capacity));
        (case.direction == Direction::Write).then(|| Self {
            first_bytes_min,
            exhausted: ExhaustedCache::after(before),
            next_check: Duration::ZERO,
            is_open: true,
        })
    }

    /// Whether a row that has lasted for `lasted` must still go on.
    pub fn is_open(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        if lasted >= TIME_MAX || self.first_bytes_min.is_some_and(|least| cell.transferred() < least) {
            return lasted < TIME_MAX;
        }
        if lasted >= self.next_check {
            self.next_check = lasted + lasted / CHECK_SHARE;
            self.is_open = is_fresh(cell)
                || if self.first_bytes_min.is_some() {
                    !stalls_are_known(cell, lasted)
                } else {
                    is_changing(cell) || self.exhausted.is_some_and(|exhausted| exhausted.may_slow(cell))
                };
        }
        self.is_open
    }
}

/// Whether the first row shows which share of its time stalls take, or that there are none.
fn stalls_are_known(cell: &SpeedCell, lasted: Duration) -> bool {
    let own = Expected::of_its_own(cell).filter(|own| own.is_worth_it(cell, lasted.as_secs_f64()));
    own.map_or_else(|| is_clear(cell), |own| own.is_clear(cell))
}
