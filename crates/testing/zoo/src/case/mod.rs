//! Cases: sticks without faults, with one, and with two, and the speed-up of the everyday copy without each fault, measured by
//! writing it. Nothing here shares code with the diagnosis.

mod build;
#[expect(clippy::module_inception, reason = "the one type of this module, beside its parts")]
mod case;
mod copy;
mod fault;
mod layer;

pub use case::Case;
pub use fault::Fault;
