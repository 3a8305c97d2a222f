//! Whether one of the first erase blocks takes a place among the open ones.

use std::time::Duration;

use super::{Belief, OPEN_MAX, Prior, Slowness};
use crate::observation::{Merges, Order};

/// How plausible a FAT area is before anything was seen: most cards and sticks have none.
const FIRST: f64 = 0.25;
/// How plausible it is that an area goes on for another block.
const NEXT: f64 = 0.5;

/// Writes into as many ordinary blocks as fit, and into one that may be mapped finely, in turn.
#[derive(Debug, Clone)]
pub struct FatTrial {
    belief: Belief,
    fits: u32,
}

impl FatTrial {
    /// The trial of the erase block of this number, beside `fits` ordinary ones that are open.
    #[must_use]
    pub fn new(order: Order, slowness: Slowness, fits: u32, merges: Option<Merges>, unit: u32) -> Self {
        let fits = fits.min(OPEN_MAX);
        let plausible = if unit == 0 { FIRST } else { NEXT };
        let slowness =
            slowness.for_merges(merges.and_then(|merges| merges.takes).map(|takes| takes.as_secs_f64()));
        let belief = Belief::new(order, slowness, Prior::OneMore { fits, plausible });
        let belief = match merges {
            Some(merges) => belief.with_law(merges.every_switch),
            None => belief,
        };
        Self { belief: belief.with_open(1, fits), fits }
    }

    /// Takes a write into account; 0 is the block in question.
    pub fn write(&mut self, index: usize, latency: Duration) {
        self.belief.write(u32::try_from(index).unwrap_or(u32::MAX), latency);
    }

    /// The probability that the block takes no place.
    #[must_use]
    pub fn fine(&self) -> f64 {
        self.belief.numbers().get(self.fits as usize + 1).copied().unwrap_or(0.0)
    }

    /// Whether the block takes no place; `None` while that is open.
    #[must_use]
    pub fn is_fine(&self) -> Option<bool> {
        self.belief.is_decided(self.fits + 1).then(|| self.fine() > 0.5)
    }
}
