//! Whether latencies rise in small steps, which may be short merges.

use std::time::Duration;

use flashscope_record::observation::Order;

use super::sequence::WriteSequence;
use crate::statistics::count;
use crate::thresholds::SEVERAL;

/// At least this share of the later half of the writes must be fast: otherwise all take longer than at first.
/// Guess.
const FAST_SHARE_MIN: f64 = 0.2;

/// Whether some writes are slow only if small steps count.
pub(super) fn has_small_steps(sequence: &WriteSequence<'_>) -> bool {
    let small = sequence.classifier.for_small_steps();
    let is_small = |latency: &&Duration| small.is_slow(**latency) && !sequence.classifier.is_slow(**latency);
    let writes: Vec<Duration> = sequence.writes(Order::Linear).map(|(.., latency)| latency).collect();
    let later = &writes[writes.len() / 2..];
    let fast = later.iter().filter(|latency| !small.is_slow(**latency)).count();
    let has_fast = count(fast) >= count(later.len()) * FAST_SHARE_MIN;
    writes.iter().filter(is_small).count() >= SEVERAL && has_fast
}
