//! The contract between a storage device and everything that measures it.
//!
//! A [`Device`] takes requests ([`Op`]) and returns [`Completion`]s with timestamps of the device's own
//! clock. A real disk and a virtual stick implement the same four methods, so an experiment cannot
//! distinguish them. This crate knows no operating system and no flash translation layer; it holds:
//!
//! - requests and completions ([`request`]), with separate types for bytes, sectors and time ([`units`],
//!   [`time`]),
//! - the data pattern, whose sectors show whether they are right, stale or misplaced ([`pattern`]),
//! - an in-memory device ([`memory`]),
//! - small layers that wrap any device and pass through what they do not change ([`layer`]),
//! - what workloads on files need from the operating system ([`host`]),
//! - traces of requests in files ([`trace`]).

#![deny(missing_docs)]

pub mod buffer;
pub mod checksum;
pub mod consent;
pub mod contract;
pub mod duration_ns;
mod file_extent;
pub mod host;
pub mod layer;
mod limit;
pub mod memory;
pub mod pattern;
pub mod request;
pub mod time;
pub mod trace;
pub mod transfer;
pub mod units;

pub use buffer::Buffer;
pub use checksum::Checksum;
pub use consent::Consent;
pub use contract::{Capabilities, Device, DeviceError, DeviceExt};
pub use file_extent::FileExtent;
pub use pattern::{BlockState, CheckReport, Pattern};
pub use request::{Completion, FailureCause, Op, OpKind, Payload, ReadInto, RequestError, Success, Tag};
pub use time::Instant;
pub use units::{ByteRange, Bytes, Lba, SECTOR};
