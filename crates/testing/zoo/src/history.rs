//! What a stick has been through beside its profile's state: written through the front door, like any other data.

use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};

use crate::draw::Draw;

/// What was written before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum History {
    /// Nothing: it is as its profile's state has it.
    Untouched,
    /// The beginning, in order, up to this share of the capacity.
    Begun(f64),
    /// So many places here and there, of 1 MiB each.
    Scattered(u64),
}

const STEP: Bytes = Bytes::mib(1);

impl History {
    pub(crate) fn draw(draw: &mut Draw) -> Self {
        match draw.whole(0, 9) {
            0..=6 => Self::Untouched,
            7 => Self::Begun(draw.between(0.01, 0.3)),
            _ => Self::Scattered(draw.whole(16, 512)),
        }
    }

    /// In words, for the comment above a profile.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Untouched => "untouched".to_owned(),
            Self::Begun(share) => format!("written in order up to {:.0} % of its capacity", share * 100.0),
            Self::Scattered(places) => format!("{places} places of 1 MiB written here and there"),
        }
    }

    /// Lets a device go through it; everything has ended when this returns.
    pub(crate) fn replay(self, device: &mut dyn Device, draw: &mut Draw) -> Result<(), DeviceError> {
        let capacity = device.capabilities().capacity;
        let steps = capacity / STEP;
        match self {
            Self::Untouched => Ok(()),
            Self::Begun(share) => {
                let end = capacity.as_f64() * share;
                (0..steps)
                    .map(|step| STEP * step)
                    .take_while(|offset| offset.as_f64() < end)
                    .try_for_each(|offset| write(device, offset))
            }
            Self::Scattered(places) => {
                (0..places).try_for_each(|_| write(device, STEP * draw.whole(0, steps.saturating_sub(1))))
            }
        }
    }
}

fn write(device: &mut dyn Device, offset: Bytes) -> Result<(), DeviceError> {
    device.run(Op::write(ByteRange::new(offset, STEP), Pattern::new(0))).map(drop)
}
