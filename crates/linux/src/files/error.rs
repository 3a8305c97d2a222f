//! Errors of the measurement of files, written for the person with the stick.

use flashscope_device::Bytes;
use rustix::io::Errno;

use crate::failure::SystemError;

/// Why files could not be measured. `path` is already safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// No such directory.
    #[error("{path}: there is no such directory; `flashscope list` shows where sticks are mounted")]
    Missing {
        /// The directory.
        path: String,
    },
    /// Not a directory.
    #[error(
        "{path} is not a directory; files are measured in a directory on the mounted stick (`flashscope list` shows where), a disk or \
         image with `flashscope bench`"
    )]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// A read-only filesystem.
    #[error(
        "{path} is mounted read-only; mount it for writing (mount -o remount,rw), or check the card's lock switch"
    )]
    ReadOnly {
        /// The directory.
        path: String,
    },
    /// No permission.
    #[error(
        "{path}: no permission for {during}: the directory belongs to another user; name one of your own, or put sudo \
         before the command. A stick that root mounted belongs to root: a desktop mounts it for you (udisksctl mount \
         -b DEVICE)"
    )]
    Forbidden {
        /// The directory.
        path: String,
        /// The action that failed.
        during: &'static str,
    },
    /// A virtual filesystem, such as /proc.
    #[error(
        "{path}: the filesystem there ({filesystem}) stores no files; name a directory on the mounted stick (`flashscope list` shows where)"
    )]
    NoFilesystemSpace {
        /// The directory.
        path: String,
        /// The filesystem type.
        filesystem: String,
    },
    /// The filesystem is full.
    #[error("{path} is full: {needed} do not fit; free some space, or make fewer files (--count)")]
    Full {
        /// The directory.
        path: String,
        /// Bytes to be written.
        needed: Bytes,
    },
    /// Too little free space for a useful file.
    #[error(
        "{path} has {free} free, and {needed} are needed, including a reserve for the filesystem; free some space"
    )]
    TooLittleSpace {
        /// The directory.
        path: String,
        /// The free space.
        free: Bytes,
        /// The space needed.
        needed: Bytes,
    },
    /// The filesystem has no room for more files.
    #[error("{path} takes only {free} more files, and {needed} are needed; make fewer (--count)")]
    TooManyFiles {
        /// The directory.
        path: String,
        /// The number of files it still takes.
        free: u64,
        /// The number of files needed.
        needed: u64,
    },
    /// One file with all the data is larger than the filesystem allows.
    #[error("{path}: this filesystem takes no single file of {size}; make fewer files (--count)")]
    TooLarge {
        /// The directory.
        path: String,
        /// The size of that file.
        size: Bytes,
    },
    /// Another test of the free space runs there.
    #[error("{path}: its free space is being tested already; wait until that ends")]
    InUse {
        /// The directory.
        path: String,
    },
    /// A directory to be used as a model is empty.
    #[error("{path} holds no files whose sizes could be taken; name another directory")]
    NoFiles {
        /// The directory.
        path: String,
    },
    /// Any other failure.
    #[error(transparent)]
    System(SystemError),
}

impl FilesError {
    /// The error for `errno`, which the action `during` in the directory at `path` returned while writing
    /// `needed`.
    pub fn of(path: &str, during: &'static str, errno: Errno, needed: Bytes) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::NOENT if during == EXAMINING => Self::Missing { path },
            Errno::NOTDIR => Self::NotADirectory { path },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::ACCESS | Errno::PERM => Self::Forbidden { path, during },
            Errno::NOSPC | Errno::DQUOT => Self::Full { path, needed },
            Errno::FBIG => Self::TooLarge { path, size: needed },
            errno => Self::System(SystemError { path, during, errno }),
        }
    }

    /// The error for one of the standard library.
    pub fn of_io(path: &str, during: &'static str, error: &std::io::Error, needed: Bytes) -> Self {
        Self::of(path, during, Errno::from_io_error(error).unwrap_or(Errno::IO), needed)
    }
}

/// The first action on a directory.
pub const EXAMINING: &str = "examining it";
