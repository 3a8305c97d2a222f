//! Diagnosis: which layer holds a device back, by what the *everyday copy* gains where that layer is lifted. Pure, from what was
//! measured and how the device is plugged in.
//!
//! Each rule says what a byte of each part of the copy would take without its layer, from how much to how much; the
//! bottleneck is the layer with the largest gain. docs/diagnosis.md says why, rule by rule.

mod alignment;
mod claims;
mod diagnose;
mod driver;
mod gain;
mod link;
mod open_units;
mod seen;
mod size_sweep;
mod slc_cache;
mod small_writes;
mod workload;

pub use diagnose::{IN_MEMORY, diagnose, diagnose_run};
pub use workload::{IN_TURN, LONG, MEDIUM, PLACES, SMALL};
