//! Why no profile can be fitted.

use flashscope_sim::ProfileError;

/// A measurement from which no profile can be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// The log has fewer cells than the smallest model needs.
    #[error(
        "'{name}' has {cells} cells for a fit, at least {cells_min} are needed; a log of flashbench -a, or of --open-au with all its rows, has enough"
    )]
    TooFewCells {
        /// The log.
        name: String,
        /// The number of its cells.
        cells: usize,
        /// The minimum.
        cells_min: usize,
    },
    /// The fitted profile is impossible: the log has figures that no stick has.
    #[error("the profile fitted from '{name}' is impossible ({source}); is the log that of a stick?")]
    Impossible {
        /// The log.
        name: String,
        /// The failed check of the profile.
        source: ProfileError,
    },
}
