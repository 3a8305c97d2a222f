//! The requests of filesystems at work, recorded once and replayed on any stick.
//!
//! `cargo xtask lab record` makes the recordings with a real kernel. They are a part of the program.
//!
//! - [`Recordings`]: the index and the files, checked when they are read,
//! - [`choose`]: the recordings that fit a stick and a wish,
//! - [`replay()`]: the requests of one recording on a device,
//! - [`try_out`]: a chosen pair of recordings as trials.

#![deny(missing_docs)]

mod choice;
mod error;
mod index;
mod replay;
mod requests;
mod store;
mod trials;

pub use choice::{Choice, Fit, Wish, choose};
pub use error::RecordingError;
pub use index::{Index, Recording};
pub use replay::{Replayed, replay};
pub use requests::decode;
pub use store::Recordings;
pub use trials::{Attempt, Failure, FailureReason, Place, try_out};
