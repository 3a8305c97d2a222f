//! The link, or a card's reader: whether it is full, and what a faster one would give.
//!
//! A write takes something for itself and something for each byte, and that is what the link takes or what the flash takes,
//! whichever is more. Where the bytes go as fast as the link carries them, the flash behind may be faster: how much, writes within
//! a page tell, which the link does not hold up.

use flashscope_device::Bytes;

use flashscope_record::attachment::Link;
use flashscope_record::diagnosis::{Layer, Unweighed};
use flashscope_record::figure::speed;
use flashscope_record::finding::{Finding, FindingId};

use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::seen::Seen;
use crate::diagnosis::size_sweep::pieces;
use crate::diagnosis::workload::{Part, Workload};
use crate::diagnosis::{alignment, driver, slc_cache};

/// From this share of the least that a link carries it is full,
const FULL: f64 = 0.85;
/// up to this share of the most: what is faster goes another way.
const OVERFULL: f64 = 1.2;
/// From one speed of USB to the next it is ten times and more: that much is weighed where nothing faster is known to help.
const NEXT: f64 = 10.0;
/// Where usb-storage cuts below `SuperSpeed`, unless it is told to cut sooner, and then it does so everywhere.
const REQUEST_USUAL: Bytes = Bytes::kib(120);
/// A part of a page takes so many times as long as a whole one in a stream, typically: the rest of it is read first.
const PART_OF_PAGE: f64 = 1.2;
/// And so many times more or less.
const FLASH_FACTOR: f64 = 1.5;
/// What small writes take beside what every write takes is known if it is at least this share.
const PROGRAM_MIN: f64 = 0.2;
/// A small write that takes this share of its place on the line, or less, is not held up by the link.
const ON_THE_LINE: f64 = 1.15;
/// Writes within a page that seem to need so many times what a byte takes now are dear for another reason.
const SLOWER_MAX: f64 = 1.4;
/// Behind a full cache, emptying it and the data's way overlap on some sticks and not on others; most of the way is likely saved.
const APART: f64 = 0.9;
/// Commands themselves take less over a faster link: up to this share of what they take now.
const QUICKER: f64 = 0.6;
/// At least this share of the time is left.
const LEFT_MIN: f64 = 0.05;

pub fn cure(seen: &Seen<'_>, workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    let Some(link) = sound(seen) else {
        let reason = "how it is plugged in is not known".into();
        return Err(Unweighed { layer: Layer::Link, reason });
    };
    let Some((way, most)) = Way::full(seen, link).and_then(|way| Some((way, way.most(link)?))) else {
        return Ok(None);
    };
    let extra = alignment::extra(seen);
    let after = Part::ALL.map(|part| {
        let now = workload.pace(part).seconds;
        let saved = way.saves(seen, part, most)?;
        // What alignment costs shows wholly once the link does not hide it.
        let hidden = extra.as_ref().map_or(0.0, |extra| extra.whole(part) - extra.likely(part));
        let after = |saved: f64| (now - saved + hidden).max(now * LEFT_MIN);
        Some(Range { low: after(saved.high), likely: after(saved.likely), high: after(saved.low) })
    });
    let layer = if link.is_readers { Layer::Reader } else { Layer::Link };
    Ok(Some(Cure { layer, after, evidence: evidence(link, way.reached) }))
}

/// How long the flash waits for the link, likely, seconds for each byte of a part; 0 where the link is not full.
pub fn slack(seen: &Seen<'_>, part: Part) -> f64 {
    let way = sound(seen).and_then(|link| Way::full(seen, link));
    let saved = way.filter(|_| part != Part::Small).map(|way| way.waits(f64::INFINITY));
    saved.map_or(0.0, |saved| saved.likely)
}

fn sound<'a>(seen: &Seen<'a>) -> Option<&'a Link> {
    seen.attachment.link.as_ref().filter(|link| link.is_sound())
}

/// What writes take over a full link, seconds.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The best that was measured, bytes per second, commands and all.
    reached: f64,
    per_byte: f64,
    per_write: f64,
    /// Whether a cache took writes as fast before it was full: emptying it may or may not overlap with the data's way.
    is_behind_a_cache: bool,
    /// What the flash needs for a byte.
    flash: Option<Range>,
}

impl Way {
    /// `None` if the link is not full.
    fn full(seen: &Seen<'_>, link: &Link) -> Option<Self> {
        let is_full =
            |per_byte: f64| (FULL * link.carries.0..OVERFULL * link.carries.1).contains(&(1.0 / per_byte));
        // Where memory takes single writes at once, they come as fast as the link carries them, whatever the flash does.
        let lasts = seen.ladder.least().is_none_or(is_full);
        let line = driver::line(seen);
        let per_write = line.map_or(0.0, |line| line.per_write);
        let cached = slc_cache::before_full(seen).filter(|fast| is_full(*fast));
        let (per_byte, is_behind_a_cache) =
            match line.map(|line| line.per_byte).filter(|slope| lasts && is_full(*slope)) {
                Some(slope) => (slope, cached.is_some()),
                None => (
                    cached.or_else(|| Some(seen.ladder.best()).filter(|best| lasts && is_full(*best)))?,
                    cached.is_some(),
                ),
            };
        let best = seen.ladder.best().max(seen.ladder.least().unwrap_or(0.0));
        let reached = 1.0 / cached.unwrap_or(best);
        let flash = flash(seen).filter(|flash| !is_behind_a_cache && flash.likely < per_byte * SLOWER_MAX);
        Some(Self { reached, per_byte, per_write, is_behind_a_cache, flash })
    }

