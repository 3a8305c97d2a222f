//! Storage that neither moves nor merges in sight: NVMe drives, memory, a disk behind a network.

use flashscope_device::{Instant, Op};

use super::timed::Timing;
use crate::draw::Draw;

/// A fixed time, the data's, jitter that is logarithmically normal, and now and then a request that is held up.
#[derive(Debug)]
pub(super) struct SolidState {
    read_s: f64,
    write_s: f64,
    bytes_per_s: f64,
    /// The deviation of the logarithm of the fixed time.
    jitter: f64,
    held_up_share: f64,
    held_up_s: f64,
}

impl SolidState {
    pub(super) fn nvme(draw: &mut Draw) -> Self {
        Self {
            read_s: draw.log_between(40e-6, 120e-6),
            write_s: draw.log_between(10e-6, 40e-6),
            bytes_per_s: draw.log_between(0.8e9, 7e9),
            jitter: draw.between(0.02, 0.2),
            held_up_share: draw.log_between(1e-5, 3e-3),
            held_up_s: draw.log_between(5e-4, 1e-2),
        }
    }

    pub(super) fn memory(draw: &mut Draw) -> Self {
        let fixed_s = draw.log_between(1e-6, 8e-6);
        Self {
            read_s: fixed_s,
            write_s: fixed_s * draw.between(0.8, 1.5),
            bytes_per_s: draw.log_between(2e9, 12e9),
            jitter: draw.between(0.02, 0.15),
            held_up_share: draw.log_between(1e-5, 1e-2),
            held_up_s: draw.log_between(1e-5, 1e-3),
        }
    }

    pub(super) fn network(draw: &mut Draw) -> Self {
        let round_trip_s = draw.log_between(1e-4, 2e-2);
        Self {
            read_s: round_trip_s + draw.log_between(5e-5, 5e-3),
            write_s: round_trip_s + draw.log_between(5e-5, 5e-3),
            bytes_per_s: draw.log_between(5e6, 1.2e9),
            jitter: draw.between(0.05, 0.6),
            held_up_share: draw.log_between(1e-4, 5e-2),
            held_up_s: draw.log_between(2e-2, 0.3),
        }
    }
}

impl Timing for SolidState {
    fn seconds(&mut self, op: &Op, _now: Instant, draw: &mut Draw) -> f64 {
        let fixed_s = if op.modifies() { self.write_s } else { self.read_s };
        let data_s = op.range().map_or(0.0, |range| range.length.as_f64() / self.bytes_per_s);
        let held_up_s =
            if draw.chance(self.held_up_share) { self.held_up_s * draw.exponential() } else { 0.0 };
        fixed_s * (self.jitter * draw.normal()).exp() + data_s + held_up_s
    }
}
