//! Saves original data before it is overwritten.

use std::collections::{BTreeSet, VecDeque};

use super::contents::JournalContents;
use super::error::JournalError;
use super::format::{HEAD, RECORD_MAX, fill_of, record};
use super::header::{JournalHeader, JournalStart};
use super::originals::{Original, Originals, SavedRange};
use super::range_set::RangeSet;
use super::restore::{Restored, restore_changed};
use super::saved::{AHEAD_MAX, Saved, UNIT};
use super::shared_blocks::SharedBlocks;
use super::store::{EIO, JournalStore};
use crate::buffer::Buffer;
use crate::contract::{Capabilities, Device, DeviceError};
use crate::layer::clock::ClockOffset;
use crate::pattern::Pattern;
use crate::request::{Completion, FailureCause, Op, Payload, RequestError, Tag};
use crate::time::Instant;
use crate::transfer::{self, parts};
use crate::units::{ByteRange, Bytes};

/// Before any byte of a range is overwritten or discarded for the first time, its data is appended to the
/// journal, durably. [`Journaled::restore`] writes back what changed, and compares everything.
///
/// A write of [`Payload::Pattern`] writes the old data again, except for the sample. Parts that changed
/// before get the pattern, and so do blank ones: a controller that only notes that a page is blank would be
/// too fast.
///
/// The clock of this layer stands still while data is saved, so latencies and throughput do not include it.
/// Requests in flight complete first.
#[derive(Debug)]
pub struct Journaled<D, S> {
    device: D,
    store: S,
    saved: Saved,
    originals: Originals,
    /// What may hold other data than before.
    changed: RangeSet,
    /// The seeds of the test data that was written.
    seeds: BTreeSet<u64>,
    /// The requests in flight that carry a buffer of this layer.
    with_old_data: Vec<Tag>,
    buffers: Vec<Buffer>,
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
            originals: Originals::default(),
            changed: RangeSet::default(),
            seeds: BTreeSet::new(),
            with_old_data: Vec::new(),
            buffers: Vec::new(),
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

