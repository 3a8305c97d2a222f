//! Speeds that no flash has: requests that a cache or a counterfeit controller answered.

use flashscope_record::finding::Cached;
use flashscope_record::observation::{Direction, LinkLimit, Order, SpeedCell, SpeedData};

use crate::copying::PAGE_READ_SECONDS;
use crate::streams::speed::phases::Latencies;

/// A speed may exceed what a link carries by this factor: clocks differ. Guess.
const LINK_TOLERANCE: f64 = 1.02;
/// Writes are not kept if more than one in this many offsets lost its data, 2 %. Guess: the speed is known no
/// better.
const LOST_SHARE: u32 = 50;

/// Why the requests of a row were not answered by flash, if that shows.
pub fn cached(data: &SpeedData, cell: &SpeedCell) -> Option<Cached> {
    not_read(data, cell).or_else(|| not_kept(data, cell))
}

/// Why writes did not reach flash. Random rows are judged together. A sequential row is judged by itself: the
/// one before it may lie within what a counterfeit stick holds.
fn not_kept(data: &SpeedData, cell: &SpeedCell) -> Option<Cached> {
    let rows = match cell.case.order {
        Order::Linear => std::slice::from_ref(cell),
        Order::Random => data.cells.as_slice(),
    };
    let (checked, lost) = rows
        .iter()
        .filter(|seen| seen.case.order == cell.case.order)
        .fold((0, 0), |(checked, lost), seen| (checked + seen.read_back.places, lost + seen.read_back.lost));
    (cell.case.direction == Direction::Write && lost > checked / LOST_SHARE)
        .then_some(Cached::NotKept { lost, checked })
}

/// Why reads were not answered by flash.
fn not_read(data: &SpeedData, cell: &SpeedCell) -> Option<Cached> {
    if cell.case.direction != Direction::Read {
        return None;
    }
    if data.is_buffered {
        return Some(Cached::PageCache);
    }
    let is_blank = data.contents.mostly_blank() == Some(true);
    // A blank device answers alike in every row; a cache, only in the row that is too fast.
    let shows = |seen: &&SpeedCell| (is_blank || *seen == cell) && is_faster_than_flash(seen);
    data.cells.iter().find(shows).map(|seen| Cached::FasterThanFlash {
        request: seen.case.request,
        flash_s: PAGE_READ_SECONDS,
        is_blank,
    })
}

/// Whether half of a row's random reads, one at a time, took less than flash takes for a page. These cannot
/// be read ahead.
fn is_faster_than_flash(cell: &SpeedCell) -> bool {
    let case = cell.case;
    (case.direction, case.order, case.queue_depth) == (Direction::Read, Order::Random, 1)
        && Latencies::of(&cell.took_ns).is_some_and(|times| times.p50 < PAGE_READ_SECONDS)
}

/// Whether this is more than a link carries.
#[must_use]
pub fn exceeds(bytes_per_s: f64, link: &LinkLimit) -> bool {
    bytes_per_s > link.bytes_per_s.as_f64() * LINK_TOLERANCE
}

/// Why a speed cannot have come through this link, if it cannot.
#[must_use]
pub fn impossible(bytes_per_s: f64, link: &LinkLimit) -> Option<Cached> {
    let limit = || Cached::Link { name: link.name.clone(), bytes_per_s: link.bytes_per_s };
    exceeds(bytes_per_s, link).then(limit)
}
