//! The requests of filesystems at work, recorded once and replayed on any stick.
//!
//! `cargo xtask lab record` makes the recordings with a real kernel. They are a part of the program.

#![deny(missing_docs)]

mod index;

pub use index::{Index, Recording};
