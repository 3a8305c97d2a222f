//! Virtual sticks out of measurements: a profile fitted from a published log or a run file, and how well it fits.
//!
//! The cells of a log are split in two by a seed: a profile is fitted from the one half ([`fit`]), and the errors of the
//! other half, which the fit has never seen, say what it is worth. A profile of any origin can be held against a log
//! ([`compare`]): its virtual stick runs the log's own commands in their order.
//!
//! The method stands in `docs/simulator.md`.

#![deny(missing_docs)]

mod compare;
mod draft;
mod error;
mod fitting;
mod measured;
mod measured_run;
mod reads;
mod split;
mod summary;
mod toml;
mod writes;

pub use compare::{Compared, Comparison, compare};
pub use error::FitError;
pub use fitting::{Fit, Options, fit};
pub use measured::{Cell, Key, Measured, Side, Table};
pub use split::Split;
pub use summary::Summary;
pub use toml::numbers_and_cells;
