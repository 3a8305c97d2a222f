//! Tests on this machine: image files, loop devices where they are available, copies of sysfs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../src/agreed.rs"]
mod agreed;
mod disk_lists;
mod images;
mod io_uring_refusals;
mod loop_devices;
mod open_errors;
mod support;
mod sysfs_copies;
