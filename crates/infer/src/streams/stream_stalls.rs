//! The stalls of a long stream of writes, without what was written after pauses.

use std::time::Duration;

use flashscope_record::observation::{LongWrite, SustainedData};

use crate::statistics::count;
use crate::streams::stalls::{Stalls, brief, stalls};

/// Stalls are over if none came for this many of their periods. Guess.
const PERIODS_WITHOUT_MAX: f64 = 4.0;

/// The stalls of a stream that recur after the same number of bytes.
#[must_use]
pub fn stalls_of(data: &SustainedData) -> Option<Stalls> {
    stalls(&of_stream(data), data.request)
}

/// Whether stalls recur until the end of the stream; otherwise they belong to its start.
pub fn recur_to_the_end(data: &SustainedData) -> bool {
    let long = brief(&of_stream(data), data.request);
    let (Some(first), Some(last)) = (long.first(), long.last()) else { return false };
    let period = (last.ended.saturating_sub(first.ended)).div_f64(count(long.len().max(2) - 1));
    time(data).saturating_sub(last.ended) <= period.mul_f64(PERIODS_WITHOUT_MAX)
}

/// The single writes that took several times the median time, if stalls recur; otherwise none.
#[must_use]
pub fn stalled_writes(data: &SustainedData) -> Vec<LongWrite> {
    let alone = || brief(&of_stream(data), data.request);
    stalls_of(data).map_or_else(Vec::new, |_| alone())
}

/// The share of its time that a stream spent in single writes of several times the median time, recurring or
/// not.
#[must_use]
pub fn stalled_share(data: &SustainedData) -> f64 {
    let total = time(data).as_secs_f64();
    let long: f64 = brief(&of_stream(data), data.request).iter().map(|write| write.took.as_secs_f64()).sum();
    let periodic = stalls_of(data).map_or(0.0, |stalls| stalls.share);
    // The last long write may belong to a piece that was cut short.
    if total > 0.0 { (long / total).max(periodic).min(1.0) } else { 0.0 }
}

/// The time of the stream itself, without what was written after pauses.
fn time(data: &SustainedData) -> Duration {
    data.pieces.iter().map(|piece| piece.time).sum()
}

/// The long writes of the stream itself, without those after pauses.
fn of_stream(data: &SustainedData) -> Vec<LongWrite> {
    let total = time(data);
    data.long.iter().filter(|write| write.ended <= total).copied().collect()
}
