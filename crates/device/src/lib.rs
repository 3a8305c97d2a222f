//! The contract between a storage device and everything that measures it.
//!
//! A [`Device`] takes requests ([`Op`]) and hands back [`Completion`]s stamped with the device's own clock. A real disk
//! and a virtual stick implement the same four methods, so an experiment cannot tell them apart. This crate knows no
//! operating system and no flash translation layer; it holds:
//!
//! - the requests and their answers ([`request`]), in types that keep bytes, sectors and time apart ([`units`], [`time`]),
//! - the test data that says of itself whether it is right, stale or misplaced ([`pattern`]),
//! - an in-memory device ([`memory`]),
//! - small layers that wrap any device and pass through what they do not change ([`layer`]),
//! - traces of requests in files ([`trace`]).

#![deny(missing_docs)]

pub mod buffer;
pub mod consent;
pub mod contract;
pub mod layer;
pub mod memory;
pub mod pattern;
pub mod request;
pub mod time;
pub mod trace;
pub mod units;

pub use buffer::Buffer;
pub use consent::Consent;
pub use contract::{Capabilities, Device, DeviceError, DeviceExt};
pub use pattern::{BlockState, CheckReport, Pattern};
pub use request::{Completion, FailureCause, Op, OpKind, Payload, ReadInto, RequestError, Success, Tag};
pub use time::Instant;
pub use units::{ByteRange, Bytes, Lba, SECTOR};
