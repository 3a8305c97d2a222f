//! Random sticks, devices that are not sticks, and what is true of each.
//!
//! A [`Specimen`] is determined by a seed and its number. It makes any number of fresh
//! [`Device`](flashscope_device::Device)s, and knows the [`Truth`] about them, finding by finding. A [`Case`]
//! is a stick with known faults. This crate cannot reach the experiments and the inference: truth does not
//! depend on how it is found.
//!
//! The kinds of specimens and their shares: `docs/statistics.md`.

#![deny(missing_docs)]

mod capacity;
mod case;
mod copy_costs;
mod crash;
mod distorted_clock;
mod disturbance;
mod draw;
mod error;
mod history;
mod outside;
mod rounding;
mod scope;
mod specimen;
mod stick;
mod truth;
mod variant;

pub use capacity::{CapacityCase, CapacityClass};
pub use case::{Case, Fault};
pub use crash::{Crash, CrashCase, CrashOutcome};
pub use error::ZooError;
pub use outside::OutsideKind;
pub use scope::Scope;
pub use specimen::Specimen;
pub use truth::{Fact, Truth};
pub use variant::Law;
