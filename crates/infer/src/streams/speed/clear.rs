//! Whether a row of equal requests has gone on long enough.

use flashscope_record::observation::SpeedCell;

use crate::streams::drift::Drift;
use crate::streams::speed::phases::{CLEAR_AFTER, Phases};

/// The fewest requests of a steady phase: those after a start may be of two kinds. Guess.
const CLEAR_REQUESTS: usize = 24;
/// An interval with at most this half width, as a share, is narrow enough: the stated precision of a row
/// (docs/methods/speed.md).
pub const CLEAR_HALF_WIDTH: f64 = 0.01;
/// An interval with a larger half width, as a share, is measured for longer: twice the stated precision.
/// The two halves of a steady phase differ by at most this share as well. Guess.
const VAGUE_HALF_WIDTH: f64 = 0.02;

/// Whether more requests would change the speed little.
#[must_use]
pub fn is_clear(cell: &SpeedCell) -> bool {
    let Some(phases) = Phases::of(cell) else { return false };
    let requests = cell.took_ns.len() - phases.first_steady_request();
    phases.mean().is_some_and(|mean| {
        requests >= CLEAR_REQUESTS
            && mean.seconds >= CLEAR_AFTER.as_secs_f64()
            && mean.half_width() <= CLEAR_HALF_WIDTH
            && mean.halves <= VAGUE_HALF_WIDTH
    })
}

/// Whether a row became faster or slower throughout, and has not been steady for long.
#[must_use]
pub fn is_changing(cell: &SpeedCell) -> bool {
    Phases::of(cell).is_some_and(|phases| phases.drift.is_some()) && !is_clear(cell)
}

/// Whether a row became faster, and has since gone on for less than twice as long as that took. Its steady
/// speed is still underestimated.
#[must_use]
pub fn is_fresh(cell: &SpeedCell) -> bool {
    Phases::of(cell).is_some_and(|phases| phases.drift == Some(Drift::Faster) && !phases.is_mostly_steady())
}

/// Whether only a wide interval is known, so that a row is worth more time than most.
#[must_use]
pub fn is_vague(cell: &SpeedCell) -> bool {
    let mean = Phases::of(cell).and_then(|phases| phases.mean());
    mean.is_none_or(|mean| mean.half_width() > VAGUE_HALF_WIDTH)
}
