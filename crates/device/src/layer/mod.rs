//! Layers: each wraps any [`Device`](crate::Device) and changes one thing.

pub mod clip;
mod clock;
pub mod fault;
pub mod fence;
pub mod interrupt;
pub mod journal;
pub mod meter;
mod pending;
pub mod read_only;
mod refusals;
pub mod replay;
pub mod trace;
pub mod window;

pub use clip::Clip;
pub use fault::{FaultError, FaultEvent, FaultLog, FaultSpec, Faulty, Loss};
pub use fence::Fence;
pub use interrupt::{Interrupt, Interruptible};
pub use journal::{JournalStore, Journaled};
pub use meter::{Budget, Cost, Meter};
pub use pending::{Pending, Watched};

pub use crate::limit::Limit;
pub use read_only::ReadOnly;
pub use replay::Replay;
pub use trace::{RecordSink, Trace, TraceFile};
pub use window::Window;

pub use crate::trace::TraceRecord;
