//! Storage without moving parts and visible merges: NVMe drives, memory, a disk behind a network.

use flashscope_device::{Instant, Op};

use super::timed::Timing;
use crate::draw::Draw;

/// A fixed time, a transfer time, log-normal jitter, and rare outliers.
#[derive(Debug)]
pub(super) struct SolidState {
    read_s: f64,
    write_s: f64,
    bytes_per_s: f64,
    /// The standard deviation of the logarithm of the fixed time.
    jitter: f64,
    outlier_share: f64,
    outlier_s: f64,
}

impl SolidState {
    pub(super) fn nvme(draw: &mut Draw) -> Self {
        Self {
            read_s: draw.log_uniform(40e-6, 120e-6),
            write_s: draw.log_uniform(10e-6, 40e-6),
            bytes_per_s: draw.log_uniform(0.8e9, 7e9),
            jitter: draw.uniform(0.02, 0.2),
            outlier_share: draw.log_uniform(1e-5, 3e-3),
            outlier_s: draw.log_uniform(5e-4, 1e-2),
        }
    }

    pub(super) fn memory(draw: &mut Draw) -> Self {
        let fixed_s = draw.log_uniform(1e-6, 8e-6);
        Self {
            read_s: fixed_s,
            write_s: fixed_s * draw.uniform(0.8, 1.5),
            bytes_per_s: draw.log_uniform(2e9, 12e9),
            jitter: draw.uniform(0.02, 0.15),
            outlier_share: draw.log_uniform(1e-5, 1e-2),
            outlier_s: draw.log_uniform(1e-5, 1e-3),
        }
    }

    pub(super) fn network(draw: &mut Draw) -> Self {
        let round_trip_s = draw.log_uniform(1e-4, 2e-2);
        Self {
            read_s: round_trip_s + draw.log_uniform(5e-5, 5e-3),
            write_s: round_trip_s + draw.log_uniform(5e-5, 5e-3),
            bytes_per_s: draw.log_uniform(5e6, 1.2e9),
            jitter: draw.uniform(0.05, 0.6),
            outlier_share: draw.log_uniform(1e-4, 5e-2),
            outlier_s: draw.log_uniform(2e-2, 0.3),
        }
    }
}

impl Timing for SolidState {
    fn seconds(&mut self, op: &Op, _now: Instant, draw: &mut Draw) -> f64 {
        let fixed_s = if op.modifies() { self.write_s } else { self.read_s };
        let data_s = op.range().map_or(0.0, |range| range.length.as_f64() / self.bytes_per_s);
        let outlier_s =
            if draw.bernoulli(self.outlier_share) { self.outlier_s * draw.exponential() } else { 0.0 };
        fixed_s * (self.jitter * draw.normal()).exp() + data_s + outlier_s
    }
}
