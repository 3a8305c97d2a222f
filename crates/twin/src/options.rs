//! The options of a fit.

/// The options of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The name of the fitted profile.
    pub profile_name: String,
    /// The share of cells that is held out from the fit, 0 to 1.
    pub holdout: f64,
    /// The random seed of the holdout.
    pub seed: u64,
}
