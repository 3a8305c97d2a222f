//! What a watched disk is doing: I/O counters, pending writes, and processes with open files.

mod counters;
mod pending_writes;
mod processes;
mod sample;

pub use counters::{Counters, RequestCounters};
pub use pending_writes::{BoundReason, PendingWrites};
pub use processes::{Process, Processes};
pub use sample::{Sample, Snapshot};
