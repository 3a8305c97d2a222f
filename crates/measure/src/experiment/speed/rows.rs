//! Makes the requests of *speed*, one row for each kind, and reads back some of what was written.

use std::time::Duration;

use flashscope_device::{ByteRange, Bytes, CheckReport, Device, Instant};

use flashscope_record::observation::{Direction, Order, SpeedCase, SpeedCell, SpeedData};

use crate::contract::Extent;
use crate::experiment::speed::limits::{requests, requests_max, time_max};
use crate::experiment::speed::stopping::StoppingRule;
use crate::experiment::stratified::StratifiedIndices;
use crate::limits::{CONTENT_READS, SMALL_REQUEST, SPEED_START};
use crate::session::{
    NOTHING, READ_BACK_TIME_MAX, Session, Stop, is_dropped, is_other_data, range, read_back_of,
};

/// The first writes of each random row are read back when all rows are done, and 16 to 32 writes all over
/// each sequential one: it may exceed the true capacity of a counterfeit.
const READ_BACK: usize = 16;

/// The most data in flight before one request has ended, unless it is a single one. Guess: a slow device
/// takes half a minute for it.
const UNTIMED_MAX: Bytes = Bytes::mib(64);

/// Whether a check of read data shows that the write was lost.
type IsLost = fn(&CheckReport) -> bool;

/// The part of the device that is used.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    start: Bytes,
    pub(super) length: Bytes,
}

impl Region {
    /// All of the device but its start, in whole requests.
    pub(super) fn new(device: &dyn Device, request: Bytes) -> Self {
        let capacity = device.capabilities().capacity;
        let start = SPEED_START.min(capacity / 8).round_down(request);
        Self { start, length: capacity.saturating_sub(start).round_down(request) }
    }
}

/// The state of one run.
pub(super) struct Rows<'a, 'b> {
    pub(super) session: Session<'a>,
    capacity: Bytes,
    extent: Extent,
    /// The bytes written or read sequentially: where the next row continues.
    sequential: Bytes,
    /// Ranges to read back, each with the index of its row.
    read_back: Vec<(usize, ByteRange)>,
    /// In a sequential row, every `stride`-th range is read back.
    stride: usize,
    data: &'b mut SpeedData,
}

impl<'a, 'b> Rows<'a, 'b> {
    /// A run that has made no request yet.
    pub(super) const fn new(
        session: Session<'a>,
        capacity: Bytes,
        extent: Extent,
        data: &'b mut SpeedData,
    ) -> Self {
        Self { session, capacity, extent, sequential: Bytes::ZERO, read_back: Vec::new(), stride: 1, data }
    }

    /// Reads random offsets and counts the blank ones.
    pub(super) fn read_contents(&mut self, region: Region) -> Result<(), Stop> {
        for _ in 0..CONTENT_READS {
            let index = self.session.draw(region.length / SMALL_REQUEST);
            let offset = region.start + SMALL_REQUEST * index;
            if let Some(is_blank) = self.session.is_blank(range(offset, SMALL_REQUEST))? {
                self.data.contents.looked_at += 1;
                self.data.contents.blank += u32::from(is_blank);
            }
        }
        Ok(())
    }

    /// Requests of one kind, kept also if they end early.
    pub(super) fn row(&mut self, case: SpeedCase, region: Region) -> Result<(), Stop> {
        let mut cell = SpeedCell::new(case);
        self.sequential = self.sequential.round_up(case.request);
        self.stride = 1;
        let result = self.requests(case, region, &mut cell).and_then(|()| self.flush(case, &mut cell));
        if !cell.took_ns.is_empty() {
            self.data.cells.push(cell);
        }
        result
    }

    fn requests(&mut self, case: SpeedCase, region: Region, cell: &mut SpeedCell) -> Result<(), Stop> {
        let started = self.session.now();
        let result = self.keep_in_flight(case, region, cell, started);
        if result.is_err() {
            // Requests in flight at that time belong to the row.
            while let Ok(Some((ended, latency))) = self.session.wait() {
                latency.into_iter().for_each(|latency| cell.keep(latency, ended.since(started)));
            }
            self.session.drain();
        }
        result
    }

