//! The throughput profile of a long stream of writes: where its speed changes, its recurring stalls, and its
//! idle recovery.

use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::observation::{Resumed, SustainedData};

use crate::statistics::whole_bytes;
use crate::streams::changes::{Change, changes};
use crate::streams::fill::{Fill, stretch};
use crate::streams::slowdown::{Slowdown, Stretch};
use crate::streams::stalls::Stalls;
use crate::streams::stream_stalls::recur_to_the_end;
pub use crate::streams::stream_stalls::{stalled_share, stalled_writes, stalls_of};
use crate::streams::sustained::EDGE;

/// The throughput profile of a long stream of writes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThroughputProfile {
    /// Where its speed changes, in order.
    pub changes: Vec<Change>,
    /// Its recurring stalls.
    pub stalls: Option<Stalls>,
    /// The cache that recovered in each pause.
    pub recovered: Vec<Recovered>,
}

/// The part of the cache that recovered in a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// The pause.
    pub pause: Duration,
    /// The bytes written at the fast level after it.
    pub bytes: Bytes,
    /// Whether writing was still fast when the measurement ended.
    pub is_at_least: bool,
}

/// The throughput profile of a stream. It names no causes: see the findings for caches.
#[must_use]
pub fn throughput_profile(data: &SustainedData) -> ThroughputProfile {
    let fill = Fill::of(data);
    let before = fill.begins_at();
    let cache_end = fill.fast();
    let shifted = |change: Change| {
        let written = change.written + before;
        let is_cache_end = |end: &Bytes| (written.as_f64() / end.as_f64() - 1.0).abs() <= EDGE;
        Change { written: cache_end.filter(is_cache_end).unwrap_or(written), ..change }
    };
    ThroughputProfile {
        changes: changes(fill.stream()).into_iter().map(shifted).collect(),
        stalls: stalls_of(data).filter(|_| recur_to_the_end(data)),
        recovered: data
            .resumed
            .iter()
            .filter_map(|resumed| recovered(&fill, data.request, resumed))
            .collect(),
    }
}

/// Whether a stream became slow and stayed slow, for whatever cause.
#[must_use]
pub fn slows_down(data: &SustainedData) -> bool {
    Fill::of(data).has_slowed_down()
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
    use flashscope_record::observation::{LongWrite, Piece};

    #[test]
    fn stalls_at_the_start_only_do_not_recur() {
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
