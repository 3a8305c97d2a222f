//! I/O traces.

use flashscope_device::memory::MemoryDevice;
use flashscope_device::trace::{ClockKind, Playback, TraceHeader, TraceReader, TraceRecord, TraceWriter};
use flashscope_device::{ByteRange, Bytes, Device, Instant, OpKind};

use crate::target::Target;

/// Requests in the sample. Enough for each kind and length of a record.
const REQUESTS: u64 = 40;

pub fn target() -> std::io::Result<Target> {
    Ok(Target::new("trace", vec![sample(None)?, sample(Some(7))?], parse))
}

/// A trace with every kind of request.
pub fn sample(seed: Option<u64>) -> std::io::Result<Vec<u8>> {
    let header = TraceHeader {
        capabilities: MemoryDevice::new(Bytes::mib(1)).capabilities(),
        clock: ClockKind::Virtual,
        seed,
        label: "sim:generic-2g".to_owned(),
        profile: "name = \"x\"".to_owned(),
    };
    let mut writer = TraceWriter::new(Vec::new(), &header)?;
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Flush, OpKind::Discard, OpKind::Pause];
    for index in 0..REQUESTS {
        let kind = kinds[usize::try_from(index % 5).unwrap_or(0)];
        let range = match kind {
            OpKind::Flush | OpKind::Pause => ByteRange::new(Bytes::ZERO, Bytes::ZERO),
            _ => ByteRange::new(Bytes::kib(index * 4), Bytes::new(512 << (index % 4))),
        };
        let at = |offset| Instant::from_nanos(index * 100_000 + offset);
        let succeeded = index % 7 != 0;
        writer.write(&TraceRecord {
            kind,
            range,
            submitted_at: at(0),
            completed_at: at(50_000),
            succeeded,
        })?;
    }
    writer.finish()
}

fn parse(input: &[u8]) -> bool {
    let Ok(mut reader) = TraceReader::new(input) else { return false };
    let records: Result<Vec<TraceRecord>, _> = reader.by_ref().collect();
    let Ok(records) = records else { return false };
    let playback = Playback::new(records);
    let (_capacity, _time) = (playback.required_capacity(), playback.recorded_time());
    reader.ending().is_some()
}
