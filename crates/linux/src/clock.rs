//! The clock of real devices: the only place that asks the host for the time, and the only one that sleeps.

use std::time::Duration;

use flashscope_device::Instant;

/// The host's monotonic clock (`CLOCK_MONOTONIC`), zero when the device was opened.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: std::time::Instant,
}

impl Clock {
    /// A clock whose zero is now.
    pub fn start() -> Self {
        Self { zero: host_time() }
    }

    /// The time since [`Clock::start`].
    pub fn now(&self) -> Instant {
        Instant::ZERO + host_time().duration_since(self.zero)
    }

    /// Returns once `duration` has passed.
    #[expect(clippy::disallowed_methods, reason = "a real device's pause is real; nothing else sleeps")]
    pub fn sleep(duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one clock that everything else is given")]
fn host_time() -> std::time::Instant {
    std::time::Instant::now()
}
