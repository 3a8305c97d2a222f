//! The data in memory that is still to be written to a disk.

use flashscope_device::Bytes;

/// Data that programs have written and that has not reached the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingWrites {
    /// The data of this disk alone, from debugfs.
    Counted {
        /// Dirty: not yet sent to the disk.
        dirty: Bytes,
        /// In writeback: being written to the disk.
        writeback: Bytes,
        /// The largest error of the sum of both. The kernel counts per processor and adds up only now and
        /// then. Zero if it is certain that nothing is pending.
        error: Bytes,
    },
    /// The data of all disks together, from `/proc/meminfo`: an upper bound for this disk.
    AtMost(Bytes, BoundReason),
    /// Neither can be read.
    Unknown,
}

/// Why there is only an upper bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundReason {
    /// debugfs cannot be read; root can.
    Hidden,
    /// debugfs is not mounted.
    NotMounted,
    /// The kernel writes back per control group, and counts here only what belongs to no group (before
    /// Linux 6.10).
    ControlGroups,
}

impl PendingWrites {
    /// The pending bytes, or their upper bound.
    #[must_use]
    pub fn bytes_max(self) -> Option<Bytes> {
        match self {
            Self::Counted { dirty, writeback, .. } => Some(dirty + writeback),
            Self::AtMost(bytes, _) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// The largest error of [`PendingWrites::bytes_max`], in both directions.
    #[must_use]
    pub const fn error(self) -> Bytes {
        match self {
            Self::Counted { error, .. } => error,
            Self::AtMost(..) | Self::Unknown => Bytes::ZERO,
        }
    }

    /// Whether it is certain that nothing is pending.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        match self {
            Self::Counted { dirty, writeback, error } => {
                [dirty, writeback, error].iter().all(|bytes| bytes.is_zero())
            }
            Self::AtMost(bytes, _) => bytes.is_zero(),
            Self::Unknown => false,
        }
    }

    /// Whether the count is too small to differ from zero.
    #[must_use]
    pub fn is_below_error(self) -> bool {
        matches!(self, Self::Counted { dirty, writeback, error } if dirty + writeback <= error)
    }

    /// Whether it is certain that data is being written to the disk.
    #[must_use]
    pub fn is_being_written(self) -> bool {
        matches!(self, Self::Counted { writeback, error, .. } if writeback > error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exact_zero_is_nothing() {
        let counted = |writeback, error| PendingWrites::Counted { dirty: Bytes::ZERO, writeback, error };
        assert!(counted(Bytes::ZERO, Bytes::ZERO).is_nothing());
        assert!(!counted(Bytes::ZERO, Bytes::kib(64)).is_nothing());
        assert!(counted(Bytes::kib(65), Bytes::kib(64)).is_being_written());
        assert!(!counted(Bytes::kib(64), Bytes::kib(64)).is_being_written(), "within the error of the count");
    }
}
