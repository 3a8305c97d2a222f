//! Writes one behind the other, without a gap: so no erase block is left half written, and none has to be merged for the
//! next.

use std::time::Duration;

use flashscope_device::Bytes;

use crate::session::{Session, Stop, range};

/// What lies between two places is filled with writes of at most this size.
const FILLER_MAX: Bytes = Bytes::kib(512);
/// Before anything was filled, this is taken for the device's speed: 10 MB/s.
const SECONDS_PER_BYTE: f64 = 1e-7;

/// One stream of writes.
pub struct Stream<'a, 'b> {
    session: &'b mut Session<'a>,
    position: Bytes,
    end: Bytes,
    filled: Bytes,
    filling: Duration,
    took: Duration,
    is_flushed: bool,
}

impl<'a, 'b> Stream<'a, 'b> {
    /// The stream from `start` to `end`.
    pub const fn new(session: &'b mut Session<'a>, start: Bytes, end: Bytes) -> Self {
        Self {
            session,
            position: start,
            end,
            filled: Bytes::ZERO,
            filling: Duration::ZERO,
            took: Duration::ZERO,
            is_flushed: false,
        }
    }

    /// Where the next write goes.
    pub const fn position(&self) -> Bytes {
        self.position
    }

    /// How long all writes took.
    pub const fn took(&self) -> Duration {
        self.took
    }

    /// Whether so much still fits.
    pub fn has_room(&self, length: Bytes) -> bool {
        self.position + length <= self.end
    }

    /// Whether from now on a flush follows each write and counts to its time.
    pub const fn flush_each(&mut self, is_flushed: bool) {
        self.is_flushed = is_flushed;
    }

    /// Waits until nothing is held in memory.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn flush(&mut self) -> Result<Option<Duration>, Stop> {
        self.session.flush()
    }

    /// Writes the next `length` bytes; `None` if that failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(&mut self, length: Bytes) -> Result<Option<Duration>, Stop> {
        let place = range(self.position, length);
        self.position += length;
        let took =
            if self.is_flushed { self.session.write_through(place)? } else { self.session.write(place)? };
        self.took += took.unwrap_or_default();
        Ok(took)
    }

    /// Fills up to `offset`.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn fill(&mut self, offset: Bytes) -> Result<(), Stop> {
        while self.position < offset {
            let length = (offset - self.position).min(FILLER_MAX);
            let took = self.write(length)?;
            if let Some(took) = took {
                self.filled += length;
                self.filling += took;
            }
        }
        Ok(())
    }

    /// What filling a byte takes.
    pub fn seconds_per_byte(&self) -> f64 {
        if self.filled.is_zero() {
            return SECONDS_PER_BYTE;
        }
        self.filling.as_secs_f64() / self.filled.as_f64()
    }
}
