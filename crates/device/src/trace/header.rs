//! The header of a trace: the device, its clock, and its random seed.

use std::io::Read;

use super::byte_source::{ByteSource, Stop};
use super::error::TraceError;
use super::{MAGIC, VERSION, varint};
use crate::contract::Capabilities;
use crate::units::Bytes;

// Limits of the two texts, bytes. A reader refuses longer ones, so that a damaged length allocates little
// memory.
const LABEL_MAX: u64 = 4 << 10;
const PROFILE_MAX: u64 = 1 << 20;

const WRITABLE: u64 = 1;
const DISCARD: u64 = 2;
const REAL_CLOCK: u64 = 4;
const SEEDED: u64 = 8;

/// The clock of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockKind {
    /// The clock of a virtual stick.
    Virtual,
    /// The host's clock.
    Real,
}

/// The header of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeader {
    /// The capabilities of the traced device.
    pub capabilities: Capabilities,
    /// The clock of its times.
    pub clock: ClockKind,
    /// The random seed of a virtual stick; `None` if it has none or it is unknown.
    pub seed: Option<u64>,
    /// The name of the traced device; at most 4 KiB.
    pub label: String,
    /// The virtual stick's profile as TOML, at most 1 MiB; empty for other devices.
    pub profile: String,
}

impl TraceHeader {
    /// The header as bytes. A text beyond its limit is truncated.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let flag = |holds: bool, bit: u64| if holds { bit } else { 0 };
        let flags = flag(self.capabilities.writable, WRITABLE)
            | flag(self.capabilities.discard, DISCARD)
            | flag(self.clock == ClockKind::Real, REAL_CLOCK)
            | flag(self.seed.is_some(), SEEDED);
        let capabilities = &self.capabilities;
        let sizes = [
            capabilities.capacity,
            capabilities.logical_block,
            capabilities.physical_block,
            capabilities.max_request,
        ];
        varint::push(&mut out, VERSION);
        varint::push(&mut out, flags);
        sizes.iter().for_each(|size| varint::push(&mut out, size.get()));
        varint::push(&mut out, u64::from(capabilities.queue_depth));
        if let Some(seed) = self.seed {
            out.extend(seed.to_le_bytes());
        }
        for (text, longest) in [(&self.label, LABEL_MAX), (&self.profile, PROFILE_MAX)] {
            let text = &text[..text.floor_char_boundary(Bytes::new(longest).to_usize())];
            varint::push(&mut out, text.len() as u64);
            out.extend(text.as_bytes());
        }
        out
    }

    pub(super) fn decode<R: Read>(bytes: &mut ByteSource<R>) -> Result<Self, TraceError> {
        let header = Self::read_magic(bytes).and_then(|()| Self::read_fields(bytes));
        header.map_err(|stop| match stop {
            Stop::End if bytes.position() < MAGIC.len() as u64 => TraceError::NotATrace,
            Stop::End => TraceError::CutHeader { position: bytes.position() },
            Stop::Error(error) => error,
        })
    }

    fn read_magic<R: Read>(bytes: &mut ByteSource<R>) -> Result<(), Stop> {
        for expected in MAGIC {
            if bytes.byte()? != expected {
                return Err(TraceError::NotATrace.into());
            }
        }
        match bytes.number()? {
            VERSION => Ok(()),
            version => Err(TraceError::Version { version }.into()),
        }
    }

    fn read_fields<R: Read>(bytes: &mut ByteSource<R>) -> Result<Self, Stop> {
        let flags = bytes.number()?;
        if flags > WRITABLE | DISCARD | REAL_CLOCK | SEEDED {
            return Err(bytes.damaged(format!("unknown properties of the device ({flags:#x})")));
        }
        let mut size = || bytes.number().map(Bytes::new);
        let [capacity, logical_block, physical_block, max_request] = [size()?, size()?, size()?, size()?];
        let queue_depth =
            u32::try_from(bytes.number()?).map_err(|_| bytes.damaged("a queue depth beyond 32 bits"))?;
        let writable = flags & WRITABLE != 0;
        let discard = flags & DISCARD != 0;
        let seed = if flags & SEEDED == 0 { None } else { Some(bytes.fixed()?) };
        Ok(Self {
            capabilities: Capabilities {
                capacity,
                logical_block,
                physical_block,
                max_request,
                queue_depth,
                writable,
                discard,
            },
            clock: if flags & REAL_CLOCK == 0 { ClockKind::Virtual } else { ClockKind::Real },
            seed,
            label: bytes.text("label", LABEL_MAX)?,
            profile: bytes.text("profile", PROFILE_MAX)?,
        })
    }
}