    fn keep_in_flight(
        &mut self,
        case: SpeedCase,
        region: Region,
        cell: &mut SpeedCell,
        started: Instant,
    ) -> Result<(), Stop> {
        let mut submitted = 0;
        let mut continues = true;
        let mut rule = StoppingRule::new(case, self.data, self.capacity, self.extent);
        let mut random = StratifiedIndices::new(region.length / case.request, case.request);
        let mut most = requests(case, rule.is_first, self.capacity);
        let at_most = requests_max(case, rule.is_first, self.data.is_thorough, self.capacity);
        loop {
            if continues && submitted >= most && most < at_most && rule.needs_more(cell) {
                most = (2 * most).min(at_most);
            }
            while continues && submitted < most && self.may_add(in_flight(submitted, cell), cell, started) {
                self.submit(case, region, &mut random, submitted)?;
                submitted += 1;
            }
            let Some((ended, latency)) = self.session.wait()? else { return Ok(()) };
            let ended = ended.since(started);
            match latency {
                Some(latency) => cell.keep(latency, ended),
                // A failed request is not in flight any more.
                None => submitted -= 1,
            }
            continues = continues && !rule.is_enough(cell, ended);
        }
    }

    /// Whether one more request may be in flight: within the queue depth, and if the requests in flight are
    /// expected to end in time. One alone always may.
    fn may_add(&self, in_flight: u32, cell: &SpeedCell, started: Instant) -> bool {
        let case = cell.case;
        if in_flight == 0 {
            return true;
        }
        if in_flight >= case.queue_depth {
            return false;
        }
        let all = in_flight + 1;
        let Ok(done @ 1..) = u32::try_from(cell.took_ns.len()) else {
            return case.request * u64::from(all) <= UNTIMED_MAX;
        };
        let lasted = self.session.now().since(started);
        let left = self.session.time_left().unwrap_or(Duration::MAX);
        (lasted / done).saturating_mul(all) <= left.min(time_max(case).saturating_sub(lasted))
    }

    fn submit(
        &mut self,
        case: SpeedCase,
        region: Region,
        random: &mut StratifiedIndices,
        submitted: usize,
    ) -> Result<(), Stop> {
        let offset = match case.order {
            Order::Linear => Bytes::new(self.sequential.get() % region.length.get()),
            Order::Random => case.request * random.next(&mut self.session),
        };
        if case.order == Order::Linear {
            self.sequential += case.request;
        }
        let range = range(region.start + offset, case.request);
        match case.direction {
            Direction::Read => self.session.submit_read(range),
            Direction::Write => {
                let place = self.remember(case, range, submitted);
                self.session.reads_back(place.unwrap_or(NOTHING));
                self.session.submit_write(range)
            }
        }
    }

    /// The place in a range that is read back, if the range is one of those; it is kept. A sequential row
    /// with too many halves them.
    fn remember(&mut self, case: SpeedCase, written: ByteRange, submitted: usize) -> Option<ByteRange> {
        let row = self.data.cells.len();
        let remembered = self.read_back.iter().rev().take_while(|(other, _)| *other == row).count();
        let is_wanted = match case.order {
            Order::Random => remembered < READ_BACK,
            Order::Linear => submitted.is_multiple_of(self.stride),
        };
        if !is_wanted {
            return None;
        }
        if remembered == 2 * READ_BACK {
            let mut index = 0;
            self.read_back.retain(|(other, _)| {
                index += 1;
                *other != row || index % 2 == 0
            });
            self.stride *= 2;
        }
        let place = range(written.offset, SMALL_REQUEST.min(written.length));
        self.read_back.push((row, place));
        Some(place)
    }

    /// Checks whether written data is at its offset. An error ends the check and leaves the rows as they are:
    /// only their meaning depends on it.
    pub(super) fn read_back(&mut self) {
        let read_back = std::mem::take(&mut self.read_back);
        // Data overwritten by later writes, as on a counterfeit whose addresses wrap around, was written all
        // the same.
        let tests: [(Order, IsLost); 2] = [(Order::Random, is_other_data), (Order::Linear, is_dropped)];
        for (order, is_lost) in tests {
            let of_order = |row: usize| self.data.cells.get(row).is_some_and(|cell| cell.case.order == order);
            let (rows, ranges): (Vec<usize>, Vec<ByteRange>) =
                read_back.iter().copied().filter(|(row, _)| of_order(*row)).unzip();
            let lost = self.session.read_back(&ranges, READ_BACK_TIME_MAX / 2, is_lost);
            for (row, lost) in rows.into_iter().zip(lost) {
                if let Some(cell) = self.data.cells.get_mut(row) {
                    cell.read_back = cell.read_back + read_back_of(&[lost]);
                }
            }
        }
    }

    /// Flushes after writes: data in the device's memory belongs to their row.
    fn flush(&mut self, case: SpeedCase, cell: &mut SpeedCell) -> Result<(), Stop> {
        if case.direction == Direction::Write {
            cell.flush = self.session.flush()?;
        }
        Ok(())
    }
}

fn in_flight(submitted: usize, cell: &SpeedCell) -> u32 {
    submitted.saturating_sub(cell.took_ns.len()).try_into().unwrap_or(u32::MAX)
}
