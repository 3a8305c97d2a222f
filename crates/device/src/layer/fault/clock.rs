//! A clock that is set apart from the device's: hidden work takes none of its time, and delays are added to it.

use std::time::Duration;

use crate::time::Instant;

/// How far a layer's clock has moved from its device's.
#[derive(Debug, Default)]
pub struct Shift {
    hidden: Duration,
    added: Duration,
}

impl Shift {
    /// The layer's instant for the device's. Never goes back: only time that has passed below is ever hidden.
    pub fn of(&self, instant: Instant) -> Instant {
        let later = instant + self.added;
        Instant::ZERO + later.since(Instant::ZERO).saturating_sub(self.hidden)
    }

    /// Takes out time that passed below for work of the layer's own.
    pub fn hide(&mut self, duration: Duration) {
        self.hidden += duration;
    }

    /// Puts in time that did not pass below.
    pub fn add(&mut self, duration: Duration) {
        self.added += duration;
    }
}