    /// Waits for all requests in flight, writes back what changed, compares everything that was saved, and
    /// removes the journal.
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
        let shared = SharedBlocks { originals: &self.originals, seeds: &self.seeds };
        let (store, device) = (&mut self.store, &mut self.device);
        let restored =
            restore_changed(&contents, store, device, &self.changed, &mut |store, device, range| {
                shared.explain(store, device, range)
            })?;
        self.store.remove()?;
        self.saved = Saved::default();
        self.originals = Originals::default();
        self.changed = RangeSet::default();
        Ok(restored)
    }

    /// The device and the store.
    pub fn into_parts(self) -> (D, S) {
        (self.device, self.store)
    }

    fn drain(&mut self) -> Result<(), DeviceError> {
        while let Some(completion) = self.device.wait()? {
            let completion = self.seen(completion);
            self.ready.push_back(completion);
        }
        Ok(())
    }

    /// A completion as the caller sees it: on the clock of this layer, and without a buffer of this layer. A
    /// failed write may have changed its range.
    fn seen(&mut self, completion: Completion) -> Completion {
        if let Err(RequestError { range: Some(range), .. }) = &completion.outcome {
            self.changed.add(*range);
        }
        let Completion { tag, mut buffer, .. } = completion;
        let own = self.with_old_data.iter().position(|other| *other == tag).filter(|_| buffer.is_some());
        if let Some(index) = own {
            self.with_old_data.swap_remove(index);
            self.buffers.extend(buffer.take());
        }
        Completion {
            submitted_at: self.offset.of(completion.submitted_at),
            completed_at: self.offset.of(completion.completed_at),
            buffer,
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
            Err(error) => Err(self.fail(error)),
        }
    }

    fn save(&mut self, range: ByteRange) -> Result<(), JournalError> {
        if let Some(errno) = self.failed {
            return Err(std::io::Error::from_raw_os_error(errno).into());
        }
        for part in parts(range, RECORD_MAX) {
            let data = transfer::read(&mut self.device, part)?;
            let position = self.store.length()? + HEAD as u64;
            self.store.append(&record(part.offset, &data, self.records))?;
            self.store.make_durable()?;
            self.records += 1;
            self.saved.add(part);
            let original = fill_of(&data).map_or(Original::At(position), Original::Fill);
            self.originals.add(SavedRange { range: part, original });
        }
        Ok(())
    }

    /// The request to the device for `op`: a write writes the old data where nobody reads it back. Notes
    /// what changes.
    fn with_old_data(&mut self, tag: Tag, op: Op) -> Result<Op, DeviceError> {
        let Some(range) = op.range().filter(|_| op.modifies()) else { return Ok(op) };
        if self.device.capabilities().admit(&op).is_err() {
            return Ok(op);
        }
        if let Op::Write { payload: Payload::Pattern { pattern, .. }, .. } = &op {
            self.seeds.insert(pattern.seed);
        }
        let (pattern, sample) = match op {
            Op::Write { payload: Payload::Pattern { pattern, sample }, .. } if !sample.contains(range) => {
                (pattern, sample)
            }
            _ => {
                self.changed.add(range);
                return Ok(op);
            }
        };
        let mut buffer = self.buffer(range.length);
        let read = self.originals.read(&mut self.store, range, &mut buffer);
        let is_saved = read.map_err(|error| self.fail(error))?;
        if !is_saved || !self.keep_old_parts(range, pattern, sample, &mut buffer) {
            self.changed.add(range);
            self.buffers.push(buffer);
            return Ok(Op::write(range, pattern));
        }
        self.with_old_data.push(tag);
        Ok(Op::Write { range, payload: Payload::Bytes(buffer) })
    }

    /// Puts the pattern into those parts of old data that are in the sample, blank, or changed already. Notes
    /// that they change. False if no part is left.
    fn keep_old_parts(
        &mut self,
        range: ByteRange,
        pattern: Pattern,
        sample: ByteRange,
        data: &mut [u8],
    ) -> bool {
        let mut is_any_kept = false;
        for (index, bytes) in data.chunks_mut(UNIT.to_usize()).enumerate() {
            let part = ByteRange::new(range.offset + UNIT * index as u64, Bytes::new(bytes.len() as u64));
            let is_free = !part.overlaps(sample) && self.changed.span_in(part).is_none();
            if is_free && fill_of(bytes).is_none() {
                is_any_kept = true;
                continue;
            }
            pattern.fill(part.offset.sectors(), bytes);
            self.changed.add(part);
        }
        is_any_kept
    }

    fn buffer(&mut self, length: Bytes) -> Buffer {
        let found = self.buffers.iter().position(|buffer| buffer.length() == length);
        found.map_or_else(|| Buffer::zeroed(length), |index| self.buffers.swap_remove(index))
    }

    /// The error of the device as it is. Any other is one of the journal, which accepts nothing after it.
    fn fail(&mut self, error: JournalError) -> DeviceError {
        let errno = match error {
            JournalError::Device(error) => return error,
            JournalError::Store(error) => error.raw_os_error().unwrap_or(EIO),
            _ => EIO,
        };
        let errno = *self.failed.get_or_insert(errno);
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
            let op = self.with_old_data(tag, op)?;
            return self.device.submit(tag, op);
        }
        let now = self.now();
        let error = RequestError::new(op.kind(), op.range(), FailureCause::NotSaved);
        let (outcome, buffer) = (Err(error), op.into_buffer());
        self.ready.push_back(Completion::new(tag, (now, now), outcome, buffer));
        Ok(())
    }

    fn wait(&mut self) -> Result<Option<Completion>, DeviceError> {
        if let Some(completion) = self.ready.pop_front() {
            return Ok(Some(completion));
        }
        let completion = self.device.wait()?;
        Ok(completion.map(|completion| self.seen(completion)))
    }
}
