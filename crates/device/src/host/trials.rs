//! A medium whose filesystem is made anew for each trial.

use crate::host::FileHost;
use crate::layer::Interrupt;
use crate::time::Instant;
use crate::units::Bytes;

/// The free space of a new filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshSpace {
    /// The free bytes.
    pub free: Bytes,
    /// The unit in which files take space.
    pub cluster: Bytes,
    /// The files that it still takes; `None` without a limit.
    pub files: Option<u64>,
}

/// Why a filesystem is not ready for a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady<E> {
    /// It cannot be had here: its program or the kernel refuses. Other filesystems can.
    Refused {
        /// The reason, for people.
        reason: String,
    },
    /// The medium or the host failed.
    Failed(E),
}

/// A medium on which filesystems are tried, one after another.
pub trait TrialHost {
    /// Why a call failed.
    type Error;

    /// The files of the mounted filesystem.
    type Files<'a>: FileHost<Error = Self::Error>
    where
        Self: 'a;

    /// Host time, real or virtual. Never goes back.
    fn now(&self) -> Instant;

    /// Makes the filesystem `variant` from `start` on, on everything that was there, and mounts it.
    ///
    /// # Errors
    /// [`NotReady`]; nothing is mounted then.
    fn prepare(
        &mut self,
        variant: &str,
        start: Bytes,
        interrupt: &Interrupt,
    ) -> Result<FreshSpace, NotReady<Self::Error>>;

    /// The files of the mounted filesystem. [`FileHost::drop_page_cache`] unmounts it and mounts it again.
    /// Files stay when the value is dropped.
    ///
    /// # Errors
    /// If nothing is mounted.
    fn files(&mut self) -> Result<Self::Files<'_>, Self::Error>;

    /// Unmounts the filesystem, if one is mounted.
    ///
    /// # Errors
    /// If the system refuses.
    fn unmount(&mut self) -> Result<(), Self::Error>;

    /// Whether the filesystem cannot take the files, although the medium is well: it is full, for example.
    fn is_limit(error: &Self::Error) -> bool;
}
