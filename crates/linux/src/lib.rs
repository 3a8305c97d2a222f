//! Real storage on Linux, behind the [`Device`](flashscope_device::Device) contract.
//!
//! - [`open()`] takes a block device, or a file as if it were one, and says what it had to do for that ([`Remark`]);
//!   a block device is opened for reading only, a file for writing only with its owner's
//!   [`Consent`](flashscope_device::Consent),
//! - [`serve`] goes the other way: it makes any [`Device`](flashscope_device::Device) a file and a block device,
//! - requests are served by `pread` and `pwrite` at queue depth 1 and by `io_uring` above it,
//! - [`list()`] and [`identify()`] read from sysfs what disks there are and what they say of themselves,
//! - [`activity`] is what a disk is doing: speed, what waits in memory for it, who writes.
//!
//! All unsafe code of flashscope is in this crate, and all of it in `ring.rs`, `resident.rs` and `large_memory.rs`. The only clock is in `clock.rs`.

#![deny(missing_docs)]

pub mod activity;
mod cache_switch;
mod card;
mod clock;
mod describe;
mod device;
mod disk;
mod engine;
mod erasable;
mod error;
mod failure;
mod files;
mod geometry;
mod identify;
mod idle;
mod large_memory;
mod layers;
mod list;
mod memory;
mod mounts;
mod open;
mod printable;
mod queue;
mod remark;
mod resident;
mod ring;
mod roots;
mod scratch;
pub mod serve;
mod slot;
mod sort;
mod sync;
mod sysfs;
mod target;
mod usb;
mod volume;
mod watch;
mod ways;

pub use cache_switch::{CacheSwitch, CacheSwitchError};
pub use card::{BusMode, Card, Configuration, Identification, SdStatus, SpecificData};
pub use device::LinuxDevice;
pub use disk::{Bus, Disk, Partition, Scsi};
pub use engine::Engine;
pub use erasable::{Erasable, erasable, is_lasting_name, lasting_name};
pub use error::{NotErasable, OpenError};
pub use failure::Refused;
pub use files::{
    Cold, FileSize, FilesError, FilesPlace, FlushWhen, Ground, NoStick, Part, Requests, Walked, walk,
};
pub use identify::{Identity, identify};
pub use idle::{Idle, Idleness};
pub use layers::{Layer, LayerError, LayerRead, Layers};
pub use list::{ListError, Listing, list};
pub use memory::copy_speed;
pub use mounts::Mount;
pub use open::{Access, OpenOptions, open};
pub use printable::printable;
pub use queue::{Bogus, OptimalSize, Queue, WriteCache};
pub use remark::Remark;
pub use roots::Roots;
pub use sort::Sort;
pub use target::TargetKind;
pub use usb::{Ability, Brake, Hub, Unknown, Usb, Way};
pub use volume::{Filesystem, alignment};
pub use watch::{Watch, Woken, wait_at_most};
pub use ways::{Place, WayToWrite, WaysError, Written};
