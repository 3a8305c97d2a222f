//! Append points: runs of writes, and the mapping unit that each is in the middle of.

use super::Mapped;
use super::blocks::NONE;
use crate::ftl::Placement;
use crate::writes::pages_touched;

/// A run of writes. Its last unit stays in the controller's buffer until the run reaches the unit's end or goes elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Where the run goes on.
    next: u64,
    used_at: u64,
    /// The unit that is written in part; `NONE` if the run is between two.
    unit: u32,
    /// Whether that unit held data before, which the run's rest must be copied from.
    had_data: bool,
}

impl Stream {
    pub(super) const NEW: Self = Self { next: u64::MAX, used_at: 0, unit: NONE, had_data: false };
}

impl Mapped {
    /// Takes the data from `start` to `end`. The blocks that runs are told apart by are those of the streams.
    pub(crate) fn write(&mut self, start: u64, end: u64) -> Placement {
        self.writes += 1;
        let stream = self.stream_of(start);
        let continues = self.streams[stream].next == start;
        let mut copying_ns = if continues { 0 } else { self.complete(stream) };
        let mut next = start;
        while next < end {
            let unit = next / self.layout.unit_bytes;
            let unit_start = unit * self.layout.unit_bytes;
            let piece_end = end.min(unit_start + self.layout.unit_bytes);
            copying_ns += self.write_piece(stream, unit, next - unit_start, piece_end - unit_start);
            next = piece_end;
        }
        self.streams[stream].next = end;
        self.streams[stream].used_at = self.writes;
        let switched = std::mem::replace(&mut self.last_stream, stream) != stream;
        Placement { switched, jumped: !continues, copying_ns }
    }

    /// The stream that a write at `start` continues, or the one that was not used for the longest time.
    fn stream_of(&self, start: u64) -> usize {
        if self.streams.len() == 1 {
            return 0;
        }
        let continued = self.streams.iter().position(|stream| stream.next == start);
        continued.unwrap_or_else(|| {
            let oldest = self.streams.iter().enumerate().min_by_key(|(_, stream)| stream.used_at);
            oldest.map_or(0, |(index, _)| index)
        })
    }

    /// Writes the bytes `from` to `to` of a unit.
    fn write_piece(&mut self, stream: usize, unit: u64, from: u64, to: u64) -> u64 {
        let page_bytes = self.layout.page_bytes;
        let pages = pages_touched(from, to, page_bytes);
        let number = index(unit);
        let mut copying_ns = 0;
        if self.streams[stream].unit == number {
            // The page in which the run stopped is in the buffer still.
            self.host_pages += pages - u64::from(!from.is_multiple_of(page_bytes));
        } else {
            self.host_pages += pages;
            copying_ns = self.begin(stream, number) + self.copy_pages(stream, from / page_bytes);
        }
        let ends = to == self.layout.unit_end(unit);
        self.streams[stream].unit = if ends { NONE } else { number };
        copying_ns
    }

    /// Programs a unit anew at a stream's append point.
    fn begin(&mut self, stream: usize, unit: u32) -> u64 {
        // Another run that is in the middle of this unit leaves it to this one.
        self.leave(unit, unit + 1);
        let copying_ns = self.make_room(stream);
        let old = self.map[unit as usize];
        self.streams[stream].had_data = old != 0;
        if old != 0 {
            self.blocks.lose((old - 1) / self.layout.block_units, self.programs);
        }
        self.place(unit, stream);
        copying_ns
    }

    /// Ends a run: what it lacks of the unit it is in the middle of is copied from where it was.
    pub(super) fn complete(&mut self, stream: usize) -> u64 {
        let Stream { next, unit, .. } = self.streams[stream];
        self.streams[stream].next = u64::MAX;
        if unit == NONE {
            return 0;
        }
        self.streams[stream].unit = NONE;
        let unit_start = u64::from(unit) * self.layout.unit_bytes;
        let written = (next - unit_start).div_ceil(self.layout.page_bytes);
        let whole = self.layout.unit_end(u64::from(unit)).div_ceil(self.layout.page_bytes);
        self.copy_pages(stream, whole - written)
    }

    /// Copies this many pages of the unit that a stream is in, if there was anything in them.
    fn copy_pages(&mut self, stream: usize, pages: u64) -> u64 {
        if !self.streams[stream].had_data {
            return 0;
        }
        self.counts.pages_copied += pages;
        pages * self.layout.copy_page_ns
    }

    /// No run is in the middle of one of these units any more.
    pub(super) fn leave(&mut self, first: u32, end: u32) {
        for stream in &mut self.streams {
            if (first..end).contains(&stream.unit) {
                stream.unit = NONE;
                stream.next = u64::MAX;
            }
        }
    }

    /// Everything in the buffer is programmed; a run that stopped inside a page cannot go on in it.
    pub(crate) fn flush(&mut self) -> u64 {
        let mut copying_ns = 0;
        for stream in 0..self.streams.len() {
            let Stream { next, unit, .. } = self.streams[stream];
            if unit != NONE && !next.is_multiple_of(self.layout.page_bytes) {
                copying_ns += self.complete(stream);
            }
        }
        copying_ns
    }
}

/// A unit's number in the map, whose size the profile bounds.
pub(super) fn index(unit: u64) -> u32 {
    u32::try_from(unit).unwrap_or(NONE)
}
