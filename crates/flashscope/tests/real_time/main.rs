//! Tests in real time, on served sticks. They run one at a time, in a binary of their own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "the other test binary uses more")]
#[path = "../support/mod.rs"]
mod support;

mod bench;
mod check;
mod flashbench;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the running test.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
