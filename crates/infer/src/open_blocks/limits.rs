//! Limits that several stages of the search for open units share.

/// The largest number of open units that is distinguished from more. Guess: above that of the largest cards
/// measured.
pub const OPEN_MAX: u32 = 128;

/// The search is over once each number fits with a probability below this, or above 1 less this. Guess.
pub const DECIDED: f64 = 0.001;
