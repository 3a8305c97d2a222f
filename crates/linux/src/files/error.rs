//! Why files could not be measured, in words for the person holding the card.

use flashscope_device::Bytes;
use rustix::io::Errno;

use crate::failure::Refused;

/// Why files could not be measured. `path` is already safe to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// Nothing has this name.
    #[error("{path}: there is no such folder; `flashscope list` shows where sticks are mounted")]
    Missing {
        /// The folder.
        path: String,
    },
    /// A file, or a disk.
    #[error(
        "{path} is no folder; files are measured in a folder on the mounted stick (`flashscope list` shows where), a disk or \
         image with `flashscope bench`"
    )]
    NoFolder {
        /// What was named.
        path: String,
    },
    /// A filesystem that takes no writes.
    #[error(
        "{path} is mounted read-only; mount it for writing (mount -o remount,rw), or check the card's lock switch"
    )]
    ReadOnly {
        /// The folder.
        path: String,
    },
    /// The system forbids it.
    #[error("{path}: no permission for {during}; name a folder of your own, or put sudo before the command")]
    Forbidden {
        /// The folder.
        path: String,
        /// What was going on.
        during: &'static str,
    },
    /// A filesystem of the kernel's own, such as that of /proc.
    #[error(
        "{path}: the filesystem there ({filesystem}) has no room of its own; name a folder on the mounted stick (`flashscope list` shows where)"
    )]
    NoStorage {
        /// The folder.
        path: String,
        /// Its kind.
        filesystem: String,
    },
    /// The filesystem has no room.
    #[error("{path} is full: {needed} do not fit; free some space, or make fewer files (--count)")]
    Full {
        /// The folder.
        path: String,
        /// What was to be written.
        needed: Bytes,
    },
    /// Too little room for a file that tells anything.
    #[error(
        "{path} has {free} free, and {needed} are needed, a reserve for the filesystem included; free some space"
    )]
    NoRoom {
        /// The folder.
        path: String,
        /// What is free.
        free: Bytes,
        /// What is needed.
        needed: Bytes,
    },
    /// The filesystem takes no more names.
    #[error("{path} takes only {free} more files, and {needed} are needed; make fewer (--count)")]
    Names {
        /// The folder.
        path: String,
        /// How many it still takes.
        free: u64,
        /// How many are needed.
        needed: u64,
    },
    /// One file of everything is more than the filesystem takes.
    #[error("{path}: this filesystem takes no single file of {size}; make fewer files (--count)")]
    TooLarge {
        /// The folder.
        path: String,
        /// What the one file would hold.
        size: Bytes,
    },
    /// A folder to be taken as a model, with nothing in it.
    #[error("{path} holds no files whose sizes could be taken; name another folder, or a --profile")]
    NothingThere {
        /// The folder.
        path: String,
    },
    /// The person asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error(transparent)]
    System(Refused),
}

impl FilesError {
    /// What the kernel said, `during` something in the folder at `path`, where `needed` was to be written.
    pub fn of(path: &str, during: &'static str, errno: Errno, needed: Bytes) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::NOENT if during == LOOKING => Self::Missing { path },
            Errno::NOTDIR => Self::NoFolder { path },
            Errno::ROFS => Self::ReadOnly { path },
            Errno::ACCESS | Errno::PERM => Self::Forbidden { path, during },
            Errno::NOSPC | Errno::DQUOT => Self::Full { path, needed },
            Errno::FBIG => Self::TooLarge { path, size: needed },
            errno => Self::System(Refused { path, during, errno }),
        }
    }

    /// The same from the standard library, which calls it interrupted when somebody asked to stop.
    pub fn of_io(path: &str, during: &'static str, error: &std::io::Error, needed: Bytes) -> Self {
        if error.kind() == std::io::ErrorKind::Interrupted {
            return Self::Interrupted;
        }
        Self::of(path, during, Errno::from_io_error(error).unwrap_or(Errno::IO), needed)
    }
}

/// What is done first with a folder.
pub const LOOKING: &str = "looking at it";
