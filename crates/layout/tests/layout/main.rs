//! The planner on random geometries, its scripts, and its results made with the real tools.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod geometries;
mod real_tools;
mod scripts;
mod support;
mod tool_host;
mod undo;
