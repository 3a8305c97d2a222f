//! The real world as far as a test machine has it: image files, loop devices where they are to be had, copies of sysfs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod copies;
mod errors;
mod images;
mod lists;
mod loops;
mod refusals;
mod support;
