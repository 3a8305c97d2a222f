//! The kinds of devices outside the hypothesis space.

use crate::draw::Draw;

/// A kind of device outside the hypothesis space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutsideKind {
    /// A hard disk: seeks, rotation, read-ahead.
    HardDisk,
    /// An NVMe drive: latencies of tens of microseconds.
    Nvme,
    /// A RAM disk.
    RamDisk,
    /// A disk behind a network.
    NetworkDisk,
    /// Random times, independent of the request.
    Noise,
    /// The same time for every request.
    Constant,
    /// Every request takes longer than the previous one.
    Slowing,
    /// A stick with a stopped clock.
    StoppedClock,
    /// A stick with many failing requests.
    Erring,
    /// A stick that is unplugged during the measurement.
    Vanishing,
    /// A stick that gets slower and fails more often with every byte written.
    Dying,
}

impl OutsideKind {
    const WEIGHTED: [(f64, Self); 11] = [
        (12.0, Self::HardDisk),
        (12.0, Self::Nvme),
        (10.0, Self::RamDisk),
        (12.0, Self::NetworkDisk),
        (14.0, Self::Noise),
        (8.0, Self::Constant),
        (10.0, Self::Slowing),
        (6.0, Self::StoppedClock),
        (6.0, Self::Erring),
        (6.0, Self::Vanishing),
        (4.0, Self::Dying),
    ];

    pub(crate) fn sample(draw: &mut Draw) -> Self {
        draw.weighted(&Self::WEIGHTED)
    }

    /// Its name in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HardDisk => "hard-disk",
            Self::Nvme => "nvme",
            Self::RamDisk => "ram-disk",
            Self::NetworkDisk => "network-disk",
            Self::Noise => "noise",
            Self::Constant => "constant",
            Self::Slowing => "slowing",
            Self::StoppedClock => "stopped-clock",
            Self::Erring => "erring",
            Self::Vanishing => "vanishing",
            Self::Dying => "dying",
        }
    }

    /// True if the device is a stick with a disturbance.
    pub(crate) const fn has_stick(self) -> bool {
        matches!(self, Self::StoppedClock | Self::Erring | Self::Vanishing | Self::Dying)
    }
}
