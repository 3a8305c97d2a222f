//! A device as a real disk: a file that programs open, through FUSE, and on request a block device over it.
//!
//! Three parties work on a request. A thread of `fuser` takes it from the kernel and stamps it (`filesystem.rs`); one thread owns
//! the device, has it compute when the request completes, and answers at that instant (`server.rs`, `timing.rs`); what the
//! host itself costs on the way was measured before and is subtracted (`overhead.rs`). What is mounted is written down, so
//! that the next start can clean up after a process that was killed (`state.rs`).

mod answers;
mod backed;
mod error;
mod filesystem;
mod ledger;
mod loop_device;
mod mount;
mod overhead;
mod request;
mod server;
mod serving;
mod state;
mod timing;

pub use backed::{Backed, BackingError};
pub use error::{ServeError, ServeRemark};
pub use ledger::{Punctuality, Served};
pub use serving::{Emergency, ServeOptions, Serving, Stopped};
pub use timing::Pace;
