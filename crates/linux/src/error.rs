//! Errors of opening a target, written for the person with the stick.

use std::fmt;

use flashscope_device::{Bytes, SECTOR};
use rustix::io::Errno;

use crate::disk::Bus;
use crate::disk_kind::DiskKind;
use crate::target::TargetKind;
use crate::udisks::UdisksError;

/// Why a target could not be opened. `path` is already safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No such file or device.
    #[error("{path}: there is no such file or device; `flashscope list` shows the disks that are here")]
    Missing {
        /// The target.
        path: String,
    },
    /// A directory.
    #[error(
        "{path} is a directory; name the disk it lies on (`flashscope list` shows where disks \
         are mounted) or an image file"
    )]
    Directory {
        /// The target.
        path: String,
    },
    /// Neither a block device nor a file.
    #[error("{path} is a {what}, not a disk; name a block device such as /dev/sdb, or an image file")]
    NotStorage {
        /// The target.
        path: String,
        /// Its file type.
        what: &'static str,
    },
    /// No permission.
    #[error(
        "{path}: no permission to open it for {purpose}; {}{}",
        udisks.as_ref().map_or_else(String::new, |refusal| format!("{refusal}; ")), permission_advice(*kind, rustix::process::geteuid().is_root())
    )]
    PermissionDenied {
        /// The target.
        path: String,
        /// Reading or writing.
        purpose: &'static str,
        /// The kind of target.
        kind: TargetKind,
        /// Why udisks2 did not open it either, if it was asked.
        udisks: Option<UdisksError>,
    },
    /// udisks2 opened another disk, or opened it differently.
    #[error("{path}: udisks2 was asked for it and opened something else; put sudo before the command")]
    OtherDisk {
        /// The target.
        path: String,
    },
    /// Ctrl-C while udisks2 waited for a password.
    #[error("{path}: interrupted before it was opened")]
    Interrupted {
        /// The target.
        path: String,
    },
    /// A card reader without a card.
    #[error("{path}: there is no card in this reader, or the disk was removed; insert it and try again")]
    NoMedium {
        /// The target.
        path: String,
    },
    /// A file of zero bytes.
    #[error("{path} is empty: there is nothing to measure; give it a size first (truncate -s 1G {path})")]
    Empty {
        /// The target.
        path: String,
    },
    /// Smaller than one block.
    #[error("{path} holds {} bytes, less than one block of {logical_block}; a larger image is needed", size.get())]
    TooSmall {
        /// The target.
        path: String,
        /// Its size.
        size: Bytes,
        /// The logical block.
        logical_block: Bytes,
    },
    /// A disk that is never erased.
    #[error("{path} is not written to: {reason}")]
    NotErasable {
        /// The target.
        path: String,
        /// Why not.
        reason: NotErasable,
    },
    /// A file that looks like no image of a stick.
    #[error(
        "{path} is not written to, because it is probably no image of a stick: {sign}; if it is one, add --force-image"
    )]
    NotImage {
        /// The target.
        path: String,
        /// What shows it.
        sign: NoImage,
    },
    /// A disk or file that is mounted or otherwise in use.
    #[error("{path} is in use: {by}")]
    DiskInUse {
        /// The target.
        path: String,
        /// What uses it and how to end that; printable.
        by: String,
    },
    /// Another medium is present than the one that a person agreed to erase.
    #[error(
        "{path} is no longer the medium that you confirmed: it was changed meanwhile; `flashscope list` shows what is \
         there now"
    )]
    MediumChanged {
        /// The target.
        path: String,
    },
    /// The permission to erase is for another target.
    #[error("{path}: the permission to erase was given for {consented}, not for this")]
    NotConsented {
        /// The target.
        path: String,
        /// The target that the permission is for.
        consented: String,
    },
    /// The image is in use, as a disk or by another program.
    #[error("{path} is in use: {}", use_and_advice(path, user.as_deref()))]
    InUse {
        /// The target.
        path: String,
        /// The loop device over it; `None` for a lock, whose owner is unknown.
        user: Option<String>,
    },
    /// A queue depth out of range.
    #[error("a queue depth of {asked} is not possible; choose one from 1 to {most}")]
    QueueDepth {
        /// The requested queue depth.
        asked: u32,
        /// The largest queue depth.
        most: u32,
    },
    /// `io_uring` was requested by name, and is refused.
    #[error("{path}: the kernel refuses io_uring ({errno}); leave the choice of engine to flashscope")]
    RingRefused {
        /// The target.
        path: String,
        /// The kernel's error.
        errno: Errno,
    },
    /// Any other failure.
    #[error("{path}: {during} failed: {errno}; the kernel's log (dmesg) may say why")]
    System {
        /// The target.
        path: String,
        /// The action that failed.
        during: &'static str,
        /// The kernel's error.
        errno: Errno,
    },
}

