//! Files and ways of writing them: how fast each is, and how far a claimed speed is true.

pub mod comparison;
mod spread;
pub mod write_methods;
