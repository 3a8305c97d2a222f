//! What to do, and because of which finding. Only what follows from findings.

use flashscope_probe::finding::FtlClass;
use flashscope_probe::{Finding, FindingId, Outcome};
use serde::Serialize;

use super::hedge::hedged;
use super::sentence::Sentence;
use crate::Report;

/// One piece of advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// A short name that does not change between versions.
    pub id: &'static str,
    /// What to do.
    pub text: Sentence,
    /// The finding it follows from, with how sure that is.
    pub because: Sentence,
}

/// The advice that follows from a report's findings, the most useful first.
#[must_use]
pub fn advice(report: &Report<'_>) -> Vec<Advice> {
    let rules =
        [align_partitions, limit_streams, write_in_order, write_whole_pages, keep_fat_area, measure_more];
    rules.into_iter().filter_map(|rule| rule(report)).collect()
}

fn because(id: &'static str, finding: &Finding, text: String) -> Option<Advice> {
    let because = format!("{}: {}", finding.id.title(), hedged(finding)?);
    Some(Advice { id, text: Sentence::new(text), because: Sentence::new(because) })
}

fn align_partitions(report: &Report<'_>) -> Option<Advice> {
    let finding = report.found(FindingId::EraseBlockBytes)?;
    let block = report.size(FindingId::EraseBlockBytes)?;
    because(
        "align_partitions",
        finding,
        format!("start every partition at a multiple of {block} (sector {})", block.sectors().0),
    )
}

fn limit_streams(report: &Report<'_>) -> Option<Advice> {
    let finding = report.found(FindingId::OpenUnitsLinear)?;
    let text = match finding.count()? {
        1 => "write one file at a time, not several side by side".to_owned(),
        count => {
            format!("write to at most {count} places at a time, the filesystem's own bookkeeping included")
        }
    };
    because("limit_streams", finding, text)
}

fn write_in_order(report: &Report<'_>) -> Option<Advice> {
    let finding = report.found(FindingId::FtlClass)?;
    let (FtlClass::LinearOnly, _) = report.class()? else { return None };
    let text = "keep databases, virtual machines and other random writes off it; copy whole files".to_owned();
    because("write_in_order", finding, text)
}

fn write_whole_pages(report: &Report<'_>) -> Option<Advice> {
    let id = if report.size(FindingId::WriteUnitBytes).is_some() {
        FindingId::WriteUnitBytes
    } else {
        FindingId::PageBytes
    };
    let size = report.size(id)?;
    because(
        "write_whole_pages",
        report.found(id)?,
        format!("write at least {size} at a time, e.g. dd bs={} or a cluster of that size", size.get()),
    )
}

fn keep_fat_area(report: &Report<'_>) -> Option<Advice> {
    let area = report.size(FindingId::FatAreaBytes)?;
    let text = format!("keep the file allocation table, or any journal, within the first {area}");
    because("keep_fat_area", report.found(FindingId::FatAreaBytes)?, text)
}

/// The first unknown, in the order of a report, that something would decide.
fn measure_more(report: &Report<'_>) -> Option<Advice> {
    let findings = FindingId::ALL.into_iter().filter_map(|id| report.finding(id));
    let undecided = findings.filter_map(|finding| match &finding.outcome {
        Outcome::Unknown { reason, would_decide } if !would_decide.is_empty() => {
            Some((finding.id, reason, would_decide))
        }
        _ => None,
    });
    let (id, reason, would_decide) = undecided.into_iter().next()?;
    Some(Advice {
        id: "measure_more",
        text: Sentence::new(format!("measure more: {would_decide}")),
        because: Sentence::new(format!("{} is unknown: {reason}", id.title())),
    })
}
