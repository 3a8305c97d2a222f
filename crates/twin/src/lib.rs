//! A virtual stick fitted to a measurement: a profile from a published log or a run file, and its errors.
//!
//! A random seed splits the cells of a log in two. The profile is fitted to one part ([`fit`]); the errors on
//! the held-out part validate it. Any profile can be compared with a log ([`compare`]): its virtual stick
//! runs the log's own commands in their order.
//!
//! The method: `docs/simulator.md`.

#![deny(missing_docs)]

mod compare;
mod error;
mod fitting;
mod found;
mod header;
mod link;
mod measured;
mod measured_run;
mod options;
mod profile;
mod reads;
mod split;
mod summary;
pub mod whatif;
mod write_model;
mod writes;

pub use compare::{Compared, Comparison, compare};
pub use error::FitError;
pub use fitting::{Fit, fit};
pub use header::numbers_and_cells;
pub use link::link_of;
pub use measured::{Cell, Key, Known, Measured, Side, Table};
pub use options::Options;
pub use split::Split;
pub use summary::Summary;
