//! The faults of a case.

use std::fmt;

use crate::draw::Draw;

/// A fault that makes a stick slower than it could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The stick is plugged into a port with a slower link than its own.
    SlowPort,
    /// The card is in a reader with a slower link than the card's.
    SlowReader,
    /// The driver splits requests into small commands.
    SmallCommands,
    /// A write of a few KiB costs many times its share of a page.
    SlowSmallWrites,
    /// Fewer erase blocks can be open than an everyday copy interleaves.
    FewOpenUnits,
    /// The SLC cache is exhausted, and the flash behind it is slow.
    ExhaustedSlcCache,
    /// Garbage collection stalls a long copy.
    GarbageCollection,
    /// The partition begins in the middle of a page.
    Misaligned,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 8] = [
        Self::SlowPort,
        Self::SlowReader,
        Self::SmallCommands,
        Self::SlowSmallWrites,
        Self::FewOpenUnits,
        Self::ExhaustedSlcCache,
        Self::GarbageCollection,
        Self::Misaligned,
    ];

    /// The bottleneck of this fault, by its name in `check --json`.
    #[must_use]
    pub const fn bottleneck(self) -> &'static str {
        match self {
            Self::SlowPort => "link",
            Self::SlowReader => "reader",
            Self::SmallCommands => "driver",
            Self::SlowSmallWrites => "small_writes",
            Self::FewOpenUnits => "open_units",
            Self::ExhaustedSlcCache | Self::GarbageCollection => "slc_cache",
            Self::Misaligned => "alignment",
        }
    }

    /// A short name for tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SlowPort => "slow port",
            Self::SlowReader => "slow card reader",
            Self::SmallCommands => "driver splits requests",
            Self::SlowSmallWrites => "slow small writes",
            Self::FewOpenUnits => "few open units",
            Self::ExhaustedSlcCache => "SLC cache exhausted",
            Self::GarbageCollection => "garbage collection",
            Self::Misaligned => "misaligned partition",
        }
    }

    pub(super) fn sample(draw: &mut Draw) -> Self {
        draw.weighted(&Self::ALL.map(|fault| (1.0, fault)))
    }

    /// Two faults with different bottlenecks. A slow port and a slow reader exclude each other.
    pub(super) fn sample_two(draw: &mut Draw) -> [Self; 2] {
        loop {
            let (one, other) = (Self::sample(draw), Self::sample(draw));
            let is_of_link = |fault| matches!(fault, Self::SlowPort | Self::SlowReader);
            let is_same = one.bottleneck() == other.bottleneck() || is_of_link(one) && is_of_link(other);
            if !is_same {
                return [one, other];
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
