//! Random sticks of every kind, devices that are no sticks at all, and what is true of each.
//!
//! A [`Specimen`] follows from a seed and its number alone. It makes a fresh [`Device`](flashscope_device::Device) as
//! often as it is asked to, and knows the [`Truth`] about it, finding by finding. This crate cannot reach the experiments
//! and the inference: what is true does not depend on how it is found.
//!
//! What the kinds are and how often they come: `docs/statistics.md`.

#![deny(missing_docs)]

mod draw;
mod error;
mod history;
mod mishap;
mod outside;
mod patient;
mod specimen;
mod stick;
mod truth;
mod warped;
mod work;

pub use error::ZooError;
pub use outside::Kind;
pub use patient::{Ailment, Patient};
pub use specimen::{Habitat, Specimen};
pub use truth::{Fact, Truth};
