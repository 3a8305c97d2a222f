//! Sequential writes without a gap: so no erase block is left half written, and none has to be merged for the
//! next one.

use std::time::Duration;

use flashscope_device::Bytes;

use crate::session::{Session, Stop, range};

/// The most bytes of one filling write.
const FILLER_MAX: Bytes = Bytes::kib(512);
/// The assumed cost of filling before anything was filled: 10 MB/s. Guess.
const SECONDS_PER_BYTE: f64 = 1e-7;

/// A sequence of adjacent writes.
pub struct GaplessWriter<'a, 'b> {
    session: &'b mut Session<'a>,
    position: Bytes,
    end: Bytes,
    filled: Bytes,
    filling: Duration,
    device_time: Duration,
    is_flushed: bool,
}

impl<'a, 'b> GaplessWriter<'a, 'b> {
    /// Writes from `start` to `end`.
    pub const fn new(session: &'b mut Session<'a>, start: Bytes, end: Bytes) -> Self {
        Self {
            session,
            position: start,
            end,
            filled: Bytes::ZERO,
            filling: Duration::ZERO,
            device_time: Duration::ZERO,
            is_flushed: false,
        }
    }

    /// The offset of the next write.
    pub const fn position(&self) -> Bytes {
        self.position
    }

    /// The total latency of all writes.
    pub const fn device_time(&self) -> Duration {
        self.device_time
    }

    /// Whether `length` more bytes fit.
    pub fn has_room(&self, length: Bytes) -> bool {
        self.position + length <= self.end
    }

    /// Sets whether a flush follows each write and counts toward its latency.
    pub const fn flush_each(&mut self, is_flushed: bool) {
        self.is_flushed = is_flushed;
    }

    /// Flushes the device's memory and returns the latency.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn flush(&mut self) -> Result<Option<Duration>, Stop> {
        self.session.flush()
    }

    /// Writes the next `length` bytes and returns the latency. `None` if that failed.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn write(&mut self, length: Bytes) -> Result<Option<Duration>, Stop> {
        let range = range(self.position, length);
        self.position += length;
        let latency =
            if self.is_flushed { self.session.write_through(range)? } else { self.session.write(range)? };
        self.device_time += latency.unwrap_or_default();
        Ok(latency)
    }

    /// Fills the gap up to `offset`.
    ///
    /// # Errors
    /// [`Stop`] if no further request makes sense.
    pub fn fill(&mut self, offset: Bytes) -> Result<(), Stop> {
        while self.position < offset {
            let length = (offset - self.position).min(FILLER_MAX);
            if let Some(latency) = self.write(length)? {
                self.filled += length;
                self.filling += latency;
            }
        }
        Ok(())
    }

    /// The time that filling one byte takes.
    pub fn seconds_per_byte(&self) -> f64 {
        if self.filled.is_zero() {
            return SECONDS_PER_BYTE;
        }
        self.filling.as_secs_f64() / self.filled.as_f64()
    }
}
