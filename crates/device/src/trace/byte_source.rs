//! Reads a trace byte by byte, and keeps its position and checksum.

use std::io::{BufReader, ErrorKind, Read};

use super::error::TraceError;
use super::varint::BYTES_MAX;
use crate::checksum::Checksum;

/// Why a value could not be read: the file ends, or it is damaged or unreadable.
#[derive(Debug)]
pub enum Stop {
    End,
    Error(TraceError),
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Self {
        Self::Error(error)
    }
}

/// A reader with its position and the checksum of all bytes until there.
#[derive(Debug)]
pub struct ByteSource<R> {
    reader: BufReader<R>,
    position: u64,
    checksum: Checksum,
}

impl<R: Read> ByteSource<R> {
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::new(reader), position: 0, checksum: Checksum::new() }
    }

    pub const fn position(&self) -> u64 {
        self.position
    }

    pub const fn checksum(&self) -> u64 {
        self.checksum.get()
    }

    pub fn damaged(&self, what: impl Into<String>) -> Stop {
        Stop::Error(TraceError::Damaged { position: self.position, what: what.into() })
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, Stop> {
        let mut byte = [0];
        match self.reader.read_exact(&mut byte) {
            Ok(()) => {
                self.position += 1;
                self.checksum.add(&byte);
                Ok(byte[0])
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(Stop::End),
            Err(source) => Err(TraceError::Io { position: self.position, source }.into()),
        }
    }

    /// The next number of variable length.
    pub fn number(&mut self) -> Result<u64, Stop> {
        let mut value = 0;
        for index in 0..BYTES_MAX {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << (7 * index);
            if shifted >> (7 * index) != bits {
                return Err(self.damaged("a number of more than 64 bits"));
            }
            value |= shifted;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.damaged("a number of more than 64 bits"))
    }

    /// The next 64-bit number, little-endian.
    pub fn fixed(&mut self) -> Result<u64, Stop> {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(u64::from_le_bytes(bytes))
    }

    /// The next text of at most `longest` bytes. Its length precedes it.
    pub fn text(&mut self, what: &str, longest: u64) -> Result<String, Stop> {
        let length = self.number()?;
        if length > longest {
            return Err(self.damaged(format!("a {what} of {length} bytes; at most {longest} are allowed")));
        }
        let bytes: Vec<u8> = (0..length).map(|_| self.byte()).collect::<Result<_, _>>()?;
        String::from_utf8(bytes).map_err(|_| self.damaged(format!("a {what} that is not UTF-8")))
    }
}
