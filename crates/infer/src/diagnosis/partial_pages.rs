//! The time that partial pages add to writes of a misaligned volume.

use flashscope_device::{Bytes, SECTOR};

use flashscope_record::attachment::Volume;
use flashscope_record::observation::{Data, PageEdge};

use crate::diagnosis::inputs::{Inputs, last_data};
use crate::diagnosis::link_path::flash_idle_per_byte;
use crate::diagnosis::workload::CopyPart;
use crate::statistics::median;

/// How many consecutive requests are laid over the pages. 96 requests of 4 KiB cover 384 KiB, a multiple of
/// every page size of 2^n or 3 * 2^n KiB up to 128 KiB.
const REQUESTS: u64 = 96;

/// A volume whose data begins inside a page, and the time that adds to each byte.
#[derive(Debug, Clone)]
pub struct Misalignment<'a> {
    pub volume: &'a Volume,
    pub page: Bytes,
    /// The time to write a partial page, seconds.
    pub partial_page_s: f64,
    /// For each part of a copy, seconds per byte.
    added: [f64; 4],
    /// The part of `added` that the flash spends while it waits for a full link.
    hidden: [f64; 4],
}

impl Misalignment<'_> {
    /// The added time per byte, seconds, behind the present link.
    pub fn visible(&self, part: CopyPart) -> f64 {
        (self.total(part) - self.hidden[part as usize]).max(0.0)
    }

    /// The added time per byte, seconds, behind a link that is not full.
    pub const fn total(&self, part: CopyPart) -> f64 {
        self.added[part as usize]
    }

    /// The offset of the volume's data on the device.
    pub fn data_start(&self) -> Bytes {
        data_start(self.volume)
    }
}

/// The first misaligned volume; `None` if there is none, or if the page size is not known.
pub fn misalignment<'a>(inputs: &Inputs<'a>) -> Option<Misalignment<'a>> {
    misalignment_with(inputs, inputs.command_max())
}

/// The same with another largest command.
pub fn misalignment_with<'a>(inputs: &Inputs<'a>, command_max: Option<Bytes>) -> Option<Misalignment<'a>> {
    let page = inputs.page()?;
    let volume = inputs.attachment.volumes.iter().find(|volume| !data_start(volume).is_multiple_of(page))?;
    let partial_page_s = partial_page_s(inputs, page);
    let whole_page_s = inputs.sweep.slope().min(inputs.sweep.time_per_byte(page)) * page.as_f64();
    let pages = PageTimes { page, partial_page_s, whole_page_s, command_max };
    Some(Misalignment {
        volume,
        page,
        partial_page_s,
        added: CopyPart::ALL.map(|part| pages.added_per_byte(part.request(), data_start(volume))),
        hidden: CopyPart::ALL.map(|part| flash_idle_per_byte(inputs, part)),
    })
}

fn data_start(volume: &Volume) -> Bytes {
    volume.start + volume.data_start.unwrap_or_default()
}

/// The time to write a partial page, seconds: the extra latency of a small write across a page boundary
/// compared with its neighbours; without such samples, the latency of the smallest writes.
fn partial_page_s(inputs: &Inputs<'_>, page: Bytes) -> f64 {
    let data = last_data(inputs.observations, |data| match data {
        Data::WriteSize(data) => Some(data),
        _ => None,
    });
    let is_page_boundary = |edge: &&PageEdge| edge.edge.is_multiple_of(page);
    let extra = |edge: &PageEdge| {
        edge.across.as_secs_f64() - f64::midpoint(edge.before.as_secs_f64(), edge.after.as_secs_f64())
    };
    let edges = data.filter(|data| !data.edges_flushed).map_or(&[][..], |data| data.edges.as_slice());
    let extras: Vec<f64> = edges.iter().filter(is_page_boundary).map(extra).collect();
    let across = median(&extras).filter(|extra| *extra > 0.0);
    across.unwrap_or_else(|| inputs.sweep.lowest_latency_s())
}

/// The times to write pages, and the largest command.
#[derive(Debug, Clone, Copy)]
struct PageTimes {
    page: Bytes,
    partial_page_s: f64,
    whole_page_s: f64,
    command_max: Option<Bytes>,
}

impl PageTimes {
    /// The added time per byte of sequential requests from `data_start` on, compared with the same from a
    /// page boundary on.
    fn added_per_byte(self, request: Bytes, data_start: Bytes) -> f64 {
        let total = |first: u64| {
            let starts = (0..REQUESTS).map(|index| first + request.get() * index);
            starts.map(|start| self.request_s(start, start + request.get())).sum::<f64>()
        };
        let added = total(data_start.get() % self.page.get()) - total(0);
        added.max(0.0) / (request * REQUESTS).as_f64()
    }

    /// The time of a request from `start` to `end`, command by command.
    fn request_s(self, start: u64, end: u64) -> f64 {
        let command = self.command_max.map_or(end - start, Bytes::get).max(SECTOR.get());
        let starts = (0..(end - start).div_ceil(command)).map(|index| start + command * index);
        let each = starts.map(|start| whole_and_partial(start, end.min(start + command), self.page.get()));
        each.map(|(whole, partial)| whole * self.whole_page_s + partial * self.partial_page_s).sum()
    }
}

/// How many whole pages and how many partial pages lie from `start` to `end`.
#[expect(clippy::cast_precision_loss, reason = "a request has few pages")]
const fn whole_and_partial(start: u64, end: u64, page: u64) -> (f64, f64) {
    let touched = end.div_ceil(page) - start / page;
    let whole = (end / page).saturating_sub(start.div_ceil(page));
    (whole as f64, (touched - whole) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misaligned_request_has_one_whole_page_less_and_two_partial_pages_more() {
        let page = Bytes::kib(32);
        let pages = PageTimes { page, partial_page_s: 3e-3, whole_page_s: 1e-3, command_max: None };
        let added =
            |kib: u64, start: Bytes| pages.added_per_byte(Bytes::kib(kib), start) * Bytes::kib(kib).as_f64();
        let sector_63 = Bytes::new(63 * 512);
        assert!((added(64, sector_63) - 5e-3).abs() < 1e-9 && (added(1024, sector_63) - 5e-3).abs() < 1e-9);
        // One request in eight crosses a page boundary.
        assert!((added(4, sector_63) - 3e-3 / 8.0).abs() < 1e-4);
        assert!(added(64, page * 3).abs() < 1e-12 && added(4, Bytes::kib(4)).abs() < 1e-12);
        // Split into two commands, each has two partial pages.
        let split = PageTimes { command_max: Some(Bytes::kib(512)), ..pages };
        assert!(
            (split.added_per_byte(Bytes::mib(1), sector_63) * Bytes::mib(1).as_f64() - 10e-3).abs() < 1e-9
        );
    }
}
