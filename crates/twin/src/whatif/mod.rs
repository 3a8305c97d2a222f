//! What another partition or filesystem would gain on a measured stick: recordings replayed on its twin.
//!
//! The method: `docs/methods/whatif.md`.

mod error;
mod layouts;
mod misfit;
mod pages;
mod prediction;
mod present;
mod speeds;
mod stalls;
mod stick_twin;
mod trials;

pub use error::TwinError;
pub use layouts::{SECTOR_63, starts};
pub use prediction::{PLANNED_EXT4, gains, gains_of_actions};
pub use present::present;
pub use stick_twin::StickTwin;
pub use trials::{Layouts, Tried};