    /// The most that another link would carry. Where none is known to help, a full one holds the device back all the same; but not
    /// where only a cache is as fast.
    fn most(self, link: &Link) -> Option<f64> {
        link.elsewhere().or_else(|| (!self.is_behind_a_cache).then_some(link.carries.1 * NEXT))
    }

    /// How long the flash waits for each byte, if a link that carries `most` took its place.
    fn waits(self, most: f64) -> Range {
        let now = self.per_byte;
        let all = now - 1.0 / most;
        match self.flash {
            Some(Range { low, likely, high }) => Range {
                low: (now - high).clamp(0.0, all),
                likely: (now - likely).clamp(0.0, all),
                high: (now - low).clamp(0.0, all),
            },
            // A geometric middle: the flash is as likely twice as fast as the link as half as fast as the faster one.
            None if self.is_behind_a_cache => Range { low: 0.0, likely: all * APART, high: all },
            None => Range { low: 0.0, likely: (now - (now / most).sqrt()).clamp(0.0, all), high: all },
        }
    }

    /// What a byte of a part takes less behind a link that carries `most`, seconds; `None` if the link does not hold it up.
    fn saves(self, seen: &Seen<'_>, part: Part, most: f64) -> Option<Range> {
        let request = part.request();
        if part == Part::Small {
            let on_the_line = self.per_write + self.per_byte * request.as_f64();
            let seconds = seen.ladder.seconds_per_byte(request) * request.as_f64();
            return (seconds < on_the_line * ON_THE_LINE).then(|| self.waits(most).or_nothing());
        }
        // Larger requests are cut into fewer pieces.
        let cut = seen.cut().unwrap_or(driver::REQUEST_MAX);
        let there = if cut < REQUEST_USUAL { cut } else { cut.max(driver::REQUEST_MAX) };
        let pieces = |cut: Bytes| pieces(request, cut);
        let fewer = self.per_write * (pieces(cut) - pieces(there)) / request.as_f64();
        let quicker = QUICKER * self.per_write * pieces(there) / request.as_f64();
        let waits = self.waits(most);
        Some(Range { low: waits.low, likely: waits.likely + fewer, high: waits.high + fewer + quicker })
    }
}

/// What the flash needs for a byte, seconds, if the page is known: the smallest writes program a page as a whole, and take beside
/// that what every write takes.
fn flash(seen: &Seen<'_>) -> Option<Range> {
    let bytes = |id| seen.finding(id).and_then(Finding::bytes);
    let page = bytes(FindingId::PageBytes)?.as_f64().max(1.0);
    if bytes(FindingId::WriteBufferBytes).is_some_and(|buffer| !buffer.is_zero()) {
        // Small writes end before the flash has them.
        return None;
    }
    let small = seen.ladder.smallest_seconds();
    let program = small - driver::line(seen)?.per_write;
    let likely = program / page / PART_OF_PAGE;
    (program > small * PROGRAM_MIN).then(|| Range::within(likely, FLASH_FACTOR))
}

/// What the link carries, and what was measured over it: what commands take is no part of the link's figure.
fn evidence(link: &Link, reached: f64) -> String {
    let (least, most) = link.carries;
    let carries = format!("{} to {} that {} carries", speed(least), speed(most), link.name);
    let goes = match reached {
        reached if reached >= least => "within the",
        reached if reached >= FULL * least => "close to the",
        _ => "and but for what each command takes at the",
    };
    let could = match &link.could {
        Some((could, _)) => format!("the device could do {could}"),
        None => "that it could do more elsewhere is not known".to_owned(),
    };
    format!("its writes go at {}, {goes} {carries}; {could}", speed(reached))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_names_what_the_link_carries_and_not_more_than_was_reached() {
        let link = Link::usb(480.0, Some(5000.0)).unwrap();
        let text = evidence(&link, 36e6);
        assert!(
            text.starts_with("its writes go at 36 MB/s, within the 30 MB/s to 42 MB/s that USB at 480"),
            "{text}"
        );
        assert!(text.ends_with("the device could do USB at 5000 Mbit/s"), "{text}");
        assert!(evidence(&link, 26e6).contains("26 MB/s, close to the 30 MB/s"));
        assert!(
            evidence(&link, 20e6).contains("20 MB/s, and but for what each command takes at the 30 MB/s")
        );
        let alone = evidence(&Link::usb(480.0, None).unwrap(), 36e6);
        assert!(alone.ends_with("that it could do more elsewhere is not known"), "{alone}");
    }
}
