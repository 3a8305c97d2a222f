//! Thresholds that several stages share, each with its reason.

/// A value below this confidence is reported as unknown: one wrong answer in five would misplace a
/// filesystem. Guess.
pub const SURE_ENOUGH: f64 = 0.8;

/// A finding with at least this confidence may decide how other measurements are made or read: one in twenty
/// may be wrong, as for the 95 % intervals.
pub const SURE: f64 = 0.95;
