//! Injects faults: counterfeit capacity, errors, wrong data,
//! unplugging, power cuts and wear-out. A short text such as
//! `wrap:real=2GiB` describes a fault. The same seed gives the same failures.
//!
//! [`FaultSpec`] describes a fault, [`Faulty`] is a device with faults, [`FaultLog`] lists the events. Each
//! fault is its own layer.

mod address_map;
mod counterfeit;
mod dying;
mod error;
mod errors;
mod extents;
mod failing;
mod faulty;
mod log;
mod power_cut;
mod quantity;
mod spec;
mod split_request;
mod text;
mod volatile;
mod wrong_reads;

pub use counterfeit::Counterfeit;
pub use dying::Dying;
pub use error::FaultError;
pub use errors::Errors;
pub use faulty::Faulty;
pub use log::{FaultEvent, FaultLog, Loss};
pub use power_cut::PowerCut;
pub use spec::{
    CounterfeitSpec, CutSpec, DroppedDataCache, DroppedReads, DyingSpec, ErrorSpec, FaultSpec, Lookup,
    Survivors, Trigger, WrongReadSpec,
};
pub use wrong_reads::WrongReads;
