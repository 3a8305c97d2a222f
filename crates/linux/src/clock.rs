//! The clock of real devices. Only this file asks the host for the time or sleeps.

use std::time::Duration;

use flashscope_device::Instant;

/// The host's monotonic clock (`CLOCK_MONOTONIC`), zero at the start.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: std::time::Instant,
}

impl Clock {
    /// A clock that starts at zero now.
    pub fn start() -> Self {
        Self { zero: host_time() }
    }

    /// The time since [`Clock::start`].
    pub fn now(&self) -> Instant {
        Instant::ZERO + host_time().duration_since(self.zero)
    }

    /// Sleeps for `duration`.
    #[expect(clippy::disallowed_methods, reason = "a pause on a real device is real; nothing else sleeps")]
    pub fn sleep(duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[expect(clippy::disallowed_methods, reason = "the only clock; everything else receives it")]
fn host_time() -> std::time::Instant {
    std::time::Instant::now()
}
