//! Trials of filesystems: what they show.

pub mod factorial;
mod interval;
mod recommendation;
mod stopping;
pub mod summary;

pub use interval::{Comparison, Estimate, REPLAY_ERROR};
pub use recommendation::{AS_SOLD, Recommendation};
pub use stopping::is_clear;
