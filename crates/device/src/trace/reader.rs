//! Reads a trace request by request.

use std::io::Read;

use super::byte_source::{ByteSource, Stop};
use super::error::TraceError;
use super::header::TraceHeader;
use super::record::{Context, END, TraceRecord};

/// How a trace ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It ends with the correct number of requests and the correct checksum.
    Complete,
    /// It ends in the middle: the writer was stopped. The reader returned all complete requests.
    CutOff {
        /// The length of the file, bytes.
        position: u64,
    },
}

/// The requests of a trace, in order of completion. The iterator ends after the first error.
#[derive(Debug)]
pub struct TraceReader<R> {
    bytes: ByteSource<R>,
    header: TraceHeader,
    context: Context,
    records: u64,
    ending: Option<Ending>,
    failed: bool,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`] if this is not a trace, or one of an unknown format.
    pub fn new(reader: R) -> Result<Self, TraceError> {
        let mut bytes = ByteSource::new(reader);
        let header = TraceHeader::decode(&mut bytes)?;
        Ok(Self { bytes, header, context: Context::default(), records: 0, ending: None, failed: false })
    }

    /// The header of the trace.
    #[must_use]
    pub const fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// How the trace ends; `None` before the last request was read, and after an error.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn next_record(&mut self) -> Result<Option<TraceRecord>, Stop> {
        let flags = self.bytes.byte()?;
        if flags == END {
            self.read_end()?;
            return Ok(None);
        }
        let record = self.context.decode(flags, &mut self.bytes)?;
        self.records += 1;
        Ok(Some(record))
    }

    fn read_end(&mut self) -> Result<(), Stop> {
        let count = self.bytes.number()?;
        if count != self.records {
            let what = format!("its end counts {count} requests, but it holds {}", self.records);
            return Err(self.bytes.damaged(what));
        }
        let sum = self.bytes.checksum();
        if self.bytes.fixed()? != sum {
            return Err(self
                .bytes
                .damaged("the checksum is wrong: the trace was changed after it was written"));
        }
        match self.bytes.byte() {
            Err(Stop::End) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(self.bytes.damaged("data follows its end")),
        }
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.ending.is_some() {
            return None;
        }
        match self.next_record() {
            Ok(Some(record)) => return Some(Ok(record)),
            Ok(None) => self.ending = Some(Ending::Complete),
            Err(Stop::End) => self.ending = Some(Ending::CutOff { position: self.bytes.position() }),
            Err(Stop::Error(error)) => {
                self.failed = true;
                return Some(Err(error));
            }
        }
        None
    }
}
