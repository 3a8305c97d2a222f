//! What only holds in real time, on sticks that are served: one test after another, and none of another program beside it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "the tests that do not care for time need more")]
#[path = "../support/mod.rs"]
mod support;

mod bench;
mod check;
mod flashbench;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the test whose turn it is.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
