//! Errors and remarks of serving a device.

use std::fmt;
use std::path::PathBuf;

use flashscope_layout::steps::quoted;

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
    /// No permission for FUSE.
    #[error(
        "no permission to open /dev/fuse, through which the kernel asks for the data of the file; put sudo before the \
         command, or let users open it (sudo chmod 666 /dev/fuse). Without root: flashscope check sim:NAME tests a \
         virtual stick without serving it"
    )]
    FuseForbidden,
    /// Neither root nor fusermount3.
    #[error(
        "only root may mount, and other users need the program fusermount3 for it; install the package fuse3, or put \
         sudo before the command. Without both: flashscope check sim:NAME tests a virtual stick without serving it"
    )]
    NoFusermount,
    /// The kernel or fusermount3 refused to mount.
    #[error("{path}: mounting failed: {message}")]
    Mount {
        /// The mount point.
        path: String,
        /// The error message.
        message: String,
    },
    /// The directory is no valid mount point.
    #[error("{path} {problem}; name an empty directory, or leave --mount out")]
    MountPoint {
        /// The directory.
        path: String,
        /// The problem.
        problem: String,
    },
    /// A loop device needs root.
    #[error(
        "only root may make a block device of a file, because the kernel would show it to all programs as a disk; put \
         sudo before the command, or leave --loop out and use the file, which check, bench, plan and apply take"
    )]
    LoopNeedsRoot,
    /// `losetup` is missing or failed.
    #[error("{during} failed: {message}")]
    Losetup {
        /// The action that failed.
        during: String,
        /// The error message.
        message: String,
    },
    /// The runtime directory cannot be used.
    #[error("{path}: {problem}; the directory lists what must be cleaned up if this process dies")]
    Runtime {
        /// The directory or file.
        path: String,
        /// The problem.
        problem: String,
    },
    /// The system refused a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// What the person should know about serving, or about its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServeRemark {
    /// The mounts of a serving process that died were cleaned up.
    CleanedUp {
        /// Its mount point.
        mount: PathBuf,
        /// The block devices over its file.
        block_devices: Vec<PathBuf>,
    },
    /// The host's overhead could not be measured.
    NotCalibrated,
    /// The block device is mounted or open; the kernel detaches it when that ends.
    StillMounted {
        /// The block device.
        block_device: PathBuf,
        /// Where it is mounted; empty if a program has it open.
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
                write!(formatter, "cleaned up after a serving process that died: {}", shown(mount))?;
                block_devices.iter().try_for_each(|device| write!(formatter, ", {}", shown(device)))
            }
            Self::NotCalibrated => formatter.write_str(
                "the host's overhead could not be measured (needs losetup and dd): each reply is late by that overhead",
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
                mounts = mounts.iter().map(|mount| quoted(mount)).collect::<Vec<_>>().join(" "),
            ),
            Self::StillOpen { file } => {
                write!(formatter, "{} is still open in a program, which now gets errors", shown(file))
            }
        }
    }
}

/// A path, safe to print.
pub fn shown(path: &std::path::Path) -> String {
    printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remark_about_a_device_in_use_has_a_command_that_a_shell_takes() {
        let remark = |mounts: &[&str]| {
            let mounts = mounts.iter().map(|mount| (*mount).to_owned()).collect();
            ServeRemark::StillMounted { block_device: PathBuf::from("/dev/loop0"), mounts }.to_string()
        };
        let mounted = remark(&["/mnt", "/media/ada/ULTRA FIT"]);
        assert!(
            mounted.starts_with("/dev/loop0 is still mounted on /mnt '/media/ada/ULTRA FIT', "),
            "{mounted}"
        );
        assert!(mounted.ends_with("(sudo umount /mnt '/media/ada/ULTRA FIT')"), "{mounted}");
        let open = remark(&[]);
        assert!(open.starts_with("/dev/loop0 is still open in some program"), "{open}");
        assert!(open.ends_with("(fuser -v /dev/loop0 names it)"), "{open}");
    }
}
