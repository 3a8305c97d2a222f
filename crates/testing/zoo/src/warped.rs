//! A device whose clock does not run as it should: it drifts, slows down, or stands still.

use std::time::Duration;

use flashscope_device::{Capabilities, Completion, Device, DeviceError, Instant, Op, OpKind, Tag};

/// How the times of a device are bent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Warp {
    /// Requests take up to this share longer, in waves of this many seconds: heat, or a machine with other work.
    Waves {
        /// The share at the height of a wave.
        share: f64,
        /// From wave to wave, seconds.
        period_s: f64,
    },
    /// Each request takes this share of the first one's time longer than the one before.
    Slowing {
        /// The share.
        per_request: f64,
    },
    /// Nothing ever takes any time, as far as the clock tells.
    Stopped,
}

impl Warp {
    /// In words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Waves { share, period_s } => {
                format!("up to {:.0} % longer in waves of {period_s:.1} s", share * 100.0)
            }
            Self::Slowing { per_request } => format!("each request {:.2} % longer", per_request * 100.0),
            Self::Stopped => "the clock stands still".to_owned(),
        }
    }
}

/// A device whose times are bent. Requests must complete in order, as those of one queue do.
#[derive(Debug)]
pub(crate) struct Warped<D> {
    device: D,
    warp: Warp,
    now: Instant,
    requests: u64,
    in_flight: Vec<(Tag, Instant, OpKind)>,
}

impl<D: Device> Warped<D> {
    pub(crate) const fn new(device: D, warp: Warp) -> Self {
        Self { device, warp, now: Instant::ZERO, requests: 0, in_flight: Vec::new() }
    }

    fn factor(&self) -> f64 {
        match self.warp {
            Warp::Waves { share, period_s } => {
                let turns = Duration::from_nanos(self.now.as_nanos()).as_secs_f64() / period_s;
                1.0 + share * (1.0 - (std::f64::consts::TAU * turns).cos()) / 2.0
            }
            #[expect(clippy::cast_precision_loss, reason = "nobody makes 2^53 requests")]
            Warp::Slowing { per_request } => 1.0 + per_request * self.requests as f64,
            Warp::Stopped => 0.0,
        }
    }

    fn advance(&mut self, kind: OpKind, took: Duration) {
        let factor = match (self.warp, kind) {
            (Warp::Waves { .. } | Warp::Slowing { .. }, OpKind::Pause) => 1.0,
            _ => self.factor(),
        };
        self.requests += 1;
        self.now += took.mul_f64(factor);
    }
}

impl<D: Device> Device for Warped<D> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.now
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let kind = op.kind();
        self.device.submit(tag, op)?;
        self.in_flight.push((tag, self.now, kind));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let before = self.device.now();
        let Some(mut completion) = self.device.wait()? else { return Ok(None) };
        let index = self.in_flight.iter().position(|(tag, ..)| *tag == completion.tag);
        if let Some((_, submitted_at, kind)) = index.map(|index| self.in_flight.remove(index)) {
            self.advance(kind, self.device.now().since(before));
            completion.submitted_at = submitted_at;
            completion.completed_at = self.now;
        }
        Ok(Some(completion))
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;
    use flashscope_device::{ByteRange, Bytes, DeviceExt};

    use super::*;

    fn times_us(warp: Warp) -> Vec<u128> {
        let mut device = Warped::new(MemoryDevice::new(Bytes::mib(1)), warp);
        let read = Op::read(ByteRange::new(Bytes::ZERO, Bytes::kib(4)));
        (0..3).map(|_| device.run(read.clone()).unwrap().latency().as_micros()).collect()
    }

    #[test]
    fn each_warp_bends_the_memory_devices_hundred_microseconds() {
        assert_eq!(times_us(Warp::Stopped), [0, 0, 0]);
        assert_eq!(times_us(Warp::Slowing { per_request: 0.5 }), [100, 150, 200]);
        // 200 us from wave to wave: the second request begins at its height.
        assert_eq!(times_us(Warp::Waves { share: 1.0, period_s: 2e-4 })[..2], [100, 200]);
    }
}
