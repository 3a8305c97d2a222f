//! Real storage on Linux, as a [`Device`](flashscope_device::Device).
//!
//! - [`open()`] opens a block device or an image file and lists its caveats ([`Remark`]). Without a
//!   [`Consent`](flashscope_device::Consent) it opens read-only.
//! - [`serve`] goes the other way: it turns any [`Device`](flashscope_device::Device) into a file and a
//!   block device.
//! - Requests are served by `pread` and `pwrite` at queue depth 1, and by `io_uring` above it.
//! - [`list()`] and [`identify()`] read from sysfs which disks exist and what they report about themselves.
//! - [`activity`] reads what a disk is doing: throughput, data waiting in memory, writing processes.
//!
//! All unsafe code of flashscope is in this crate, in the modules that expect it below. The only clock is in
//! `clock.rs`.

#![deny(missing_docs)]

pub mod activity;
#[cfg(test)]
mod agreed;
mod cache_switch;
mod card;
mod classify;
mod clock;
mod describe;
mod device;
mod disk;
mod disk_kind;
mod engine;
mod erasable;
mod error;
#[expect(unsafe_code, reason = "FIEMAP, FIGETBSZ and FIBMAP are ioctls, which no library wraps")]
mod extents;
mod failure;
mod files;
mod geometry;
mod holder;
mod host_disk;
mod identify;
mod image_file;
mod journal;
mod kernel_log;
#[expect(unsafe_code, reason = "memory in huge pages is a mapping of its own")]
mod large_memory;
mod layered_target;
mod list;
#[expect(unsafe_code, reason = "LOOP_GET_STATUS64 is an ioctl, which no library wraps")]
mod loop_backing;
mod memory;
mod missing_disk;
mod mounts;
mod open;
mod other_writes;
mod printable;
mod queue;
mod reader_ids;
mod remark;
mod reopened;
#[expect(unsafe_code, reason = "mincore reads the state of a mapping")]
mod resident;
#[expect(unsafe_code, reason = "the kernel accesses the memory of requests in flight")]
mod ring;
mod roots;
mod scratch;
mod scratch_files;
pub mod serve;
mod slot;
mod swap;
mod sync;
mod sysfs;
mod target;
#[cfg(test)]
mod testing;
mod trial_mount;
mod udisks;
mod usb;
mod users;
mod volume;
mod watch;
mod write_target;

pub use cache_switch::{CacheSwitch, CacheSwitchError};
pub use card::{BusMode, Card, Configuration, Identification, Reserve, SdStatus, SpecificData};
pub use device::LinuxDevice;
pub use disk::{Bus, Disk, Partition, Scsi};
pub use disk_kind::DiskKind;
pub use engine::Engine;
pub use erasable::{Erasable, erasable, is_persistent_name, persistent_name};
pub use error::{NoImage, NotErasable, OpenError};
pub use failure::SystemError;
pub use files::{
    BackingFilesystem, BenchDirectory, BenchFiles, DirectoryScan, FileSize, FilesError, FreeSpace,
    NonStickStorage, Rewriting, drop_from_page_cache, scan_directory,
};
pub use host_disk::host_disk;
pub use identify::{Identity, identify};
pub use image_file::examine_image;
pub use journal::{JournalFile, JournalFileError, ROOT_JOURNALS, journals, make_journal_folder};
pub use kernel_log::KernelEvents;
pub use layered_target::{LayeredError, LayeredTarget};
pub use list::{ListError, Listing, list, twin};
pub use memory::copy_speed;
pub use missing_disk::{MissingDisk, MissingDiskReason};
pub use mounts::Mount;
pub use open::{Access, OpenOptions, open};
pub use printable::printable;
pub use queue::{ImplausibleReason, OptimalSize, Queue, WriteCache};
pub use remark::Remark;
pub use roots::Roots;
pub use scratch_files::{ScratchFiles, run_tool, tool};
pub use target::TargetKind;
pub use trial_mount::{
    MountType, TrialFiles, TrialMount, TrialMountError, has_agreed_medium, has_driver, has_mount_program,
    keep_from_udev, update_partitions,
};
pub use udisks::{UdisksError, rescan};
pub use usb::{Capability, Hub, LinkLimit, Quirk, QuirkSource, UnknownReason, Usb, UsbPath, VirtualBus};
pub use users::home_of;
pub use volume::{Filesystem, alignment};
pub use watch::{WakeReason, Watch, wait_at_most};
pub use write_target::{WriteTarget, WriteTargetError};
