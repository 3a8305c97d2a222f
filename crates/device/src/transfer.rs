//! Reads and writes of a medium in requests that it accepts. Nothing may be in flight.

use crate::buffer::Buffer;
use crate::contract::{Device, DeviceError, DeviceExt};
use crate::request::{FailureCause, Op, Payload, RequestError};
use crate::units::{ByteRange, Bytes};

/// The largest request. Policy: most sticks reach their full throughput with it.
pub const REQUEST_MAX: Bytes = Bytes::mib(1);

/// A medium that could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediumError {
    /// The medium itself failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A request failed.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// The parts of a range, none longer than `max`; none if that is zero.
pub fn parts(range: ByteRange, max: Bytes) -> impl Iterator<Item = ByteRange> {
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

/// The largest request of a device, in whole blocks.
pub fn request_max(device: &dyn Device) -> Bytes {
    let capabilities = device.capabilities();
    REQUEST_MAX.min(capabilities.max_request).round_down(capabilities.logical_block)
}

/// Reads a range.
///
/// # Errors
/// [`MediumError`] if a request failed.
pub fn read(device: &mut dyn Device, range: ByteRange) -> Result<Vec<u8>, MediumError> {
    let mut bytes = Vec::with_capacity(range.length.to_usize());
    for part in parts(range, request_max(device)) {
        bytes.extend_from_slice(&device.read_bytes(part)??);
    }
    Ok(bytes)
}

/// Writes bytes at an offset.
///
/// # Errors
/// [`MediumError`] if a request failed; what was written before it stays.
pub fn write(device: &mut dyn Device, offset: Bytes, bytes: &[u8]) -> Result<(), MediumError> {
    let whole = ByteRange::new(offset, Bytes::new(bytes.len() as u64));
    for part in parts(whole, request_max(device)) {
        let start = (part.offset - offset).to_usize();
        let payload = Payload::Bytes(Buffer::from(&bytes[start..start + part.length.to_usize()]));
        device.run(Op::Write { range: part, payload })?.outcome?;
    }
    Ok(())
}

/// Flushes. A device that cannot flush has no volatile cache.
///
/// # Errors
/// [`MediumError`] if the device failed, or refused to flush for another reason.
pub fn flush(device: &mut dyn Device) -> Result<(), MediumError> {
    match device.run(Op::Flush)?.outcome {
        Err(error) if error.cause != FailureCause::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}
