//! Writes a trace, request by request.

use std::io::{self, Write};

use super::header::TraceHeader;
use super::record::{Context, END, TraceRecord};
use super::varint;
use crate::checksum::Checksum;

/// Writes one trace. Each record is written at once, so `W` should be buffered. Without
/// [`TraceWriter::finish`] the file is readable but counts as incomplete.
#[derive(Debug)]
pub struct TraceWriter<W> {
    writer: W,
    context: Context,
    checksum: Checksum,
    records: u64,
    buffer: Vec<u8>,
}

impl<W: Write> TraceWriter<W> {
    /// Starts a trace.
    ///
    /// # Errors
    /// The writer's error.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut trace = Self {
            writer,
            context: Context::default(),
            checksum: Checksum::new(),
            records: 0,
            buffer: header.encode(),
        };
        trace.write_buffered()?;
        Ok(trace)
    }

    /// Adds a request.
    ///
    /// # Errors
    /// The writer's error.
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        self.context.encode(record, &mut self.buffer);
        self.records += 1;
        self.write_buffered()
    }

    /// Ends the trace with its count and checksum, and flushes the writer.
    ///
    /// # Errors
    /// The writer's error.
    pub fn finish(mut self) -> io::Result<W> {
        self.buffer.push(END);
        varint::push(&mut self.buffer, self.records);
        self.write_buffered()?;
        self.writer.write_all(&self.checksum.get().to_le_bytes())?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    /// The number of requests until now.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    fn write_buffered(&mut self) -> io::Result<()> {
        self.checksum.add(&self.buffer);
        self.writer.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
