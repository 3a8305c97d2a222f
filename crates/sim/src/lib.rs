//! The virtual stick: a USB stick or SD card in virtual time, whose truth is known.
//!
//! A [`VirtualStick`] implements the [`Device`](flashscope_device::Device) contract. Behind it are a link that cuts
//! requests into commands, a controller with a read-ahead and a flash translation layer that keeps some erase blocks open, and the
//! true contents. All of its numbers come from a [`Profile`], a TOML file that names its sources; all of its chance comes
//! from a seed. The same profile and seed answer the same requests in the same virtual time, on every machine.
//!
//! What the model is, and what it leaves out: `docs/simulator.md`.

#![deny(missing_docs)]

mod area_states;
mod background;
mod chance;
mod conditions;
mod contents;
mod controller;
mod curve;
mod factor;
mod ftl;
mod link;
mod noise;
pub mod profile;
mod read_cache;
mod reads;
mod regions;
mod slc_cache;
mod statistics;
mod stick;
mod sustained;
pub mod target;
mod thermal;
mod wear;
mod write_buffer;
mod writes;

pub use ftl::Inconsistency;
pub use profile::{Class, Profile, ProfileError, Truth};
pub use statistics::Statistics;
pub use stick::VirtualStick;
pub use target::{Target, TargetError};
