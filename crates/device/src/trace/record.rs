//! One request in a trace, as data and as bytes.
//!
//! A byte of flags precedes each record; fields with the expected value are left out. An offset is relative
//! to the end of the previous request, a submission to the previous completion, so that sequential requests
//! need few bytes.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::byte_source::{ByteSource, Stop};
use super::varint;
use crate::request::OpKind;
use crate::time::Instant;
use crate::units::{ByteRange, Bytes, SECTOR};

/// One completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The kind of the request.
    pub kind: OpKind,
    /// Its range; empty at offset 0 for a flush or a pause.
    pub range: ByteRange,
    /// When the device accepted it.
    pub submitted_at: Instant,
    /// When the device finished it.
    pub completed_at: Instant,
    /// Whether it succeeded.
    pub succeeded: bool,
}

const KINDS: [OpKind; 5] = [OpKind::Read, OpKind::Write, OpKind::Flush, OpKind::Discard, OpKind::Pause];
const KIND: u8 = 0b111;
/// The kind that marks the end of the records.
pub(super) const END: u8 = KIND;
const FAILED: u8 = 1 << 3;
/// The request starts at the end of the previous one.
const CONTINUES: u8 = 1 << 4;
/// It has the length of the previous request of its kind.
const SAME_LENGTH: u8 = 1 << 5;
/// It was submitted at the instant of the previous completion.
const AT_ONCE: u8 = 1 << 6;
/// Offset and length are in bytes, because they are not multiples of a sector.
const IN_BYTES: u8 = 1 << 7;

/// The previous record, from which the next one differs.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Context {
    end: u64,
    lengths: [u64; KINDS.len()],
    completed_at: u64,
}

const fn has_range(kind: OpKind) -> bool {
    matches!(kind, OpKind::Read | OpKind::Write | OpKind::Discard)
}

const fn index(kind: OpKind) -> usize {
    match kind {
        OpKind::Read => 0,
        OpKind::Write => 1,
        OpKind::Flush => 2,
        OpKind::Discard => 3,
        OpKind::Pause => 4,
    }
}

impl Context {
    /// Appends `record` to `out`.
    #[expect(clippy::cast_possible_truncation, reason = "there are five kinds")]
    pub(super) fn encode(&mut self, record: &TraceRecord, out: &mut Vec<u8>) {
        let (offset, length) = (record.range.offset.get(), record.range.length.get());
        let submitted_at = record.submitted_at.as_nanos();
        let kind = index(record.kind);
        let whole_sectors = [offset, length, self.end].iter().all(|bytes| bytes.is_multiple_of(SECTOR.get()));
        let unit = if whole_sectors { SECTOR.get() } else { 1 };
        let flag = |holds: bool, bit: u8| if holds { bit } else { 0 };
        let mut flags =
            kind as u8 | flag(!record.succeeded, FAILED) | flag(submitted_at == self.completed_at, AT_ONCE);
        if has_range(record.kind) {
            flags |= flag(offset == self.end, CONTINUES)
                | flag(length == self.lengths[kind], SAME_LENGTH)
                | flag(!whole_sectors, IN_BYTES);
        }
        out.push(flags);
        if has_range(record.kind) {
            if flags & CONTINUES == 0 {
                varint::push(out, varint::difference(self.end / unit, offset / unit));
            }
            if flags & SAME_LENGTH == 0 {
                varint::push(out, length / unit);
            }
            self.end = offset.wrapping_add(length);
            self.lengths[kind] = length;
        }
        if flags & AT_ONCE == 0 {
            varint::push(out, varint::difference(self.completed_at, submitted_at));
        }
        let completed_at = record.completed_at.as_nanos();
        varint::push(out, completed_at.saturating_sub(submitted_at));
        self.completed_at = completed_at.max(submitted_at);
    }

    /// Reads the rest of a record after its flags.
    pub(super) fn decode<R: Read>(
        &mut self,
        flags: u8,
        bytes: &mut ByteSource<R>,
    ) -> Result<TraceRecord, Stop> {
        let Some(kind) = KINDS.get(usize::from(flags & KIND)).copied() else {
            return Err(bytes.damaged(format!("a request of unknown kind {}", flags & KIND)));
        };
        let range = if has_range(kind) {
            self.range(flags, kind, bytes)?
        } else if flags & (CONTINUES | SAME_LENGTH | IN_BYTES) == 0 {
            ByteRange::new(Bytes::ZERO, Bytes::ZERO)
        } else {
            return Err(bytes.damaged(format!("a {kind} with a range")));
        };
        let folded = if flags & AT_ONCE == 0 { bytes.number()? } else { 0 };
        let submitted_at = varint::step(self.completed_at, folded);
        let latency = bytes.number()?;
        let Some(completed_at) = submitted_at.checked_add(latency) else {
            return Err(bytes.damaged("a completion time beyond 64 bits"));
        };
        self.completed_at = completed_at;
        Ok(TraceRecord {
            kind,
            range,
            submitted_at: Instant::from_nanos(submitted_at),
            completed_at: Instant::from_nanos(completed_at),
            succeeded: flags & FAILED == 0,
        })
    }

    fn range<R: Read>(
        &mut self,
        flags: u8,
        kind: OpKind,
        bytes: &mut ByteSource<R>,
    ) -> Result<ByteRange, Stop> {
        let unit = if flags & IN_BYTES == 0 { SECTOR.get() } else { 1 };
        let offset = if flags & CONTINUES == 0 {
            varint::step(self.end / unit, bytes.number()?).checked_mul(unit)
        } else {
            Some(self.end)
        };
        let length = if flags & SAME_LENGTH == 0 {
            bytes.number()?.checked_mul(unit)
        } else {
            Some(self.lengths[index(kind)])
        };
        let (Some(offset), Some(length)) = (offset, length) else {
            return Err(bytes.damaged("a range beyond 2^64 bytes"));
        };
        self.end = offset.wrapping_add(length);
        self.lengths[index(kind)] = length;
        Ok(ByteRange::new(Bytes::new(offset), Bytes::new(length)))
    }
}
