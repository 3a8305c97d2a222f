//! Serves a device as a real disk: a file through FUSE, and on request a block device over it.
//!
//! A request passes three stages. A thread of `fuser` receives it from the kernel and time-stamps it
//! (`filesystem.rs`). One thread owns the device, computes when the request completes, and replies at that
//! instant (`server.rs`, `timing.rs`). The host's own overhead was measured before and is subtracted
//! (`overhead.rs`). All mounts are recorded, so that the next start can clean up after a process that was
//! killed (`state.rs`).

mod backed;
mod error;
mod filesystem;
mod loop_device;
mod mount;
mod overhead;
mod reply_queue;
mod request;
mod server;
mod serving;
mod state;
mod statistics;
mod timing;

pub use backed::{BackingError, FileBacked};
pub use error::{ServeError, ServeRemark};
pub use serving::{ForcedUnmount, ServeOptions, Serving, Stopped};
pub use statistics::{Lateness, ServeStatistics};
pub use timing::ServeSpeed;
