//! Makes a device fail on purpose: counterfeits, errors, unplugging, power cuts and slow dying, each from a short text
//! such as `wrap:real=2GiB`, and the same way for the same seed.
//!
//! [`FaultSpec`] is what is wrong, [`Faulty`] a device with it, [`FaultLog`] what happened. Each fault is a layer of its own.

mod clock;
mod counterfeit;
mod drive;
mod dying;
mod error;
mod errors;
mod extents;
mod failing;
mod faulty;
mod gather;
mod log;
mod power_cut;
mod quantity;
mod spec;
mod text;
mod volatile;

pub use counterfeit::Counterfeit;
pub use dying::Dying;
pub use error::FaultError;
pub use errors::Errors;
pub use faulty::Faulty;
pub use log::{FaultEvent, FaultLog, Loss};
pub use power_cut::PowerCut;
pub use spec::{
    CounterfeitSpec, CutSpec, DroppedReads, DyingSpec, ErrorSpec, FaultSpec, GhostCache, Lookup, Survivors,
    Trigger,
};
