//! What a workload needs from the operating system besides a [`Device`](crate::Device): files, flushes, the
//! page cache, counters, a clock.
//!
//! The crate `linux` implements these traits with system calls. Tests implement them in memory and virtual
//! time.

mod files;
mod layers;
mod trials;
mod write;

pub use files::{CacheDrop, FileHost, FlushPolicy, TrafficCounters};
pub use layers::{CacheMode, LayerHost, ReadPath, WriteCacheSwitch};
pub use trials::{FreshSpace, NotReady, TrialHost};
pub use write::{ByteSource, WriteHost, WriteMode};
