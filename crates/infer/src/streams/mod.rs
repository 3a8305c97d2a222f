//! Streams of equal requests: their throughput, stalls, drift, caches and change points.

pub mod batch_means;
pub mod calm;
pub mod changes;
pub mod drift;
mod fill;
mod other_writes;
pub mod slowdown;
pub mod speed;
pub mod stalls;
pub mod stream_stalls;
pub mod sustained;
pub mod throughput_profile;
pub mod write_buffer;
