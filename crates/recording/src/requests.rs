//! The requests in the file of a recording: decompressed, and compared with the index.

use flashscope_device::trace::{Ending, TraceError, TraceReader, TraceRecord};
use flashscope_device::{ByteRange, Bytes, OpKind};
use ruzstd::decoding::StreamingDecoder;

use crate::error::RecordingError;
use crate::index::Recording;

/// The largest window of the compression: what `zstd -19` uses is 8 MiB. More memory is not given.
const WINDOW_MAX: u64 = 16 << 20;

/// The requests in the bytes of a recording's file, in order of submission, without pauses and without those
/// that failed when they were recorded. Reads at most as many as the index says, so the memory is bounded.
///
/// # Errors
/// [`RecordingError`] if the bytes are no trace, or not that of the index.
pub fn decode(recording: &Recording, bytes: &[u8]) -> Result<Vec<TraceRecord>, RecordingError> {
    let file = || recording.file.clone();
    let source = StreamingDecoder::new_with_max_window_size(bytes, WINDOW_MAX)
        .map_err(|error| RecordingError::NotCompressed { file: file(), what: error.to_string() })?;
    let trace = |source: TraceError| RecordingError::Trace { file: file(), source };
    let count = || RecordingError::Count { file: file(), requests: recording.requests };
    let mut reader = TraceReader::new(source).map_err(trace)?;
    let mut records = Vec::new();
    let mut found = 0;
    for record in reader.by_ref() {
        let record = record.map_err(trace)?;
        found += 1;
        if found > recording.requests {
            return Err(count());
        }
        check_range(recording, record.range)?;
        if record.succeeded && record.kind != OpKind::Pause {
            records.push(record);
        }
    }
    match reader.ending() {
        Some(Ending::Complete) if found == recording.requests => {}
        Some(Ending::Complete) => return Err(count()),
        _ => return Err(RecordingError::CutOff { file: file(), requests: found }),
    }
    records.sort_by_key(|record| record.submitted_at);
    Ok(records)
}

fn check_range(recording: &Recording, range: ByteRange) -> Result<(), RecordingError> {
    let whole = ByteRange::new(Bytes::ZERO, recording.capacity);
    let end = range.offset.checked_add(range.length);
    if end.is_some_and(|end| end <= whole.end()) {
        return Ok(());
    }
    Err(RecordingError::OutOfCapacity { file: recording.file.clone(), range, capacity: recording.capacity })
}
