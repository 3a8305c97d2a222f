//! The driver: what it costs that it cuts requests into more commands than the device needs.
//!
//! Each command takes something beside its data. usb-storage cuts at 240 sectors, and at 2048 from `SuperSpeed` on; of devices that it
//! knows as faulty, or is told are, at 64 or 8 (Linux, drivers/usb/storage: the quirks `MAX_SECTORS_64` and `MAX_SECTORS_MIN`). Where it
//! cuts can be set while the device is plugged in.

use flashscope_device::Bytes;

use flashscope_record::diagnosis::{LITTLE, Layer, Unweighed};
use flashscope_record::figure::time;

use crate::diagnosis::alignment;
use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::seen::Seen;
use crate::diagnosis::size_sweep::{LINE_MIN, Line, pieces};
use crate::diagnosis::workload::{EVERYDAY, Part, Workload};

/// The driver that cuts where it is told.
const ADJUSTABLE: &str = "usb-storage";
/// As long as it lets requests be by itself on fast links.
pub const REQUEST_MAX: Bytes = Bytes::mib(1);
/// What a command takes beside its data is known to this factor: where it ends in the middle of a page, that is part of it.
const FACTOR: f64 = 1.25;
/// At least this share of the time is left.
const LEFT_MIN: f64 = 0.02;

pub fn cure(seen: &Seen<'_>, workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    let Some(cut) = seen.cut().filter(|cut| *cut < REQUEST_MAX) else { return Ok(None) };
    let open = |reason: String| Err(Unweighed { layer: Layer::Driver, reason: reason.into() });
    let Some(Line { per_write, .. }) = line(seen) else {
        let shows = cut < LINE_MIN || is_adjustable(seen);
        let reason = format!("pages are hardly smaller than the {cut} at which it cuts requests");
        return if shows { open(reason) } else { Ok(None) };
    };
    let cure = Cure {
        layer: Layer::Driver,
        after: without_cutting(seen, workload, cut, per_write),
        evidence: evidence(cut, per_write),
    };
    if is_adjustable(seen) {
        return Ok(Some(cure));
    }
    match cure.cost(workload, &EVERYDAY).filter(|cost| cost.gain.likely >= LITTLE) {
        Some(_) => open(format!(
            "requests are cut at {cut}, each piece takes {} beside its data, and by what they are cut is not known",
            time(per_write)
        )),
        None => Ok(None),
    }
}

/// What a byte of each part takes where requests are not cut.
fn without_cutting(seen: &Seen<'_>, workload: &Workload, cut: Bytes, per_write: f64) -> [Option<Range>; 4] {
    let extra = |cut| alignment::extra_cut_at(seen, Some(cut));
    let (extra_now, extra_then) = (extra(cut), extra(REQUEST_MAX));
    Part::ALL.map(|part| {
        let (request, now) = (part.request(), workload.pace(part).seconds);
        // Where data begins in the middle of a page, so does each piece.
        let [parts_now, parts_then] =
            [&extra_now, &extra_then].map(|extra| extra.as_ref().map_or(0.0, |extra| extra.likely(part)));
        let fewer = pieces(request, cut) - pieces(request, REQUEST_MAX);
        let saved = per_write * fewer / request.as_f64() + (parts_now - parts_then).max(0.0);
        (saved > 0.0).then(|| Range::without(now, saved, FACTOR, LEFT_MIN))
    })
}

/// What a write takes for each command and for each byte. Where commands are shorter than what tells them apart otherwise, whole pages
/// do: one and two of them in a command.
pub fn line(seen: &Seen<'_>) -> Option<Line> {
    let Some(cut) = seen.cut().filter(|cut| *cut < LINE_MIN) else {
        return seen.ladder.line(seen.cut(), |size| size >= LINE_MIN);
    };
    let page = seen.page()?;
    (page * 2 <= cut).then(|| seen.ladder.line(Some(cut), |size| size.is_multiple_of(page)))?
}

/// Whether the driver cuts where it is told.
fn is_adjustable(seen: &Seen<'_>) -> bool {
    seen.attachment.driver.as_ref().is_some_and(|driver| driver.name == ADJUSTABLE)
}

fn evidence(cut: Bytes, per_write: f64) -> String {
    format!(
        "{ADJUSTABLE} cuts requests at {cut}, and each piece takes {} beside its data: {} go in {} commands",
        time(per_write),
        REQUEST_MAX,
        pieces(REQUEST_MAX, cut)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_names_how_many_commands_a_request_takes() {
        assert!(evidence(Bytes::kib(32), 5e-4).contains("1 MiB go in 32 commands"));
    }
}
