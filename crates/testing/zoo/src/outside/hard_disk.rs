//! A hard disk: seeks, rotational latency, read-ahead, and possibly a write cache.

use std::time::Duration;

use flashscope_device::{Bytes, Instant, Op};

use super::timed::Timing;
use crate::draw::Draw;

/// The timing of a hard disk, after C. Ruemmler and J. Wilkes, "An introduction to disk drive modeling", IEEE
/// Computer 27, 1994: the seek time grows with the square root of the distance, then the platter rotates to
/// the sector.
#[derive(Debug)]
pub(super) struct HardDisk {
    rotation_s: f64,
    settle_s: f64,
    full_seek_s: f64,
    bytes_per_s: f64,
    capacity: Bytes,
    caches_writes: bool,
    command_s: f64,
    head: f64,
    read_ahead: Option<(u64, u64)>,
}

/// Bytes of read-ahead. A guess.
const READ_AHEAD: u64 = 512 << 10;
/// On average one write of this number finds the cache full. A guess.
const WRITES_PER_STALL: f64 = 40.0;

impl HardDisk {
    pub(super) fn sample(capacity: Bytes, draw: &mut Draw) -> Self {
        Self {
            rotation_s: 60.0 / draw.weighted(&[(1.0, 5400.0), (1.0, 7200.0), (0.2, 15_000.0)]),
            settle_s: draw.uniform(0.8e-3, 2e-3),
            full_seek_s: draw.uniform(8e-3, 20e-3),
            bytes_per_s: draw.uniform(60e6, 220e6),
            capacity,
            caches_writes: draw.bernoulli(0.6),
            command_s: draw.log_uniform(30e-6, 200e-6),
            head: 0.0,
            read_ahead: None,
        }
    }

    /// Seek and rotational latency to `offset`. The clock gives the angle under the head.
    #[expect(clippy::cast_precision_loss, reason = "disks are below 2^53 bytes")]
    fn position_s(&mut self, offset: u64, now: Instant) -> f64 {
        let target = offset as f64;
        let distance = (target - self.head).abs() / self.capacity.as_f64();
        self.head = target;
        let seek_s = if distance == 0.0 { 0.0 } else { self.settle_s + self.full_seek_s * distance.sqrt() };
        let track_bytes = self.bytes_per_s * self.rotation_s;
        let target_angle = (target / track_bytes).fract();
        let arrival_s = Duration::from_nanos(now.as_nanos()).as_secs_f64() + seek_s;
        let head_angle = (arrival_s / self.rotation_s).fract();
        seek_s + (target_angle - head_angle).rem_euclid(1.0) * self.rotation_s
    }
}

impl Timing for HardDisk {
    fn seconds(&mut self, op: &Op, now: Instant, draw: &mut Draw) -> f64 {
        let Some(range) = op.range() else { return self.command_s };
        let (start, end) = (range.offset.get(), range.end().get());
        let transfer_s = range.length.as_f64() / self.bytes_per_s;
        let fixed_s = self.command_s * (1.0 + 0.1 * draw.exponential());
        if op.modifies() {
            let is_cached = self.caches_writes && !draw.bernoulli(1.0 / WRITES_PER_STALL);
            let position_s = if is_cached { 0.0 } else { self.position_s(start, now) };
            return fixed_s + transfer_s + position_s;
        }
        let is_hit = self.read_ahead.is_some_and(|(from, to)| start >= from && end <= to);
        if is_hit {
            return fixed_s;
        }
        self.read_ahead = Some((start, end + READ_AHEAD));
        fixed_s + transfer_s + self.position_s(start, now)
    }
}
