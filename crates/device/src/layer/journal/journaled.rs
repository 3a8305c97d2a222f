//! Saves original data before it is overwritten.

use std::collections::VecDeque;

use super::contents::JournalContents;
use super::error::JournalError;
use super::format::{RECORD_MAX, record};
use super::header::{JournalHeader, JournalStart};
use super::restore::{Restored, restore};
use super::saved::{AHEAD_MAX, Saved, UNIT};
use super::store::{EIO, JournalStore};
use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::clock::ClockOffset;
use crate::request::{Completion, FailureCause, Op, RequestError, Tag};
use crate::time::Instant;
use crate::transfer::{self, parts};
use crate::units::{ByteRange, Bytes};

/// Before any byte of a range is overwritten or discarded for the first time, its data is appended to the
/// journal, durably. [`Journaled::restore`] writes everything back.
///
/// The clock of this layer stands still while data is saved, so latencies and throughput do not include it.
/// Requests in flight complete first.
#[derive(Debug)]
pub struct Journaled<D, S> {
    device: D,
    store: S,
    saved: Saved,
    records: u64,
    offset: ClockOffset,
    ready: VecDeque<Completion>,
    /// Set by a failed append: bytes behind it could not be read back.
    failed: Option<i32>,
}

/// The largest amount that is saved if this much is written or discarded: a stream saves ahead at most as
/// much as it saved before.
#[must_use]
pub fn saved_max(written: Bytes, capacity: Bytes) -> Bytes {
    let twice = written.checked_add(written).and_then(|twice| twice.checked_add(AHEAD_MAX));
    twice.map_or(capacity, |twice| twice.min(capacity))
}

impl<D: Device, S: JournalStore> Journaled<D, S> {
    /// Starts a journal for `device` in an empty `store`.
    ///
    /// # Errors
    /// [`JournalError`] if the device cannot be read or the store cannot be written.
    pub fn start(mut device: D, mut store: S, start: JournalStart) -> Result<Self, JournalError> {
        let header = JournalHeader::of(start, &mut device)?;
        store.append(&header.encode())?;
        store.make_durable()?;
        Ok(Self {
            device,
            store,
            saved: Saved::default(),
            records: 0,
            offset: ClockOffset::default(),
            ready: VecDeque::new(),
            failed: None,
        })
    }

    /// The number of saved bytes.
    #[must_use]
    pub fn saved(&self) -> Bytes {
        self.saved.total()
    }

    /// Waits for all requests in flight, writes the originals back, compares them, and removes the journal.
    ///
    /// # Errors
    /// As [`restore()`]; the journal then stays.
    pub fn restore(&mut self) -> Result<Restored, JournalError> {
        self.drain()?;
        if self.saved.total().is_zero() {
            self.store.remove()?;
            return Ok(Restored::default());
        }
        let contents = JournalContents::read(&mut self.store)?;
        let restored = restore(&contents, &mut self.store, &mut self.device)?;
        self.store.remove()?;
        self.saved = Saved::default();
        Ok(restored)
    }

    /// The device and the store.
    pub fn into_parts(self) -> (D, S) {
        (self.device, self.store)
    }

    fn drain(&mut self) -> Result<(), DeviceError> {
        while let Some(completion) = self.device.wait()? {
            let completion = self.on_this_clock(completion);
            self.ready.push_back(completion);
        }
        Ok(())
    }

    fn on_this_clock(&self, completion: Completion) -> Completion {
        Completion {
            submitted_at: self.offset.of(completion.submitted_at),
            completed_at: self.offset.of(completion.completed_at),
            ..completion
        }
    }

    /// Saves what `op` would overwrite; false if the present data cannot be read.
    fn save_before(&mut self, op: &Op) -> Result<bool, DeviceError> {
        let capabilities = self.device.capabilities();
        let Some(range) = op.range().filter(|_| op.modifies() && capabilities.admit(op).is_ok()) else {
            return Ok(true);
        };
        let unit = UNIT.round_up(capabilities.logical_block);
        let missing = self.saved.missing(range, unit, capabilities.capacity);
        if missing.is_empty() {
            return Ok(true);
        }
        self.drain()?;
        let started_at = self.device.now();
        let saved = missing.into_iter().try_for_each(|range| self.save(range));
        self.offset.hide(self.device.now().since(started_at));
        match saved {
            Ok(()) => Ok(true),
            Err(JournalError::Request(_)) => Ok(false),
            Err(JournalError::Device(error)) => Err(error),
            Err(JournalError::Store(error)) => Err(self.fail(&error)),
            Err(_) => Err(self.fail(&std::io::Error::from_raw_os_error(EIO))),
        }
    }

    fn save(&mut self, range: ByteRange) -> Result<(), JournalError> {
        if let Some(errno) = self.failed {
            return Err(std::io::Error::from_raw_os_error(errno).into());
        }
        for part in parts(range, RECORD_MAX) {
            let data = transfer::read(&mut self.device, part)?;
            self.store.append(&record(part.offset, &data, self.records))?;
            self.store.make_durable()?;
            self.records += 1;
            self.saved.add(part);
        }
        Ok(())
    }

    fn fail(&mut self, error: &std::io::Error) -> DeviceError {
        let errno = *self.failed.get_or_insert(error.raw_os_error().unwrap_or(EIO));
        DeviceError::System { during: "saving the old data to the journal".to_owned(), errno }
    }
}

impl<D: Device, S: JournalStore> Device for Journaled<D, S> {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn now(&self) -> Instant {
        self.offset.of(self.device.now())
    }

    fn submit(&mut self, tag: Tag, op: Op) -> Result<(), DeviceError> {
        if self.save_before(&op)? {
            return self.device.submit(tag, op);
        }
        let now = self.now();
        let error = RequestError::new(op.kind(), op.range(), FailureCause::NotSaved);
        let (outcome, buffer) = (Err(error), op.into_buffer());
        self.ready.push_back(Completion { tag, submitted_at: now, completed_at: now, outcome, buffer });
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        if let Some(completion) = self.ready.pop_front() {
            return Ok(Some(completion));
        }
        let completion = self.device.wait()?;
        Ok(completion.map(|completion| self.on_this_clock(completion)))
    }
}
