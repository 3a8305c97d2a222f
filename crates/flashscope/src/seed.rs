//! Random seeds that no other run has.

use std::hash::{BuildHasher, RandomState};

/// A seed that no other run has. It needs no secrecy, only difference.
pub fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
