//! Alignment: what partitions and filesystems cost whose data begins in the middle of a page.

use flashscope_device::{Bytes, SECTOR};

use flashscope_record::attachment::Volume;
use flashscope_record::diagnosis::{Layer, Unweighed};
use flashscope_record::figure::time;
use flashscope_record::observation::{Data, PageEdge};

use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::link;
use crate::diagnosis::seen::{Seen, last};
use crate::diagnosis::workload::{Part, Workload};
use crate::statistics::median;

/// What parts of pages take is known to this factor: some controllers gather neighbours, others read the rest of the page first.
const FACTOR: f64 = 1.3;

/// At least this share of the time is left.
const LEFT_MIN: f64 = 0.01;
/// So many requests meet pages in every way that matters.
const REQUESTS: u64 = 96;

/// What data in the middle of a page adds to each byte, seconds.
#[derive(Debug, Clone)]
pub struct Extra {
    layer: Layer,
    name: String,
    begin: Bytes,
    page: Bytes,
    part_seconds: f64,
    by_part: [f64; 4],
    hidden: [f64; 4],
}

impl Extra {
    /// To each byte of this part, as it is plugged in: behind a full link the flash has time for some of it.
    pub fn likely(&self, part: Part) -> f64 {
        (self.whole(part) - self.hidden[part as usize]).max(0.0)
    }

    /// To each byte of this part behind a link that is not full.
    pub const fn whole(&self, part: Part) -> f64 {
        self.by_part[part as usize]
    }
}

/// Of the volume that loses most; `None` where all data begins at a page, or no page is known.
pub fn extra(seen: &Seen<'_>) -> Option<Extra> {
    extra_cut_at(seen, seen.cut())
}

/// The same, if requests were cut elsewhere.
pub fn extra_cut_at(seen: &Seen<'_>, cut: Option<Bytes>) -> Option<Extra> {
    let page = seen.page()?;
    let volume = seen.attachment.volumes.iter().find(|volume| !begin(volume).is_multiple_of(page))?;
    let part = part_seconds(seen, page);
    let whole = seen.ladder.slope().min(seen.ladder.seconds_per_byte(page)) * page.as_f64();
    let takes = Takes { page, part, whole, cut };
    let of_part = |of: Part| takes.longer(of.request(), begin(volume));
    Some(Extra {
        layer: if volume.start.is_multiple_of(page) { Layer::Filesystem } else { Layer::Alignment },
        name: volume.name.clone(),
        begin: begin(volume),
        page,
        part_seconds: part,
        by_part: Part::ALL.map(of_part),
        hidden: Part::ALL.map(|part| link::slack(seen, part)),
    })
}

pub fn cure(seen: &Seen<'_>, workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    if seen.attachment.volumes.is_empty() {
        let reason = "no partition is known".into();
        return Err(Unweighed { layer: Layer::Alignment, reason });
    }
    if seen.page().is_none() {
        let reason = "no page is known".into();
        return Err(Unweighed { layer: Layer::Alignment, reason });
    }
    let Some(extra) = extra(seen) else { return Ok(None) };
    let after = |part: Part| {
        let (now, more) = (workload.pace(part).seconds, extra.likely(part));
        (more > 0.0).then(|| Range::without(now, more, FACTOR, LEFT_MIN))
    };
    Ok(Some(Cure { layer: extra.layer, after: Part::ALL.map(after), evidence: evidence(&extra) }))
}

/// Where the data of a volume begins.
fn begin(volume: &Volume) -> Bytes {
    volume.start + volume.data_start.unwrap_or_default()
}

/// What a part of a page takes, seconds: what a small write across a page's edge takes longer than those beside it; else what
/// the smallest writes take.
fn part_seconds(seen: &Seen<'_>, page: Bytes) -> f64 {
    let data = last(seen.observations, |data| match data {
        Data::WriteSize(data) => Some(data),
        _ => None,
    });
    let at_edge = |edge: &&PageEdge| edge.edge.is_multiple_of(page);
    let longer = |edge: &PageEdge| {
        edge.across.as_secs_f64() - f64::midpoint(edge.before.as_secs_f64(), edge.after.as_secs_f64())
    };
    let edges = data.filter(|data| !data.edges_flushed).map_or(&[][..], |data| data.edges.as_slice());
    let seen_longer: Vec<f64> = edges.iter().filter(at_edge).map(longer).collect();
    let across = median(&seen_longer).filter(|longer| *longer > 0.0);
    across.unwrap_or_else(|| seen.ladder.smallest_seconds())
}

/// What writing pages takes, seconds, and where the host cuts requests.
#[derive(Debug, Clone, Copy)]
struct Takes {
    page: Bytes,
    part: f64,
    whole: f64,
    cut: Option<Bytes>,
}

impl Takes {
    /// What requests one behind the other take longer, seconds per byte, where the first begins at `begin` and not at a page.
    fn longer(self, request: Bytes, begin: Bytes) -> f64 {
        let all = |first: u64| {
            let starts = (0..REQUESTS).map(|index| first + request.get() * index);
            starts.map(|start| self.request(start, start + request.get())).sum::<f64>()
        };
        let longer = all(begin.get() % self.page.get()) - all(0);
        longer.max(0.0) / (request * REQUESTS).as_f64()
    }

    /// Each piece of a request that is cut.
    fn request(self, start: u64, end: u64) -> f64 {
        let cut = self.cut.map_or(end - start, Bytes::get).max(SECTOR.get());
        let starts = (0..(end - start).div_ceil(cut)).map(|index| start + cut * index);
        let each = starts.map(|start| pages(start, end.min(start + cut), self.page.get()));
        each.map(|(wholes, parts)| wholes * self.whole + parts * self.part).sum()
    }
}

/// How many pages from `start` to `end` are written wholly, and how many in part.
#[expect(clippy::cast_precision_loss, reason = "a request has few pages")]
const fn pages(start: u64, end: u64, page: u64) -> (f64, f64) {
    let touched = end.div_ceil(page) - start / page;
    let wholly = (end / page).saturating_sub(start.div_ceil(page));
    (wholly as f64, (touched - wholly) as f64)
}

fn evidence(extra: &Extra) -> String {
    let Extra { name, begin, page, part_seconds, .. } = extra;
    format!(
        "the data of {name} begins at sector {}, in the middle of a page of {page}: each request writes a part of a page ({}) \
         at either end",
        begin.sectors().0,
        time(*part_seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_pages_become_one_less_and_two_parts() {
        let page = Bytes::kib(32);
        let takes = Takes { page, part: 3e-3, whole: 1e-3, cut: None };
        let extra = |kib: u64, begin: Bytes| takes.longer(Bytes::kib(kib), begin) * Bytes::kib(kib).as_f64();
        let sector_63 = Bytes::new(63 * 512);
        assert!((extra(64, sector_63) - 5e-3).abs() < 1e-9 && (extra(1024, sector_63) - 5e-3).abs() < 1e-9);
        // One in eight lies across an edge.
        assert!((extra(4, sector_63) - 3e-3 / 8.0).abs() < 1e-4);
        assert!(extra(64, page * 3).abs() < 1e-12 && extra(4, Bytes::kib(4)).abs() < 1e-12);
        // Cut in two, each half has two parts more.
        let cut = Takes { cut: Some(Bytes::kib(512)), ..takes };
        assert!((cut.longer(Bytes::mib(1), sector_63) * Bytes::mib(1).as_f64() - 10e-3).abs() < 1e-9);
    }
}
