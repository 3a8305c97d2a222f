//! The phases of a trace, separated by the marks of the machine's script.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use flashscope_device::trace::{Ending, TraceHeader, TraceReader, TraceRecord, TraceWriter};
use flashscope_device::{Bytes, Instant, OpKind};
use flashscope_record::TrialOperation;

use super::guest::{MARK, MARKS};

/// The requests of one recording.
#[derive(Debug)]
pub struct Phases {
    /// The trace's header.
    pub header: TraceHeader,
    /// The requests while files were written, the final flush included.
    pub written: Vec<TraceRecord>,
    /// The requests while files were read.
    pub read: Vec<TraceRecord>,
}

/// Reads a complete trace and finds its phases.
pub fn phases(trace: &Path) -> anyhow::Result<Phases> {
    let file = File::open(trace).with_context(|| format!("cannot open {}", trace.display()))?;
    let mut reader = TraceReader::new(BufReader::new(file))?;
    let records = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
    if let Some(Ending::CutOff { position }) = reader.ending() {
        bail!("the trace was cut off after {position} bytes");
    }
    if records.iter().any(|record| !record.succeeded) {
        bail!("the virtual stick failed a request");
    }
    let header = reader.header().clone();
    let is_last_sector = |record: &TraceRecord| {
        record.kind == OpKind::Read
            && record.range.length == MARK
            && record.range.end() == header.capabilities.capacity
    };
    let marks: Vec<usize> = (1..records.len())
        .filter(|&index| is_last_sector(&records[index - 1]) && is_last_sector(&records[index]))
        .collect();
    let [write_begin, write_end, read_begin, read_end] = marks[..] else {
        bail!(
            "the trace has {} marks instead of {MARKS}; a mark is two reads of the last sector, without any \
             request between them",
            marks.len()
        );
    };
    let between = |begin: usize, end: usize| records[begin + 1..end - 1].to_vec();
    let (written, read) = (between(write_begin, write_end), between(read_begin, read_end));
    Ok(Phases { header, written, read })
}

/// The bytes of all requests of a kind.
pub fn bytes(records: &[TraceRecord], kind: OpKind) -> Bytes {
    let of_kind = records.iter().filter(|record| record.kind == kind);
    of_kind.fold(Bytes::ZERO, |sum, record| sum + record.range.length)
}

/// The requests that carry the files.
pub const fn kind(operation: TrialOperation) -> OpKind {
    match operation {
        TrialOperation::Write => OpKind::Write,
        TrialOperation::Read => OpKind::Read,
    }
}

/// The requests as a trace. The stick answered at once, so a latency is the emulator's and becomes 0. Idle
/// times, the guest's processor, are kept in whole milliseconds.
pub fn encode(header: &TraceHeader, label: &str, records: &[TraceRecord]) -> anyhow::Result<Vec<u8>> {
    let header =
        TraceHeader { label: label.to_owned(), profile: String::new(), seed: None, ..header.clone() };
    let mut writer = TraceWriter::new(Vec::new(), &header)?;
    let mut now = Instant::ZERO;
    let mut last_completed = records.first().map_or(Instant::ZERO, |record| record.submitted_at);
    for record in records {
        let idle = record.submitted_at.since(last_completed);
        now += Duration::from_millis(u64::try_from(idle.as_millis())?);
        last_completed = record.completed_at;
        writer.write(&TraceRecord { submitted_at: now, completed_at: now, ..*record })?;
    }
    Ok(writer.finish()?)
}
