//! Trials of filesystems: what they show.

pub mod factorial;
pub mod forecast;
mod interval;
mod recommendation;
mod stopping;
pub mod summary;
pub mod twin_error;

pub use interval::{Comparison, Estimate, REPLAY_ERROR};
pub use recommendation::{AS_SOLD, PLANNED, Recommendation};
pub use stopping::is_clear;
