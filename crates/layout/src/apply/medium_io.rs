//! Reads and writes of a medium in pieces that it takes.

use flashscope_device::{
    Buffer, ByteRange, Bytes, Device, DeviceError, DeviceExt, FailureCause, Op, Payload, RequestError,
};

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

/// Requests are at most this large.
pub(super) const PIECE: Bytes = Bytes::mib(1);

/// The parts of a range, none larger than the device takes.
pub(super) fn pieces(range: ByteRange, max: Bytes) -> impl Iterator<Item = ByteRange> {
    let mut offset = range.offset;
    std::iter::from_fn(move || {
        if offset >= range.end() {
            return None;
        }
        let length = max.min(range.end() - offset);
        let piece = ByteRange::new(offset, length);
        offset += length;
        Some(piece)
    })
}

/// The largest piece of a device.
pub(super) fn piece_max(device: &dyn Device) -> Bytes {
    let capabilities = device.capabilities();
    PIECE.min(capabilities.max_request).round_down(capabilities.logical_block)
}

/// Reads a range of at most one piece.
pub(super) fn read(device: &mut dyn Device, range: ByteRange) -> Result<Buffer, MediumError> {
    Ok(device.read_bytes(range)??)
}

/// Writes bytes at an offset, at most one piece.
pub(super) fn write(device: &mut dyn Device, offset: Bytes, bytes: &[u8]) -> Result<(), MediumError> {
    let length = Bytes::new(bytes.len() as u64);
    let mut buffer = Buffer::zeroed(length);
    buffer.copy_from_slice(bytes);
    let op = Op::Write { range: ByteRange::new(offset, length), payload: Payload::Bytes(buffer) };
    device.run(op)?.outcome?;
    Ok(())
}

/// Waits until everything written is in the medium. One that cannot flush keeps nothing back.
pub(super) fn flush(device: &mut dyn Device) -> Result<(), MediumError> {
    match device.run(Op::Flush)?.outcome {
        Err(error) if error.cause != FailureCause::Unsupported => Err(error.into()),
        _ => Ok(()),
    }
}
