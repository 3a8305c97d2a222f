//! Records every request with its times, so that a measurement can be looked at, or replayed without the stick.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::trace::{TraceRecord, TraceWriter};
use crate::units::{ByteRange, Bytes};

/// Where records go.
pub trait RecordSink {
    /// Takes one.
    fn take(&mut self, record: TraceRecord);
}

/// In memory, all of them.
impl RecordSink for Vec<TraceRecord> {
    fn take(&mut self, record: TraceRecord) {
        self.push(record);
    }
}

/// Into a file. After the first error nothing more is written, and [`TraceFile::finish`] returns that error: a full disk
/// is no reason for the device to fail.
#[derive(Debug)]
pub struct TraceFile<W> {
    writer: TraceWriter<W>,
    error: Option<io::Error>,
}

impl<W: Write> TraceFile<W> {
    /// Records go to this writer.
    pub const fn new(writer: TraceWriter<W>) -> Self {
        Self { writer, error: None }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first error there was; the file then counts as cut off.
    pub fn finish(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}

impl<W: Write> RecordSink for TraceFile<W> {
    fn take(&mut self, record: TraceRecord) {
        if self.error.is_none() {
            self.error = self.writer.write(&record).err();
        }
    }
}

/// Hands a record of every completed request to a sink, in order of completion.
#[derive(Debug)]
pub struct Trace<D, S = Vec<TraceRecord>> {
    device: D,
    asked: HashMap<Tag, (OpKind, ByteRange)>,
    sink: S,
}

/// The range of a request as traces write it: empty for those that have none.
#[must_use]
pub fn traced_range(op: &Op) -> ByteRange {
    op.range().unwrap_or(ByteRange::new(Bytes::ZERO, Bytes::ZERO))
}

impl<D: Device> Trace<D> {
    /// `device`, recorded in memory.
    pub fn new(device: D) -> Self {
        Self::into_sink(device, Vec::new())
    }

    /// What was recorded so far.
    #[must_use]
    pub fn records(&self) -> &[TraceRecord] {
        &self.sink
    }
}

impl<D: Device, S: RecordSink> Trace<D, S> {
    /// `device`, recorded in `sink`.
    pub fn into_sink(device: D, sink: S) -> Self {
        Self { device, asked: HashMap::new(), sink }
    }

    /// The sink, with all that was recorded.
    #[must_use]
    pub fn into_inner(self) -> (D, S) {
        (self.device, self.sink)
    }
}

impl<D: Device, S: RecordSink> Device for Trace<D, S> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.device.now()
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        let asked = (op.kind(), traced_range(&op));
        self.device.submit(tag, op)?;
        self.asked.insert(tag, asked);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        if let Some(completion) = &completion
            && let Some((kind, range)) = self.asked.remove(&completion.tag)
        {
            self.sink.take(TraceRecord {
                kind,
                range,
                submitted_at: completion.submitted_at,
                completed_at: completion.completed_at,
                succeeded: completion.outcome.is_ok(),
            });
        }
        Ok(completion)
    }
}
