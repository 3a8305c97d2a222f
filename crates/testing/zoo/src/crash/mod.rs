//! Crashes while a journaled device is overwritten, and while it is restored.
//!
//! A [`CrashCase`] fills a device in memory, overwrites it through the journal layer, crashes at a random
//! instant, restores with up to two further crashes, and compares every byte.

mod device;
mod run;

pub use run::{Crash, CrashCase, CrashOutcome};
