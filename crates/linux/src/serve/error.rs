//! Why a device cannot be served, and what the person who started it should know.

use std::fmt;
use std::path::PathBuf;

use crate::printable::printable;

/// Why a device could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The kernel has no FUSE.
    #[error(
        "/dev/fuse is missing: a file that programs open needs FUSE; load it (sudo modprobe fuse), or give it to the \
         container (--device /dev/fuse --cap-add SYS_ADMIN)"
    )]
    NoFuse,
    /// FUSE is there, but not for this user.
    #[error("no permission to open /dev/fuse; put sudo before the command")]
    FuseForbidden,
    /// Neither root nor a helper that mounts for others.
    #[error(
        "mounting needs root or the program fusermount3; put sudo before the command, or install the package fuse3"
    )]
    NoFusermount,
    /// The kernel or its helper refused to mount.
    #[error("{path}: mounting failed: {said}")]
    Mount {
        /// Where.
        path: String,
        /// What was said.
        said: String,
    },
    /// The directory cannot be mounted on.
    #[error("{path} {problem}; name an empty directory, or leave --mount out")]
    MountPoint {
        /// The directory.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A loop device for somebody else than root.
    #[error("a block device needs root; put sudo before the command, or leave --loop out and use the file")]
    LoopNeedsRoot,
    /// `losetup` is missing or failed.
    #[error("{during} failed: {said}")]
    Losetup {
        /// What was going on.
        during: String,
        /// What was said.
        said: String,
    },
    /// The directory for what this process has mounted cannot be used.
    #[error("{path}: {problem}; it keeps what has to be cleaned up when this process dies")]
    Runtime {
        /// The directory or file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The system refused a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// Something the person should know of serving, or of how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeRemark {
    /// What a serving process that died had left was cleaned up.
    CleanedUp {
        /// Where it had mounted.
        mount: PathBuf,
        /// The block devices that stood on its file.
        block_devices: Vec<PathBuf>,
    },
    /// The host could not be measured.
    NotCalibrated,
    /// A filesystem is mounted from the block device: the kernel lets go of it when that ends.
    StillMounted {
        /// The block device.
        block_device: PathBuf,
        /// Where it is mounted; empty if some program merely has it open.
        mounts: Vec<String>,
    },
    /// A program has the file open.
    StillOpen {
        /// The file.
        file: PathBuf,
    },
}

impl fmt::Display for ServeRemark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CleanedUp { mount, block_devices } => {
                write!(formatter, "a serving process had died; cleaned up {}", shown(mount))?;
                block_devices.iter().try_for_each(|device| write!(formatter, ", {}", shown(device)))
            }
            Self::NotCalibrated => formatter.write_str(
                "the host's own overhead could not be measured (it takes dd): answers come that much too late",
            ),
            Self::StillMounted { block_device, mounts } if mounts.is_empty() => write!(
                formatter,
                "{device} is still open in some program, which now gets errors; the kernel detaches it when that is \
                 closed (fuser -v {device} names it)",
                device = shown(block_device)
            ),
            Self::StillMounted { block_device, mounts } => write!(
                formatter,
                "{} is still mounted on {mounts}, as if the stick had been pulled out: what was not written yet is \
                 lost; the kernel detaches it once you unmount it (sudo umount {mounts})",
                shown(block_device),
                mounts = mounts.join(" "),
            ),
            Self::StillOpen { file } => write!(
                formatter,
                "{} is still open in some program, which now gets errors",
                shown(file)
            ),
        }
    }
}

/// A path, safe to print.
pub fn shown(path: &std::path::Path) -> String {
    printable(&path.to_string_lossy())
}
