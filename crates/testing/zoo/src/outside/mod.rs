//! Devices outside the hypothesis space: storage without cheap flash, no storage at all, and failing sticks.

mod device;
mod hard_disk;
mod kind;
mod noise;
mod solid_state;
mod timed;

pub(crate) use device::device;
pub use kind::OutsideKind;
