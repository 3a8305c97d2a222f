//! What is not in the space of hypotheses: storage without cheap flash, no storage at all, and sticks that break.

mod hard_disk;
mod noise;
mod solid_state;
mod timed;

use flashscope_device::{Bytes, Device};

use crate::draw::Draw;
use timed::{Timed, Timing};

/// A kind of device outside the space of hypotheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Seeks, rotates, reads ahead.
    HardDisk,
    /// Tens of microseconds, many at a time.
    Nvme,
    /// Memory.
    RamDisk,
    /// Somebody else's disk behind a network.
    NetworkDisk,
    /// Times that have nothing to do with what is asked.
    Noise,
    /// Every request takes the same.
    Constant,
    /// Every request takes longer than the one before.
    Slowing,
    /// A stick whose clock stands still.
    StoppedClock,
    /// A stick of which many requests fail.
    Erring,
    /// A stick that is pulled out half-way.
    Vanishing,
    /// A stick that gets slower and fails more often with all that is written.
    Dying,
}

impl Kind {
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

    pub(crate) fn draw(draw: &mut Draw) -> Self {
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

    /// Whether there is a stick inside.
    pub(crate) const fn has_stick(self) -> bool {
        matches!(self, Self::StoppedClock | Self::Erring | Self::Vanishing | Self::Dying)
    }
}

/// A device of a kind without a stick inside.
pub(crate) fn device(kind: Kind, draw: &mut Draw) -> Box<dyn Device + Send> {
    let capacity = capacity(kind, draw);
    let timing: Box<dyn Timing> = match kind {
        Kind::HardDisk => Box::new(hard_disk::HardDisk::draw(capacity, draw)),
        Kind::Nvme => Box::new(solid_state::SolidState::nvme(draw)),
        Kind::RamDisk => Box::new(solid_state::SolidState::memory(draw)),
        Kind::NetworkDisk => Box::new(solid_state::SolidState::network(draw)),
        Kind::Constant | Kind::Slowing => Box::new(noise::Constant::draw(draw)),
        Kind::Noise | Kind::StoppedClock | Kind::Erring | Kind::Vanishing | Kind::Dying => {
            Box::new(noise::Noise::draw(draw))
        }
    };
    Box::new(Timed::new(capacity, timing, draw.clone()))
}

fn capacity(kind: Kind, draw: &mut Draw) -> Bytes {
    let (low, high) = match kind {
        Kind::HardDisk => (5.0, 12.0),
        Kind::Nvme => (6.0, 11.0),
        Kind::RamDisk => (-2.0, 5.0),
        _ => (0.0, 9.0),
    };
    let mebibytes = draw.between(low, high).exp2() * 1024.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "256 MiB to 4 TiB")]
    Bytes::mib(mebibytes as u64)
}
