//! Parameters of noise on request times.

use serde::{Deserialize, Serialize};

use super::bounds::{number, time};
use super::{Basis, ProfileError, quantity};

/// Noise on request times.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// How these numbers were found.
    pub basis: Basis,
    /// Mean extra time of a request as a share of its ideal time (exponential distribution).
    pub jitter: f64,
    /// Outliers per million requests.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub outliers_per_million: f64,
    /// Mean extra time of an outlier, us (exponential distribution).
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub outlier_us: f64,
}

impl Noise {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        number("noise.jitter", self.jitter, 0.0, 1.0)?;
        number("noise.outliers_per_million", self.outliers_per_million, 0.0, 1e6)?;
        time("noise.outlier_us", self.outlier_us)
    }
}
