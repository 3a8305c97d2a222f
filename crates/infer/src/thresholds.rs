//! Thresholds that several stages share, each with its reason.

/// Below this confidence a value is a guess: nobody should plan a filesystem with it.
pub const SURE_ENOUGH: f64 = 0.8;
