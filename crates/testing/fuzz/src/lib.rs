//! Mutated inputs for every parser of untrusted bytes: none may panic, none may allocate without bound.
//!
//! [`targets`] lists the parsers with valid samples. [`Fuzzer`] mutates the samples with a random seed and
//! runs the parser on each input. The same seed gives the same inputs.

#![deny(missing_docs)]

mod fuzzer;
mod memory;
mod mutation;
mod random;
mod target;
mod targets;

pub use fuzzer::{Crash, CrashKind, Fuzzer};
pub use target::Target;
pub use targets::targets;
