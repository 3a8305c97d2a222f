//! Diagnosis: the bottleneck of a device, found by the gain of the *everyday copy* without it. A pure
//! function of the observations, the findings, and how the device is attached.
//!
//! Each rule estimates the time per byte of every part of the copy without one bottleneck, as an interval.
//! The bottleneck is the one with the largest gain. docs/diagnosis.md describes every rule. Files from bottom
//! to top: `size_sweep`, `inputs`, `workload`, `gain`, `time_shares`; what several rules share
//! (`long_stream`, `copy_stalls`, `command_cost`, `link_path`, `partial_pages`, `block_switch`); `baseline`;
//! `rules`; `diagnose`. A file uses only those before it.

mod baseline;
mod block_switch;
mod command_cost;
mod copy_stalls;
mod diagnose;
mod gain;
mod inputs;
mod link_path;
mod long_stream;
mod partial_pages;
mod rules;
mod size_sweep;
#[cfg(test)]
mod tests;
mod time_shares;
mod workload;
mod write_methods;

pub use copy_stalls::CopyStalls;
pub use diagnose::{diagnose, diagnose_run};
