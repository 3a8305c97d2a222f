//! The virtual stick: a USB stick or SD card in virtual time, whose parameters are known.
//!
//! A [`VirtualStick`] implements the [`Device`](flashscope_device::Device) contract. Inside are a link that
//! splits requests into commands, a controller with caches and a flash translation layer, and the true
//! contents. All numbers come from a [`Profile`], a TOML file that names its sources; all random choices come
//! from a seed. The same profile and seed serve the same requests in the same virtual time, on every machine.
//!
//! The model and its limits: `docs/simulator.md`.

#![deny(missing_docs)]

mod area_states;
mod arithmetic;
mod background;
mod command;
mod conditions;
mod contents;
mod controller;
mod curve;
mod ftl;
mod link;
mod noise;
pub mod profile;
mod read_cache;
mod reads;
mod regions;
mod rng;
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
