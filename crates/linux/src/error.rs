//! Why a target cannot be opened, in words for the person holding the card.

use flashscope_device::Bytes;
use rustix::io::Errno;

use crate::disk::Bus;
use crate::sort::Sort;
use crate::target::TargetKind;

/// Why a target could not be opened. `path` is already safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Nothing has this name.
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
        /// What it is.
        what: &'static str,
    },
    /// The system forbids it.
    #[error("{path}: no permission to open it for {purpose}; {}", permission_advice(*kind))]
    PermissionDenied {
        /// The target.
        path: String,
        /// Reading or writing.
        purpose: &'static str,
        /// What it is.
        kind: TargetKind,
    },
    /// A card reader without a card.
    #[error("{path}: there is no card in this reader, or the disk was taken out; put it in and try again")]
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
        /// The smallest unit that can be read.
        logical_block: Bytes,
    },
    /// A disk that is never written to.
    #[error("{path} is not erased: {reason}")]
    NotErasable {
        /// The target.
        path: String,
        /// Why not.
        reason: NotErasable,
    },
    /// A disk of which something is mounted or otherwise in use.
    #[error("{path} is in use: {by}")]
    DiskInUse {
        /// The target.
        path: String,
        /// Who uses it, and how that ends; printable.
        by: String,
    },
    /// Another stick or card has taken the place of the one that a person agreed to erase.
    #[error(
        "{path} is not the medium any more that was asked about: it was changed meanwhile; `flashscope list` shows what is \
         there now"
    )]
    OtherMedium {
        /// The target.
        path: String,
    },
    /// The permission to erase was given for something else.
    #[error("{path}: the permission to erase was given for {consented}, not for this")]
    NotConsented {
        /// The target.
        path: String,
        /// What the permission is for.
        consented: String,
    },
    /// The image is in use, as a disk or by another program.
    #[error("{path} is in use: {}", use_and_advice(path, user.as_deref()))]
    InUse {
        /// The target.
        path: String,
        /// The loop device over it; `None` for a lock, which does not say who holds it.
        user: Option<String>,
    },
    /// A queue depth out of range.
    #[error("a queue depth of {asked} is not possible; choose one from 1 to {most}")]
    QueueDepth {
        /// What was asked for.
        asked: u32,
        /// The most that is taken.
        most: u32,
    },
    /// `io_uring` was asked for by name, and is refused.
    #[error("{path}: the kernel refuses io_uring ({errno}); leave the choice of engine to flashscope")]
    RingRefused {
        /// The target.
        path: String,
        /// What the kernel said.
        errno: Errno,
    },
    /// Anything else.
    #[error("{path}: {during} failed: {errno}; the kernel's log (dmesg) may say why")]
    System {
        /// The target.
        path: String,
        /// What was going on.
        during: &'static str,
        /// What the kernel said.
        errno: Errno,
    },
}

impl OpenError {
    /// True if the target could be opened, and is left alone for the sake of what it holds.
    #[must_use]
    pub const fn is_for_safety(&self) -> bool {
        matches!(
            self,
            Self::NotErasable { .. }
                | Self::DiskInUse { .. }
                | Self::OtherMedium { .. }
                | Self::NotConsented { .. }
                | Self::InUse { .. }
        )
    }
}

/// Why a disk is never written to, whoever agrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotErasable {
    /// The running system lies on it.
    #[error("the running system lies on it; to test such a disk, start from another one")]
    System,
    /// Neither a stick nor a card.
    #[error(
        "it is a {} on {}, and flashscope writes to USB sticks and cards only, to image files, and to loop devices over those",
        sort.as_str(), bus.as_str()
    )]
    NoStick {
        /// What it is.
        sort: Sort,
        /// What it hangs on.
        bus: Bus,
    },
    /// The kernel takes no writes for it.
    #[error("the kernel takes no writes for it; is the card's lock switch on, or was it attached read-only?")]
    ReadOnly,
    /// sysfs does not know it.
    #[error("sysfs does not tell what it is")]
    Unknown,
}

fn use_and_advice(path: &str, user: Option<&str>) -> String {
    match user {
        Some(user) => format!("{user} stands on it; detach that first (losetup -d {user})"),
        None => format!(
            "it is mounted, or another program holds a lock on it (a virtual machine, or another flashscope); which one \
             is unknown, but this may tell: fuser -vm {path}; unmount it or close that first"
        ),
    }
}

const fn permission_advice(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Disk => {
            "put sudo before the command; or, for good, join the group that owns disks (sudo usermod -aG disk $USER, \
             then log in again), or let udev give removable disks to whoever sits at the machine (a rule with \
             TAG+=\"uaccess\")"
        }
        TargetKind::File => "put sudo before the command, or ask the file's owner (chmod)",
    }
}
