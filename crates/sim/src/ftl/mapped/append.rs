//! Append points: sequential runs, and the mapping unit that each has written in part.

use super::Mapped;
use super::blocks::NONE;
use super::index::index;
use super::stream::Stream;
use crate::arithmetic::pages_touched;
use crate::ftl::layer::Placement;

impl Mapped {
    /// Writes the bytes from `start` to `end`. A switch is a change of the stream.
    pub(super) fn append(&mut self, start: u64, end: u64) -> Placement {
        self.writes += 1;
        let stream = self.stream_of(start);
        let continues = self.streams[stream].next == start;
        let mut copying_ns = if continues { 0 } else { self.finish_run(stream) };
        let mut next = start;
        while next < end {
            let unit = next / self.layout.unit_bytes;
            let unit_start = unit * self.layout.unit_bytes;
            let part_end = end.min(unit_start + self.layout.unit_bytes);
            copying_ns += self.write_part(stream, unit, next - unit_start, part_end - unit_start);
            next = part_end;
        }
        self.streams[stream].next = end;
        self.streams[stream].used_at = self.writes;
        let switched = std::mem::replace(&mut self.last_stream, stream) != stream;
        Placement { switched, jumped: !continues, copying_ns }
    }

    /// The stream that a write at `start` continues, or the least recently used one.
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
    fn write_part(&mut self, stream: usize, unit: u64, from: u64, to: u64) -> u64 {
        let page_bytes = self.layout.page_bytes;
        let pages = pages_touched(from, to, page_bytes);
        let number = index(unit);
        let mut copying_ns = 0;
        if self.streams[stream].unit == number {
            // The last page of the run is still in the buffer.
            self.host_pages += pages - u64::from(!from.is_multiple_of(page_bytes));
        } else {
            self.host_pages += pages;
            copying_ns = self.start_unit(stream, number) + self.copy_pages(stream, from / page_bytes);
        }
        let ends = to == self.layout.unit_end(unit);
        self.streams[stream].unit = if ends { NONE } else { number };
        copying_ns
    }

    /// Programs a new version of a unit at a stream's append point.
    fn start_unit(&mut self, stream: usize, unit: u32) -> u64 {
        // Another run in the middle of this unit ends.
        self.detach_streams(unit, unit + 1);
        let copying_ns = self.make_room(stream);
        let old = self.map[unit as usize];
        self.streams[stream].had_data = old != 0;
        if old != 0 {
            self.blocks.remove_valid((old - 1) / self.layout.block_units, self.programs);
        }
        self.program(unit, stream);
        copying_ns
    }

    /// Ends a run: the rest of its unit is copied from the old version.
    pub(super) fn finish_run(&mut self, stream: usize) -> u64 {
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

    /// Copies this number of pages of a stream's unit, if the unit held data.
    fn copy_pages(&mut self, stream: usize, pages: u64) -> u64 {
        if !self.streams[stream].had_data {
            return 0;
        }
        self.counts.pages_copied += pages;
        pages * self.layout.copy_page_ns
    }

    /// Ends every run in the middle of one of these units, without copies.
    pub(super) fn detach_streams(&mut self, first: u32, end: u32) {
        for stream in &mut self.streams {
            if (first..end).contains(&stream.unit) {
                stream.unit = NONE;
                stream.next = u64::MAX;
            }
        }
    }

    /// Programs the buffer: runs that stopped inside a page end. Returns the time of copies.
    pub(super) fn flush_runs(&mut self) -> u64 {
        let mut copying_ns = 0;
        for stream in 0..self.streams.len() {
            let Stream { next, unit, .. } = self.streams[stream];
            if unit != NONE && !next.is_multiple_of(self.layout.page_bytes) {
                copying_ns += self.finish_run(stream);
            }
        }
        copying_ns
    }
}
