//! Limits that several stages of the search for open units share.

/// The largest number of open units that is distinguished from more. Guess: above that of the largest cards
/// measured.
pub const OPEN_MAX: u32 = 128;

/// Rounds of the survey over request sizes under random eviction, where only some writes merge. Fewer may
/// meet no merge by chance.
pub const SURVEY_ROUNDS_RANDOM: u32 = 3;

/// The search is over once each number fits with a probability below this, or above 1 less this. Guess.
pub const EXCLUDED: f64 = 0.001;
