//! Experiments and their inference against virtual sticks, whose truth is known.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_input;
mod diagnosis;
mod fill;
mod speed;
mod throughput_profile;
mod truth;
