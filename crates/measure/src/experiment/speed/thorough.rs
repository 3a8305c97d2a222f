//! How far rows of writes go that are to meet what comes only every few gibibytes: stalls, and what a spent cache owes.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_infer::streams::speed::{Expected, Owed, is_changing, is_clear, is_fresh};
use flashscope_record::observation::{Direction, SpeedCase, SpeedCell};

use crate::experiment::speed::LOOK_AFTER_SHARE;

/// How long a row goes on at most: at 10 MB/s that is four periods of stalls that come every 8 GiB.
pub const PATIENCE: Duration = Duration::from_secs(3600);
/// A row that none went before goes on over so much at least, as long as the device holds as much: four periods of the rarest stalls
/// that are known, which come every 4 GiB, and more than what caches of sticks were seen to hold.
const BYTES_MIN_FIRST: Bytes = Bytes::gib(16);
/// A row writes no more than this, and no more than the device holds twice: its cells last for hundreds of times.
const BYTES_MAX: Bytes = Bytes::gib(48);
const TIMES_OVER: u64 = 2;
/// A run file has so many requests of a row at most: 16 GiB in pieces of 64 KiB.
const REQUESTS_MAX: usize = 262_144;

/// The most requests of such a row on a device of this capacity.
pub fn requests_max(case: SpeedCase, capacity: Bytes) -> usize {
    let bytes = BYTES_MAX.min(capacity * TIMES_OVER);
    usize::try_from(bytes / case.request).unwrap_or(REQUESTS_MAX).clamp(32, REQUESTS_MAX)
}

/// What a row still has to meet.
#[derive(Debug)]
pub struct ToMeet {
    /// Of a row that none went before: so much is written in any case.
    least_of_first: Option<Bytes>,
    /// The cache that rows before spent.
    owed: Option<Owed>,
    next: Duration,
    /// As it was when the row last looked.
    is_left: bool,
}

impl ToMeet {
    /// What a row behind these has to meet; reads have nothing to.
    pub fn of(case: SpeedCase, is_first: bool, before: &[SpeedCell], capacity: Bytes) -> Option<Self> {
        let least_of_first = is_first.then(|| BYTES_MIN_FIRST.min(capacity));
        (case.direction == Direction::Write).then(|| Self {
            least_of_first,
            owed: Owed::by(before),
            next: Duration::ZERO,
            is_left: true,
        })
    }

    /// Whether there is anything left behind a row that has lasted so long.
    pub fn is_left(&mut self, cell: &SpeedCell, lasted: Duration) -> bool {
        if lasted >= PATIENCE || self.least_of_first.is_some_and(|least| cell.transferred() < least) {
            return lasted < PATIENCE;
        }
        if lasted >= self.next {
            self.next = lasted + lasted / LOOK_AFTER_SHARE;
            self.is_left = is_fresh(cell)
                || if self.least_of_first.is_some() {
                    !tells_its_stalls(cell, lasted)
                } else {
                    is_changing(cell) || self.owed.is_some_and(|owed| owed.is_open(cell))
                };
        }
        self.is_left
    }
}

/// Whether a row that none went before tells how much of its time stalls take, or that there are none.
fn tells_its_stalls(cell: &SpeedCell, lasted: Duration) -> bool {
    let own = Expected::of_its_own(cell).filter(|own| own.is_worth_it(cell, lasted.as_secs_f64()));
    own.map_or_else(|| is_clear(cell), |own| own.is_clear(cell))
}
