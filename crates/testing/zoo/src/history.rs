//! The write history of a stick before the measurement: ordinary writes on top of its preconditioning state.

use std::fmt;

use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};

use crate::draw::Draw;

/// The writes before the measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum History {
    /// None: the stick is in its preconditioning state.
    Untouched,
    /// Sequential writes from the start, up to this share of the capacity.
    SequentialFill(f64),
    /// This number of random writes of 1 MiB each.
    RandomWrites(u64),
}

const REQUEST: Bytes = Bytes::mib(1);

impl History {
    pub(crate) fn sample(draw: &mut Draw) -> Self {
        match draw.uniform_integer(0, 9) {
            0..=6 => Self::Untouched,
            7 => Self::SequentialFill(draw.uniform(0.01, 0.3)),
            _ => Self::RandomWrites(draw.uniform_integer(16, 512)),
        }
    }

    /// Writes the history to a device, and waits until all writes have completed.
    pub(crate) fn apply(self, device: &mut dyn Device, draw: &mut Draw) -> Result<(), DeviceError> {
        let capacity = device.capabilities().capacity;
        let requests = capacity / REQUEST;
        match self {
            Self::Untouched => Ok(()),
            Self::SequentialFill(share) => {
                let end = capacity.as_f64() * share;
                (0..requests)
                    .map(|index| REQUEST * index)
                    .take_while(|offset| offset.as_f64() < end)
                    .try_for_each(|offset| write(device, offset))
            }
            Self::RandomWrites(count) => (0..count).try_for_each(|_| {
                write(device, REQUEST * draw.uniform_integer(0, requests.saturating_sub(1)))
            }),
        }
    }
}

impl fmt::Display for History {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untouched => formatter.write_str("untouched"),
            Self::SequentialFill(share) => {
                write!(formatter, "written sequentially up to {:.0} % of its capacity", share * 100.0)
            }
            Self::RandomWrites(count) => write!(formatter, "{count} random writes of 1 MiB"),
        }
    }
}

fn write(device: &mut dyn Device, offset: Bytes) -> Result<(), DeviceError> {
    device.run(Op::write(ByteRange::new(offset, REQUEST), Pattern::new(0))).map(drop)
}
