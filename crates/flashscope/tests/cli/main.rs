//! The program as a person or a script runs it: command line in; text, JSON, files and exit codes out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod applied_again;
mod bad_input;
mod bench;
mod cache;
mod check_directories;
mod classes;
mod compared_disks;
mod confirmations;
mod destinations;
mod factors;
mod file_kinds;
mod files;
mod filesystems;
mod fits;
mod full_verifies;
mod generates;
mod helps;
mod imports;
mod interrupts;
mod layouts;
mod lists;
mod outputs;
mod plans;
mod present_layouts;
mod replay;
mod results;
mod run_files;
mod schemas;
mod scratch;
mod serve;
#[cfg(feature = "udisks")]
mod udisks;
mod verifies;
mod watches;
mod whatifs;
mod writeback_limits;

use support::{
    document, finding, flashscope, flashscope_reading, image, published, schema, served, skip, stderr, stdout,
};
