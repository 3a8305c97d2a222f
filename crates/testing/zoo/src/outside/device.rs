//! A device of a given kind.

use flashscope_device::{Bytes, Device};

use super::hard_disk::HardDisk;
use super::kind::OutsideKind;
use super::noise::{Constant, Noise};
use super::solid_state::SolidState;
use super::timed::{Timed, Timing};
use crate::draw::Draw;

/// A device of a kind that is not a stick.
pub(crate) fn device(kind: OutsideKind, draw: &mut Draw) -> Box<dyn Device + Send> {
    let capacity = capacity(kind, draw);
    let timing: Box<dyn Timing> = match kind {
        OutsideKind::HardDisk => Box::new(HardDisk::sample(capacity, draw)),
        OutsideKind::Nvme => Box::new(SolidState::nvme(draw)),
        OutsideKind::RamDisk => Box::new(SolidState::memory(draw)),
        OutsideKind::NetworkDisk => Box::new(SolidState::network(draw)),
        OutsideKind::Constant | OutsideKind::Slowing => Box::new(Constant::sample(draw)),
        OutsideKind::Noise
        | OutsideKind::StoppedClock
        | OutsideKind::Erring
        | OutsideKind::Vanishing
        | OutsideKind::Dying => Box::new(Noise::sample(draw)),
    };
    Box::new(Timed::new(capacity, timing, draw.clone()))
}

fn capacity(kind: OutsideKind, draw: &mut Draw) -> Bytes {
    let (low, high) = match kind {
        OutsideKind::HardDisk => (5.0, 12.0),
        OutsideKind::Nvme => (6.0, 11.0),
        OutsideKind::RamDisk => (-2.0, 5.0),
        _ => (0.0, 9.0),
    };
    let mebibytes = draw.uniform(low, high).exp2() * 1024.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "256 MiB to 4 TiB")]
    Bytes::mib(mebibytes as u64)
}
