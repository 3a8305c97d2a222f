//! What the posterior decides: whether numbers fit, and whether more writes help.

use super::{OPEN_MAX, Posterior};
use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::limits::EXCLUDED;
use crate::thresholds::{GRANTED, STALLS_MAX, SURE};

/// More stalls than [`STALLS_MAX`] are accepted with at least this log Bayes factor, nats. Guess.
const STALLS_DESPITE_NATS: f64 = 8.0;
/// The number of units open at once that excludes a small number, if the search ends early. Guess: most cards
/// have one to eight.
const OPEN_AT_ONCE_LARGE: u32 = 64;
/// All units fit if at least one in this number of them was seen open at once, ...
const SEEN_SHARE: u32 = 2;
/// ... and fewer than half of this number of last openings were slow. Guess.
const LAST_OPENINGS: u32 = 12;

impl Posterior {
    /// Whether too many writes stall for any number to be reported.
    #[must_use]
    pub fn stalls_too_often(&self) -> bool {
        self.stall_share() > STALLS_MAX && self.log_bayes_factor() < STALLS_DESPITE_NATS
    }

    /// The probability that at least this number of units fits.
    fn fit_probability(&self, number: u32) -> f64 {
        self.numbers().iter().skip(number as usize).sum()
    }

    /// Whether this number of units certainly fits.
    #[must_use]
    pub fn surely_fit(&self, number: u32) -> bool {
        self.fit_probability(number) > GRANTED
    }

    /// Whether this number of units is certainly too large.
    #[must_use]
    pub fn is_too_many(&self, number: u32) -> bool {
        self.fit_probability(number) < EXCLUDED / 2.0
    }

    /// Whether this number of units is unlikely to fit, so that opening more is of little use.
    #[must_use]
    pub fn is_unlikely_to_fit(&self, number: u32) -> bool {
        self.fit_probability(number) < 1.0 - SURE
    }

    /// Whether the last `number` writes contained at most `stalls` slow ones, after earlier slow ones.
    #[must_use]
    pub fn has_recovered(&self, number: u32, stalls: u32) -> bool {
        let Some(before) = self.slow_probabilities.len().checked_sub(number as usize) else { return false };
        let (before, last) = self.slow_probabilities.split_at(before);
        let slow = |writes: &[f64]| writes.iter().filter(|slow| **slow > 0.5).count();
        slow(before) > 0 && slow(last) <= stalls as usize
    }

    /// Whether the most probable number was seen open at once. Under LRU eviction that is not needed: each
    /// write decides alone.
    #[must_use]
    pub fn is_seen_open(&self) -> bool {
        self.eviction_probability(EvictionLaw::Random) < 0.5
            || self.open_at_once_max() >= self.verdict().number
    }

    /// Whether all `units_max` units fit, so that further writes decide nothing. Stalls may have occurred in
    /// between, if the last openings were fast.
    #[must_use]
    pub fn fits_all(&self, units_max: u32) -> bool {
        let is_seen = self.open_at_once_max() >= units_max
            || (self.open_at_once_max() >= units_max / SEEN_SHARE
                && self.writable_units() >= units_max
                && self.slow_openings(LAST_OPENINGS) * 2 < LAST_OPENINGS as usize);
        is_seen && self.surely_fit(units_max)
    }

    /// Whether more units seem to fit than were tried: a large number was open at once, and no number is too
    /// large.
    #[must_use]
    pub fn exceeds_max(&self, units_max: u32) -> bool {
        let verdict = self.verdict();
        !verdict.is_found(units_max)
            && verdict.high > OPEN_MAX
            && self.open_at_once_max() >= units_max.min(OPEN_AT_ONCE_LARGE)
    }
}
