//! Why no profile can be fitted.

use flashscope_sim::ProfileError;

/// A measurement from which no profile can be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Fewer cells than any model has parameters.
    #[error(
        "'{name}' has {cells} cells that can be fitted, at least {least} are needed; a log of flashbench -a, or of --open-au with all its rows, has enough"
    )]
    TooLittle {
        /// The log.
        name: String,
        /// How many cells it has.
        cells: usize,
        /// How many are needed.
        least: usize,
    },
    /// The profile that came out is impossible: the log holds figures that no stick has.
    #[error(
        "the profile fitted from '{name}' is impossible ({source}); does the log hold figures of a stick?"
    )]
    Impossible {
        /// The log.
        name: String,
        /// What the profile's check says.
        source: ProfileError,
    },
}
