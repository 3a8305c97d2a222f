//! Records every request with its times, so that a measurement can be inspected, or replayed without the
//! stick.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::contract::{Capabilities, Device, DeviceError};
use crate::request::{Completion, Op, OpKind, Tag};
use crate::time::Instant;
use crate::trace::{TraceRecord, TraceWriter};
use crate::units::{ByteRange, Bytes};

/// Receives records.
pub trait RecordSink {
    /// Stores one record.
    fn take(&mut self, record: TraceRecord);
}

/// Stores all records in memory.
impl RecordSink for Vec<TraceRecord> {
    fn take(&mut self, record: TraceRecord) {
        self.push(record);
    }
}

/// Writes records to a file. After the first error it writes nothing more, and [`TraceFile::finish`] returns
/// that error: the device must not fail because a disk is full.
#[derive(Debug)]
pub struct TraceFile<W> {
    writer: TraceWriter<W>,
    error: Option<io::Error>,
}

impl<W: Write> TraceFile<W> {
    /// Writes records to this writer.
    pub const fn new(writer: TraceWriter<W>) -> Self {
        Self { writer, error: None }
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first error of the writer. The file then counts as incomplete.
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

/// Passes a record of every completed request to a sink, in order of completion.
#[derive(Debug)]
pub struct Trace<D, S = Vec<TraceRecord>> {
    device: D,
    in_flight: HashMap<Tag, (OpKind, ByteRange)>,
    sink: S,
}

/// The range of a request in a trace: empty for a request without one.
#[must_use]
pub fn range_in_trace(op: &Op) -> ByteRange {
    op.range().unwrap_or(ByteRange::new(Bytes::ZERO, Bytes::ZERO))
}

impl<D: Device> Trace<D> {
    /// Records the requests to `device` in memory.
    pub fn new(device: D) -> Self {
        Self::into_sink(device, Vec::new())
    }

    /// The records until now.
    #[must_use]
    pub fn records(&self) -> &[TraceRecord] {
        &self.sink
    }
}

impl<D: Device, S: RecordSink> Trace<D, S> {
    /// Passes the records of `device` to `sink`.
    pub fn into_sink(device: D, sink: S) -> Self {
        Self { device, in_flight: HashMap::new(), sink }
    }

    /// The device, and the sink with all records.
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
        let request = (op.kind(), range_in_trace(&op));
        self.device.submit(tag, op)?;
        self.in_flight.insert(tag, request);
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        let completion = self.device.wait()?;
        if let Some(completion) = &completion
            && let Some((kind, range)) = self.in_flight.remove(&completion.tag)
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
