//! A device with a distorted clock: it drifts, slows down, or is stopped.

use std::fmt;
use std::time::Duration;

use flashscope_device::{Capabilities, Completion, Device, DeviceError, Instant, Op, OpKind, Tag};

/// A distortion of the times of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distortion {
    /// Requests take up to `share` longer, periodically: heat, or a busy host.
    Periodic {
        /// The largest extra time, as a share.
        share: f64,
        /// The period, seconds.
        period_s: f64,
    },
    /// The time of each request grows by this share of the first one's time.
    Slowing {
        /// The share.
        per_request: f64,
    },
    /// The clock is stopped: every request takes 0 s.
    Stopped,
}

impl fmt::Display for Distortion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Periodic { share, period_s } => {
                write!(formatter, "up to {:.0} % longer, with a period of {period_s:.1} s", share * 100.0)
            }
            Self::Slowing { per_request } => {
                write!(formatter, "each request {:.2} % longer", per_request * 100.0)
            }
            Self::Stopped => formatter.write_str("the clock is stopped"),
        }
    }
}

/// A device with distorted times. Requests must complete in order of submission.
#[derive(Debug)]
pub(crate) struct DistortedClock<D> {
    device: D,
    distortion: Distortion,
    now: Instant,
    requests: u64,
    in_flight: Vec<(Tag, Instant, OpKind)>,
}

impl<D: Device> DistortedClock<D> {
    pub(crate) const fn new(device: D, distortion: Distortion) -> Self {
        Self { device, distortion, now: Instant::ZERO, requests: 0, in_flight: Vec::new() }
    }

    fn factor(&self) -> f64 {
        match self.distortion {
            Distortion::Periodic { share, period_s } => {
                let periods = Duration::from_nanos(self.now.as_nanos()).as_secs_f64() / period_s;
                1.0 + share * (1.0 - (std::f64::consts::TAU * periods).cos()) / 2.0
            }
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53 requests")]
            Distortion::Slowing { per_request } => 1.0 + per_request * self.requests as f64,
            Distortion::Stopped => 0.0,
        }
    }

    fn advance(&mut self, kind: OpKind, elapsed: Duration) {
        let factor = match (self.distortion, kind) {
            (Distortion::Periodic { .. } | Distortion::Slowing { .. }, OpKind::Pause) => 1.0,
            _ => self.factor(),
        };
        self.requests += 1;
        self.now += elapsed.mul_f64(factor);
    }
}

impl<D: Device> Device for DistortedClock<D> {
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

    fn times_us(distortion: Distortion) -> Vec<u128> {
        let mut device = DistortedClock::new(MemoryDevice::new(Bytes::mib(1)), distortion);
        let read = Op::read(ByteRange::new(Bytes::ZERO, Bytes::kib(4)));
        (0..3).map(|_| device.run(read.clone()).unwrap().latency().as_micros()).collect()
    }

    #[test]
    fn each_distortion_changes_request_times() {
        assert_eq!(times_us(Distortion::Stopped), [0, 0, 0]);
        assert_eq!(times_us(Distortion::Slowing { per_request: 0.5 }), [100, 150, 200]);
        // A period of 200 us: the second request starts at its maximum.
        assert_eq!(times_us(Distortion::Periodic { share: 1.0, period_s: 2e-4 })[..2], [100, 200]);
    }
}
