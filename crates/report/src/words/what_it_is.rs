//! What it is: the sizes, the open units, the class, the FAT area, caches.

use flashscope_device::Bytes;
use flashscope_infer::streams::throughput_profile::{slows_down, stalled_share};
use flashscope_record::finding::{FindingId, FtlClass};

use super::course;
use super::hedge::{hedge, hedged, sureness};
use super::sentence::Sentence;
use super::value::value;
use crate::{Report, quantity};

/// Where stalls take less of the time, long writing is as even as people see it.
const HELD_UP_MIN: f64 = 0.05;

pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let parts = [sizes(report), open_units(report), class(report), merge(report), write_unit(report)];
    let parts = parts.into_iter().chain([fat_area(report), cache(report), buffer(report)]);
    let known: Vec<Sentence> = parts.flatten().map(Sentence::new).collect();
    if known.is_empty() {
        return vec![Sentence::new(format!("nothing is known of how this {} is built", report.noun()))];
    }
    known
}

/// The value and its hedge, `8 MiB` and `(very sure)`, if it was found.
fn found(report: &Report<'_>, id: FindingId) -> Option<(String, String)> {
    let finding = report.found(id)?;
    Some((value(finding.value()?), hedge(finding)?))
}

fn sizes(report: &Report<'_>) -> Option<String> {
    let noun = report.noun();
    match (found(report, FindingId::EraseBlockBytes), found(report, FindingId::PageBytes)) {
        (Some((block, block_sure)), Some((page, page_sure))) => {
            Some(format!("this {noun} erases {block} at a time {block_sure}, in pages of {page} {page_sure}"))
        }
        (Some((block, sure)), None) => {
            Some(format!("this {noun} erases {block} at a time {sure}; the size of its pages is unknown"))
        }
        (None, Some((page, sure))) => Some(format!(
            "this {noun} writes in pages of {page} {sure}; how much it erases at a time is unknown"
        )),
        (None, None) => None,
    }
}

fn open_units(report: &Report<'_>) -> Option<String> {
    match (found(report, FindingId::OpenUnitsLinear), found(report, FindingId::OpenUnitsRandom)) {
        (Some((linear, linear_sure)), Some((random, random_sure))) => Some(format!(
            "it keeps {} open at a time {linear_sure} when each is written from start to end, {random} {random_sure} when they \
             are written in random order",
            blocks(&linear)
        )),
        (Some((linear, sure)), None) => Some(format!(
            "it keeps {} open at a time {sure} when each is written from start to end; for random order this is unknown",
            blocks(&linear)
        )),
        (None, Some((random, sure))) => Some(format!(
            "it keeps {} open at a time {sure} when they are written in random order; from start to end this is unknown",
            blocks(&random)
        )),
        (None, None) => None,
    }
}

fn blocks(number: &str) -> String {
    format!("{number} erase block{}", if number == "1" { "" } else { "s" })
}

fn class(report: &Report<'_>) -> Option<String> {
    let (class, above) = report.class()?;
    let sure = sureness(report.found(FindingId::FtlClass)?)?;
    let meaning = match class {
        FtlClass::LinearOnly => "a write out of order inside a block makes it copy the block",
        FtlClass::OpenBlock => {
            "one open block too many makes it copy a block on every switch, at a constant cost"
        }
        FtlClass::HybridLog => {
            "one block at a time is written in order; whatever else is written waits in logs that are merged when full"
        }
        FtlClass::LogStructured => "too many open blocks slow it down step by step, not at once",
        FtlClass::PageMapped => "any place is as good as another, but it stops now and then to collect space",
    };
    let text = format!("its controller is {}{} ({sure}): {meaning}", class.as_str(), scope(above));
    Some(match above {
        Some(size) => format!("{text}; requests of {size} and less take another path"),
        None => text,
    })
}

fn scope(above: Option<Bytes>) -> String {
    above.map(|size| format!(" above {size} requests")).unwrap_or_default()
}

fn write_unit(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::WriteUnitBytes)?;
    if finding.bytes() == report.size(FindingId::PageBytes) {
        return None;
    }
    Some(format!("it reaches full writing speed with requests of {}", hedged(finding)?))
}

fn fat_area(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::FatAreaBytes)?;
    if finding.bytes()?.is_zero() {
        return Some(format!(
            "it has no FAT area: its first blocks work like all others ({})",
            sureness(finding)?
        ));
    }
    Some(format!(
        "its first {} are a FAT area, where small writes in random order are fast",
        hedged(finding)?
    ))
}

fn merge(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::MergeSeconds)?;
    Some(format!("closing a block that is not full takes it {}", hedged(finding)?))
}

fn cache(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::SlcCacheBytes)?;
    if finding.bytes()?.is_zero() {
        let (sure, long) = (sureness(finding)?, long_writing(report));
        return Some(format!("no cache was found in front of its flash ({sure}): {long}"));
    }
    Some(format!("it takes {} fast before writing slows down", hedged(finding)?))
}

/// How long writing compares to short, where no cache stands between.
fn long_writing(report: &Report<'_>) -> String {
    let Some(data) = course::stream(report) else { return "long writing is as fast as short".to_owned() };
    if slows_down(data) {
        return "writing becomes slower all the same, but only behind more than a cache could hold"
            .to_owned();
    }
    let held_up = stalled_share(data);
    if held_up < HELD_UP_MIN {
        return "long writing is as fast as short".to_owned();
    }
    format!(
        "its average does not fall, but stalls take {:.0} % of the time; short writing goes {} times as fast where it meets none",
        held_up * 100.0,
        quantity::ratio(1.0 / (1.0 - held_up).max(f64::EPSILON))
    )
}

/// None found is no news to anybody.
fn buffer(report: &Report<'_>) -> Option<String> {
    report.size(FindingId::WriteBufferBytes)?;
    let finding = report.found(FindingId::WriteBufferBytes)?;
    Some(format!("its controller takes {} into memory before the flash has to write", hedged(finding)?))
}
