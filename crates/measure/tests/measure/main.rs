//! Experiments and their inference, compared with virtual sticks whose truth is known.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_input;
mod capacity;
mod classes;
mod diagnosis;
mod erase_block_by_reads;
mod erase_block_by_writes;
mod fill;
mod ftl_class;
mod full_capacity;
mod in_file;
mod open_units;
mod open_units_random;
mod other_writers;
mod speed;
mod support;
mod survey;
mod throughput_profile;
mod time_left;
