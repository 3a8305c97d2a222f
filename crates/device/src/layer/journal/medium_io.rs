//! Reads and writes of a device in requests that it accepts.

use super::error::JournalError;
use crate::buffer::Buffer;
use crate::contract::{Device, DeviceExt};
use crate::request::{FailureCause, Op, Payload};
use crate::units::{ByteRange, Bytes};

/// The largest request. Policy: most sticks reach their full throughput with it.
pub(super) const REQUEST_MAX: Bytes = Bytes::mib(1);

/// The parts of a range, none longer than `max`.
pub(super) fn parts(range: ByteRange, max: Bytes) -> impl Iterator<Item = ByteRange> {
    let mut offset = range.offset;
    std::iter::from_fn(move || {
        if offset >= range.end() || max.is_zero() {
            return None;
        }
        let part = ByteRange::new(offset, max.min(range.end() - offset));
        offset = part.end();
        Some(part)
    })
}

fn request_max(device: &dyn Device) -> Bytes {
    let capabilities = device.capabilities();
    REQUEST_MAX.min(capabilities.max_request).round_down(capabilities.logical_block)
}

/// Reads a range. Nothing may be in flight.
pub(super) fn read(device: &mut dyn Device, range: ByteRange) -> Result<Vec<u8>, JournalError> {
    let mut bytes = Vec::with_capacity(range.length.to_usize());
    for part in parts(range, request_max(device)) {
        bytes.extend_from_slice(&device.read_bytes(part)??);
    }
    Ok(bytes)
}

/// Writes bytes at an offset. Nothing may be in flight.
pub(super) fn write(device: &mut dyn Device, offset: Bytes, bytes: &[u8]) -> Result<(), JournalError> {
    let whole = ByteRange::new(offset, Bytes::new(bytes.len() as u64));
    for part in parts(whole, request_max(device)) {
        let start = (part.offset - offset).to_usize();
        let payload = Payload::Bytes(Buffer::from(&bytes[start..start + part.length.to_usize()]));
        device.run(Op::Write { range: part, payload })?.outcome?;
    }
    Ok(())
}

/// Flushes. A device that cannot flush has no volatile cache.
pub(super) fn flush(device: &mut dyn Device) -> Result<(), JournalError> {
    match device.run(Op::Flush)?.outcome {
        Err(error) if error.cause != FailureCause::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}
