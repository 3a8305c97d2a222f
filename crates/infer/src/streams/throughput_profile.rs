//! The course of a long stream of writes: where its speed changes, what stalls it, and what a pause gives back.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{LongWrite, Resumed, SustainedData};

use crate::statistics::{count, whole_bytes};
use crate::streams::changes::{Change, changes};
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::stalls::{Stalls, brief, stalls};
use crate::streams::sustained::{Fill, stretch};

/// The course of a long stream of writes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThroughputProfile {
    /// Where its speed changes, in order.
    pub changes: Vec<Change>,
    /// What stalls it again and again.
    pub stalls: Option<Stalls>,
    /// What went fast again behind each pause.
    pub recovered: Vec<Recovered>,
}

/// What went fast again behind a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// How long nothing was asked for.
    pub pause: Duration,
    /// How much was written fast behind it.
    pub bytes: Bytes,
    /// Whether it was still fast when the measurement went on.
    pub is_at_least: bool,
}

/// The course of a stream. Inference knows nothing of its cause: see the findings for caches.
#[must_use]
pub fn throughput_profile(data: &SustainedData) -> ThroughputProfile {
    let fill = Fill::of(data);
    let before = fill.begins_at();
    let cache_end = fill.fast();
    let shifted = |change: Change| {
        let written = change.written + before;
        // The one place is told as one.
        let is_cache_end = |end: &Bytes| (written.as_f64() / end.as_f64() - 1.0).abs() <= SAME_PLACE;
        Change { written: cache_end.filter(is_cache_end).unwrap_or(written), ..change }
    };
    ThroughputProfile {
        changes: changes(fill.stream()).into_iter().map(shifted).collect(),
        stalls: stalls_of(data).filter(|_| go_on_to_the_end(data)),
        recovered: data
            .resumed
            .iter()
            .filter_map(|resumed| recovered(&fill, data.request, resumed))
            .collect(),
    }
}

/// The stalls of a stream that come again after the same number of bytes.
#[must_use]
pub fn stalls_of(data: &SustainedData) -> Option<Stalls> {
    stalls(&of_stream(data), data.request, time(data).as_secs_f64())
}

/// Whether stalls come again and again until the end, which is no further behind the last of them than a few of them are apart: else they
/// belong to how the stream began.
fn go_on_to_the_end(data: &SustainedData) -> bool {
    let long = brief(&of_stream(data), data.request);
    let (Some(first), Some(last)) = (long.first(), long.last()) else { return false };
    let apart = (last.ended.saturating_sub(first.ended)).div_f64(count(long.len().max(2) - 1));
    time(data).saturating_sub(last.ended) <= apart.mul_f64(PERIODS_WITHOUT_MAX)
}

/// A change this near to where the stream was found to become slow is that.
const SAME_PLACE: f64 = 0.02;
/// Behind so many times the distance of stalls without one, they are over.
const PERIODS_WITHOUT_MAX: f64 = 4.0;

/// The single writes that took several times as long as usual, where stalls come again and again; else none.
#[must_use]
pub fn stalled_writes(data: &SustainedData) -> Vec<LongWrite> {
    let alone = || brief(&of_stream(data), data.request);
    stalls_of(data).map_or_else(Vec::new, |_| alone())
}

/// What the stream itself took: without what was written behind pauses.
fn time(data: &SustainedData) -> Duration {
    data.pieces.iter().map(|piece| piece.time).sum()
}

/// The long writes of the stream itself, whose time is counted: those behind pauses are kept with them.
fn of_stream(data: &SustainedData) -> Vec<LongWrite> {
    let total = time(data);
    data.long.iter().filter(|write| write.ended <= total).copied().collect()
}

/// Whether a stream became slow and stayed so, behind a cache or behind anything else.
#[must_use]
pub fn slows_down(data: &SustainedData) -> bool {
    Fill::of(data).has_slowed_down()
}

/// The share of its time that a stream spent in writes that took several times as long as usual, whether they come again after the same
/// number of bytes or not.
#[must_use]
pub fn held_up_share(data: &SustainedData) -> f64 {
    let total = time(data).as_secs_f64();
    let long: f64 = brief(&of_stream(data), data.request).iter().map(|write| write.took.as_secs_f64()).sum();
    let periodic = stalls_of(data).map_or(0.0, |stalls| stalls.share);
    // The last long write may belong to a piece that was cut short.
    if total > 0.0 { (long / total).max(periodic).min(1.0) } else { 0.0 }
}

fn recovered(fill: &Fill, request: Bytes, resumed: &Resumed) -> Option<Recovered> {
    let middle = fill.middle()?;
    let pieces = resumed.pieces.iter().filter(|piece| piece.requests > 0);
    let stream: Vec<Stretch> = pieces.map(|piece| stretch(request.as_f64(), piece)).collect();
    let all: f64 = stream.iter().map(|each| each.bytes).sum();
    let fast: f64 = stream.iter().filter(|each| each.seconds_per_byte < middle).map(|each| each.bytes).sum();
    let (bytes, is_at_least) = match Slowdown::of(&stream) {
        Some(slowdown) if slowdown.slow > middle && slowdown.fast < middle => (slowdown.bytes, false),
        _ if fast > all / 2.0 => (all, true),
        _ => (0.0, false),
    };
    Some(Recovered { pause: resumed.pause, bytes: whole_bytes(bytes), is_at_least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_record::observation::Piece;

    #[test]
    fn stalls_at_the_beginning_do_not_come_again_and_again() {
        let stalls = |writes: u64| {
            let took = |index: u64| if index.is_multiple_of(16) && index <= 160 { 500 } else { 20 };
            let piece = |index| Piece { requests: 1, time: Duration::from_millis(took(index)) };
            let long = |index: u64| LongWrite {
                written: Bytes::mib(index * 16),
                took: Duration::from_millis(500),
                ended: Duration::from_millis(index * (500 + 15 * 20)),
            };
            let data = SustainedData {
                request: Bytes::mib(1),
                pieces: (1..=writes).map(piece).collect(),
                long: (1..=10).map(long).collect(),
                ..SustainedData::default()
            };
            throughput_profile(&data).stalls.is_some()
        };
        assert!(stalls(176));
        assert!(!stalls(640), "most of the stream met none");
    }
}
