//! Cases: sticks without faults, with one, and with two, and the speed-up of the everyday copy without each
//! fault, measured by writing it. Nothing here shares code with the diagnosis.

mod build;
mod copy;
mod fault;
mod layer;
mod test_case;

pub use fault::Fault;
pub use test_case::Case;
