//! Speeds of files and of write methods, and whether a claimed speed is durable.

pub mod comparison;
mod spread;
pub mod write_methods;
