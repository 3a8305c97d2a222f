//! What it is: page, erase block, open blocks, translation layer, FAT area, caches.

use flashscope_infer::streams::throughput_profile::{slows_down, stalled_share};
use flashscope_record::finding::FindingId;

use super::confidence::{confidence_percent, with_confidence};
use super::sentence::Sentence;
use super::throughput_profile;
use crate::terms::{class_behaviour, class_name};
use crate::{Report, quantity};

/// The least share of the time in stalls that is reported. Guess: below 5 %, long writes look even.
const STALL_SHARE_MIN: f64 = 0.05;

pub fn sentences(report: &Report<'_>) -> Vec<Sentence> {
    let parts = [sizes(report), open_blocks(report), class(report), merge(report), write_unit(report)];
    let parts = parts.into_iter().chain([fat_area(report), slc_cache(report), write_buffer(report)]);
    let known: Vec<Sentence> = parts.flatten().map(Sentence::new).collect();
    if known.is_empty() {
        return vec![Sentence::new(format!("the structure of this {} is unknown", report.noun()))];
    }
    known
}

/// The value with its confidence, `8 MiB (very sure)`; `unknown` without one. `None` if the report is not
/// about it: a run may hold what an experiment measured beside it.
fn value(report: &Report<'_>, id: FindingId) -> Option<String> {
    report.findings.iter().find(|finding| finding.id == id)?;
    Some(report.found(id).and_then(with_confidence).unwrap_or_else(|| "unknown".to_owned()))
}

/// The text of a value.
type TextOf = fn(String) -> String;

/// The values that the report is about, each in its text, if one of them was found.
fn values(report: &Report<'_>, each: [(FindingId, TextOf); 2]) -> Option<Vec<String>> {
    let is_found = each.iter().any(|(id, _)| report.found(*id).is_some());
    let texts = each.into_iter().filter_map(|(id, text)| value(report, id).map(text));
    is_found.then(|| texts.collect())
}

fn sizes(report: &Report<'_>) -> Option<String> {
    let each: [(_, TextOf); 2] = [
        (FindingId::EraseBlockBytes, |value| format!("erase block: {value}")),
        (FindingId::PageBytes, |value| format!("page: {value}")),
    ];
    values(report, each).map(|texts| texts.join("; "))
}

fn open_blocks(report: &Report<'_>) -> Option<String> {
    let each: [(_, TextOf); 2] = [
        (FindingId::OpenUnitsLinear, |value| format!("{value} with sequential writes")),
        (FindingId::OpenUnitsRandom, |value| format!("{value} with random writes")),
    ];
    values(report, each).map(|texts| format!("open erase blocks: {}", texts.join(", ")))
}

fn class(report: &Report<'_>) -> Option<String> {
    let (class, above) = report.class()?;
    let confidence = confidence_percent(report.found(FindingId::FtlClass)?)?;
    let (name, behaviour) = (class_name(class), class_behaviour(class));
    Some(match above {
        Some(size) => format!(
            "flash translation layer: {name} above {size} ({confidence}): {behaviour}. \
             Requests of {size} or less are handled differently"
        ),
        None => format!("flash translation layer: {name} ({confidence}): {behaviour}"),
    })
}

fn merge(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::MergeSeconds)?;
    Some(format!("merging a partly written erase block takes {}", with_confidence(finding)?))
}

fn write_unit(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::WriteUnitBytes)?;
    if finding.bytes() == report.size(FindingId::PageBytes) {
        return None;
    }
    Some(format!("smallest request at full write speed: {}", with_confidence(finding)?))
}

fn fat_area(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::FatAreaBytes)?;
    if finding.bytes()?.is_zero() {
        return Some(format!(
            "no FAT area ({}): the first erase blocks behave like all others",
            confidence_percent(finding)?
        ));
    }
    Some(format!("FAT area: the first {}, where small random writes are fast", with_confidence(finding)?))
}

fn slc_cache(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::SlcCacheBytes)?;
    if finding.bytes()?.is_zero() {
        let (confidence, long_writes) = (confidence_percent(finding)?, long_writes(report));
        return Some(format!("no SLC cache found ({confidence}): {long_writes}"));
    }
    Some(format!("SLC cache: the first {} are fast, then writes slow down", with_confidence(finding)?))
}

/// How long writes compare with short ones where no SLC cache was found.
fn long_writes(report: &Report<'_>) -> String {
    const AS_FAST: &str = "long writes are as fast as short ones";
    let Some(data) = throughput_profile::sustained_write(report) else { return AS_FAST.to_owned() };
    if slows_down(data) {
        return "writes slow down only after more data than an SLC cache could hold".to_owned();
    }
    let stall_share = stalled_share(data);
    if stall_share < STALL_SHARE_MIN {
        return AS_FAST.to_owned();
    }
    format!(
        "the mean speed does not fall, but stalls take {:.0} % of the time; between stalls, writes are {} times as fast",
        stall_share * 100.0,
        quantity::ratio(1.0 / (1.0 - stall_share).max(f64::EPSILON))
    )
}

/// The absence of a write buffer is not reported.
fn write_buffer(report: &Report<'_>) -> Option<String> {
    report.size(FindingId::WriteBufferBytes)?;
    let finding = report.found(FindingId::WriteBufferBytes)?;
    Some(format!("write buffer in the controller: {}", with_confidence(finding)?))
}
