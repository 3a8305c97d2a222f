//! Writes a trace while its requests complete.

use std::io::{self, Write};

use super::checksum::Checksum;
use super::header::TraceHeader;
use super::record::{Context, END, TraceRecord};
use super::varint;

/// Writes one trace. Each record goes out as it comes; give it a buffered writer. Without [`TraceWriter::finish`] the
/// file is readable all the same, but counts as cut off.
#[derive(Debug)]
pub struct TraceWriter<W> {
    writer: W,
    context: Context,
    checksum: Checksum,
    records: u64,
    scratch: Vec<u8>,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// What the writer says.
    pub fn new(writer: W, header: &TraceHeader) -> io::Result<Self> {
        let mut trace = Self {
            writer,
            context: Context::default(),
            checksum: Checksum::new(),
            records: 0,
            scratch: header.encode(),
        };
        trace.pour()?;
        Ok(trace)
    }

    /// Adds a request.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&mut self, record: &TraceRecord) -> io::Result<()> {
        self.context.encode(record, &mut self.scratch);
        self.records += 1;
        self.pour()
    }

    /// Ends the trace with its count and checksum, and flushes the writer.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<W> {
        self.scratch.push(END);
        varint::push(&mut self.scratch, self.records);
        self.pour()?;
        self.writer.write_all(&self.checksum.get().to_le_bytes())?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    /// How many requests it has so far.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    fn pour(&mut self) -> io::Result<()> {
        self.scratch.iter().for_each(|byte| self.checksum.add(*byte));
        self.writer.write_all(&self.scratch)?;
        self.scratch.clear();
        Ok(())
    }
}