impl OpenError {
    /// The error if udisks2 did not open the disk at `path` for `purpose` either.
    pub(crate) fn of_udisks(path: String, purpose: &'static str, refusal: UdisksError) -> Self {
        match refusal {
            UdisksError::Interrupted => Self::Interrupted { path },
            UdisksError::InUse => Self::InUse { path, user: None },
            UdisksError::OtherDisk => Self::OtherDisk { path },
            refusal => {
                Self::PermissionDenied { path, purpose, kind: TargetKind::Disk, udisks: Some(refusal) }
            }
        }
    }

    /// Whether the target was refused to protect its contents.
    #[must_use]
    pub const fn is_for_safety(&self) -> bool {
        matches!(
            self,
            Self::NotErasable { .. }
                | Self::NotImage { .. }
                | Self::DiskInUse { .. }
                | Self::MediumChanged { .. }
                | Self::NotConsented { .. }
                | Self::OtherDisk { .. }
                | Self::InUse { .. }
        )
    }
}

/// Why a disk is never erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotErasable {
    /// The running system is on it.
    #[error("the running system lies on it; to test such a disk, start from another one")]
    System,
    /// Neither a stick nor a card.
    #[error(
        "it is {} {} on {}; flashscope writes only to USB sticks and cards, image files, and loop devices over image files",
        article(kind.as_str()), kind.as_str(), bus.as_str()
    )]
    NoStick {
        /// The kind of disk.
        kind: DiskKind,
        /// The bus it is attached to.
        bus: Bus,
    },
    /// The kernel refuses writes to it.
    #[error("the kernel takes no writes for it; is the card's lock switch on, or was it attached read-only?")]
    ReadOnly,
    /// Unknown in sysfs.
    #[error("sysfs does not show what it is")]
    Unknown,
}

/// What shows that a file is no image of a stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoImage {
    /// Its first sector is text.
    Text,
    /// Its size is not in whole sectors.
    OddSize {
        /// In bytes.
        size: u64,
    },
}

impl fmt::Display for NoImage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text => formatter.write_str("it begins with text"),
            Self::OddSize { size } => write!(formatter, "its {size} bytes are not whole sectors of {SECTOR}"),
        }
    }
}

/// "a" or "an" before the name of a kind of disk.
fn article(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn use_and_advice(path: &str, user: Option<&str>) -> String {
    match user {
        Some(user) => {
            format!("the loop device {user} is attached to it; detach that first (losetup -d {user})")
        }
        None => format!(
            "it is mounted, swap space, part of a btrfs or ZFS pool, or locked by another program (a virtual machine, \
             or another flashscope); which one is unknown, but this may show it: fuser -vm {path}; unmount it or \
             close that program first"
        ),
    }
}

const fn permission_advice(kind: TargetKind, is_root: bool) -> &'static str {
    match kind {
        _ if is_root => {
            "root may open it, so this container, virtual machine or kernel forbids it; run the command outside of it, or \
             give it access to the device"
        }
        TargetKind::Disk => {
            "the disk belongs to root, because whoever may open it reads and overwrites the files of every user on it; \
             put sudo before the command. Without root: name a directory on the mounted stick (check, bench and \
             verify --full take one) or an image file of yours. Permanently: join the group that owns disks (sudo \
             usermod -aG disk $USER, then log in again), or let udev give removable disks to the logged-in user (a \
             rule with TAG+=\"uaccess\")"
        }
        TargetKind::File => {
            "the rights of the file or of its directory exclude this user; put sudo before the command, or ask the \
             file's owner (chmod)"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_about_access_is_for_this_kind_of_target_and_user() {
        let disk = permission_advice(TargetKind::Disk, false);
        for word in ["sudo", "group", "disk", "uaccess"] {
            assert!(disk.contains(word), "{disk}");
        }
        let file = permission_advice(TargetKind::File, false);
        assert!(file.contains("owner") && !file.contains("usermod"), "{file}");
        for kind in [TargetKind::Disk, TargetKind::File] {
            assert!(!permission_advice(kind, true).contains("sudo"), "root needs no sudo");
        }
    }
}
