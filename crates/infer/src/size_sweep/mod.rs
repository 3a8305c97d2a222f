//! Writes of every request size: the effective page and the write unit.

pub mod sweep;
pub mod write_unit;
