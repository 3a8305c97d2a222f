//! Stored writes for the tests of several kinds of evidence.

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_record::observation::{OpenUnitsCell, Order};

/// Two random writes into each unit, the second one with these latencies, milliseconds.
pub fn twice_each(milliseconds: impl Iterator<Item = u64>) -> Vec<OpenUnitsCell> {
    let mut cells = Vec::new();
    for (unit, second) in (0..).zip(milliseconds) {
        for latency in [2, second] {
            let kept = (Order::Random, unit + 1, Bytes::kib(4));
            OpenUnitsCell::keep(&mut cells, kept, unit, Duration::from_millis(latency));
        }
    }
    cells
}
