//! Real storage on Linux, behind the [`Device`](flashscope_device::Device) contract.
//!
//! - [`open()`] takes a block device, or a file as if it were one, and says what it had to do for that ([`Remark`]);
//!   a block device is opened for reading only, a file for writing only with its owner's
//!   [`Consent`](flashscope_device::Consent),
//! - [`serve`] goes the other way: it makes any [`Device`](flashscope_device::Device) a file and a block device,
//! - requests are served by `pread` and `pwrite` at queue depth 1 and by `io_uring` above it,
//! - [`list()`] and [`identify()`] read from sysfs what disks there are and what they say of themselves.
//!
//! All unsafe code of flashscope is in this crate, and all of it in `ring.rs`. The only clock is in `clock.rs`.

#![deny(missing_docs)]

mod clock;
mod device;
mod disk;
mod engine;
mod error;
mod failure;
mod geometry;
mod identify;
mod list;
mod mounts;
mod open;
mod printable;
mod remark;
mod ring;
mod scratch;
pub mod serve;
mod slot;
mod sync;
mod sysfs;
mod target;

pub use device::LinuxDevice;
pub use disk::{Bus, Card, Disk, Partition, Usb};
pub use engine::Engine;
pub use error::OpenError;
pub use identify::{Identity, identify};
pub use list::{ListError, Roots, list};
pub use mounts::Mount;
pub use open::{Access, OpenOptions, open};
pub use printable::printable;
pub use remark::Remark;
pub use target::TargetKind;
