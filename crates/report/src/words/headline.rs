//! The one sentence to remember.

use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use super::course;
use super::hedge::{hedge, hedged};
use super::sentence::Sentence;
use super::value::value;
use crate::figures::Figures;
use crate::wall::wall;
use crate::{Report, quantity};

pub fn headline(report: &Report<'_>, figures: &Figures) -> Sentence {
    let text = wall_in_words(report, figures)
        .or_else(|| many_units(report))
        .or_else(|| erase_block_only(report, figures))
        .unwrap_or_else(|| nothing(report));
    Sentence::new(text)
}

fn wall_in_words(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let wall = wall(report, figures, Order::Linear).or_else(|| wall(report, figures, Order::Random))?;
    let blocks = blocks(report, wall.limit);
    let within = match wall.limit {
        1 => format!("while only 1 {blocks} is"),
        limit => format!("while at most {limit} {blocks} are"),
    };
    Some(format!(
        "fast {within} written at a time; with {beyond}, writes of {request} take {ratio} times as long ({slow} instead \
         of {fast})",
        beyond = wall.beyond,
        request = wall.fast.request,
        ratio = quantity::ratio(wall.ratio()),
        slow = quantity::speed(wall.slow.speed()),
        fast = quantity::speed(wall.fast.speed()),
    ))
}

fn blocks(report: &Report<'_>, count: u32) -> String {
    let noun = if count == 1 { "block" } else { "blocks" };
    match report.size(FindingId::EraseBlockBytes) {
        Some(size) => format!("{noun} of {size}"),
        None => noun.to_owned(),
    }
}

fn many_units(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::OpenUnitsLinear)?;
    let blocks = blocks(report, finding.count()?);
    Some(format!(
        "this {} can write {} {blocks} in turn without slowing down",
        report.noun(),
        hedged(finding)?
    ))
}

fn erase_block_only(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let finding = report.found(FindingId::EraseBlockBytes)?;
    let (size, sure) = (value(finding.value()?), hedge(finding)?);
    let rest = if figures.is_empty() {
        "nothing was written, so why writes are slow is not known yet"
    } else {
        "how many blocks it keeps open is not known"
    };
    Some(format!("this {} erases {size} at a time {sure}; {rest}", report.noun()))
}

fn nothing(report: &Report<'_>) -> String {
    if let Some(written) = course::headline(report) {
        return format!("this {} {written}; how it works inside is unknown", report.noun());
    }
    if report.findings.iter().any(|finding| finding.value().is_some()) {
        return format!("the erase block of this {} and how many it keeps open are unknown", report.noun());
    }
    format!("unknown: these measurements do not tell how this {} works inside", report.noun())
}
