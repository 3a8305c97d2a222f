//! The headline: the most important result in one sentence.

use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use super::confidence::confidence;
use super::sentence::Sentence;
use super::throughput_profile;
use crate::eviction_cost::eviction_cost;
use crate::figures::Figures;
use crate::terms::{title_and_value, value_text};
use crate::{Report, quantity};

/// The most findings in a headline.
const KNOWN_MAX: usize = 3;

pub fn headline(report: &Report<'_>, figures: &Figures) -> Sentence {
    let text = slow_beyond_open_units(report, figures)
        .or_else(|| fast_with_open_units(report))
        .or_else(|| erase_block_only(report, figures))
        .unwrap_or_else(|| structure_unknown(report));
    Sentence::new(text)
}

fn slow_beyond_open_units(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let cost = eviction_cost(report, figures, Order::Linear)
        .or_else(|| eviction_cost(report, figures, Order::Random))?;
    Some(format!(
        "slow with more than {blocks}: with {beyond}, {request} writes take {ratio} times as long ({slow} instead of {fast})",
        blocks = open_blocks(report, cost.open_units_max),
        beyond = cost.open_units_beyond,
        request = cost.rate_within.request,
        ratio = quantity::ratio(cost.ratio()),
        slow = quantity::speed(cost.rate_beyond.bytes_per_s()),
        fast = quantity::speed(cost.rate_within.bytes_per_s()),
    ))
}

/// `8 open erase blocks of 8 MiB`.
fn open_blocks(report: &Report<'_>, count: u32) -> String {
    let blocks = quantity::counted(count.into(), "open erase block");
    match report.size(FindingId::EraseBlockBytes) {
        Some(size) => format!("{blocks} of {size}"),
        None => blocks,
    }
}

fn fast_with_open_units(report: &Report<'_>) -> Option<String> {
    let finding = report.found(FindingId::OpenUnitsLinear)?;
    let blocks = open_blocks(report, finding.count()?);
    Some(format!("no slowdown with up to {blocks} {}", confidence(finding)?))
}

fn erase_block_only(report: &Report<'_>, figures: &Figures) -> Option<String> {
    let finding = report.found(FindingId::EraseBlockBytes)?;
    let (size, confidence) = (value_text(finding.value()?), confidence(finding)?);
    let unknown = if figures.is_empty() {
        "no write was measured, so the cause of slow writes is unknown"
    } else {
        "the number of open blocks is unknown"
    };
    Some(format!("the erase block of this {} is {size} {confidence}; {unknown}", report.noun()))
}

/// What a single experiment found, such as the page and the write unit.
fn structure_unknown(report: &Report<'_>) -> String {
    if let Some(sustained) = throughput_profile::headline(report) {
        return format!("{sustained}; erase block and open blocks are unknown");
    }
    let known = report.findings.iter().filter_map(|finding| {
        Some(format!("{} {}", title_and_value(finding.id, finding.value()?), confidence(finding)?))
    });
    let known: Vec<String> = known.take(KNOWN_MAX).collect();
    if !known.is_empty() {
        return known.join("; ");
    }
    format!("unknown: these measurements do not show how this {} works", report.noun())
}
