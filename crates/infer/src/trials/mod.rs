//! Trials of filesystems: what they show.

mod interval;
mod recommendation;
pub mod summary;

pub use interval::{Comparison, Estimate};
pub use recommendation::{AS_SOLD, Recommendation};
