//! A layer's clock: the device's clock without hidden work and with added delays.

use std::time::Duration;

use crate::time::Instant;

/// The difference between a layer's clock and the clock of its device.
#[derive(Debug, Default)]
pub struct ClockOffset {
    hidden: Duration,
    added: Duration,
}

impl ClockOffset {
    /// The layer's instant for an instant of the device. It never decreases: only elapsed device time is
    /// hidden.
    pub fn of(&self, instant: Instant) -> Instant {
        let later = instant + self.added;
        Instant::ZERO + later.since(Instant::ZERO).saturating_sub(self.hidden)
    }

    /// Hides device time that the layer used for its own requests.
    pub fn hide(&mut self, duration: Duration) {
        self.hidden += duration;
    }

    /// Adds time that did not pass on the device.
    pub fn add(&mut self, duration: Duration) {
        self.added += duration;
    }
}
