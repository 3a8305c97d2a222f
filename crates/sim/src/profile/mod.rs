//! The profile of a stick: every number of the model, with its source.

mod background;
mod bases;
mod bounds;
mod builtin;
mod bus;
mod class;
mod curve;
mod document;
mod error;
mod ftl;
mod link;
mod noise;
mod policy;
mod quantity;
mod read;
mod read_cache;
mod region;
mod slc_cache;
mod source;
mod state;
mod states;
mod thermal;
mod truth;
mod wear;
mod write;
mod write_buffer;

pub use background::{Background, Stall};
pub use bus::{Bus, BusFigures, UnknownBus};
pub use class::Class;
pub use curve::{Curve, Knot};
pub use document::Profile;
pub use error::ProfileError;
pub use ftl::Ftl;
pub use link::{CardLink, Link, LinkTiming, Protocol};
pub use noise::Noise;
pub use policy::{
    Association, GcVictim, HybridLog, LogStructured, OpenBlocks, OpeningCost, PageMapped, Policy, Victim,
};
pub use read::{Boundary, ReadPath};
pub use read_cache::{ReadCache, ReadCacheKind};
pub use region::{FailingOp, Region};
pub use slc_cache::{SlcCache, WhenFull};
pub use source::{Basis, Source};
pub use state::State;
pub use states::States;
pub use thermal::Thermal;
pub use truth::Truth;
pub use wear::{EndOfLife, Levelling, Wear};
pub use write::{SmallWrites, WriteCurve, WritePath};
pub use write_buffer::WriteBuffer;
