//! The numbers of chance.

use serde::Deserialize;

use super::bounds::{number, time};
use super::{Basis, ProfileError};

/// What makes two equal requests differ.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// How these numbers were found.
    pub basis: Basis,
    /// The mean of what a request takes longer than its ideal time, as a share of that time (exponential).
    pub jitter: f64,
    /// How many requests in a million are held up.
    #[serde(default)]
    pub outliers_per_million: f64,
    /// For how long on average, us (exponential).
    #[serde(default)]
    pub outlier_us: f64,
}

impl Noise {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        number("noise.jitter", self.jitter, 0.0, 1.0)?;
        number("noise.outliers_per_million", self.outliers_per_million, 0.0, 1e6)?;
        time("noise.outlier_us", self.outlier_us)
    }
}
