//! A figure over several rounds.

use flashscope_infer::files::comparison::Spread;
use schemars::JsonSchema;
use serde::Serialize;

/// The median of several rounds and its interval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct SpreadDocument {
    /// The median.
    pub median: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl From<Spread> for SpreadDocument {
    fn from(spread: Spread) -> Self {
        Self { median: spread.median, low: spread.low, high: spread.high }
    }
}
