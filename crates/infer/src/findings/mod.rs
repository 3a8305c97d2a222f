//! From observations to findings: asks every stage, then takes back what is not sure enough.

mod early_ends;
mod in_file;
mod seen;
mod virtual_stick;
mod withdrawal;

use flashscope_device::Bytes;

use flashscope_record::finding::{Caveat, Finding, FindingId, Outcome, Value};
use flashscope_record::observation::{Cause, Data, Ended, Merges, Observations, is_in_file};
use flashscope_record::run_file::RunFile;

use self::early_ends::with_early_ends;
use self::in_file::{unless_off_alignment, unless_stream_in_file};
use self::seen::Seen;
pub use self::virtual_stick::on_a_virtual_stick;
use self::withdrawal::{rest_on_assumption, unless_flash_shows, unless_merged, unless_sure};
use crate::geometry::boundary_signal::unless_block_differs;
use crate::geometry::{align, block_ends};
use crate::method::Method;
use crate::open_blocks::open_units;
use crate::sanity;
use crate::size_sweep::sweep;
use crate::size_sweep::write_unit::{self, SweepPoint};
use crate::thresholds::{LIKELY, SURE, SURE_ENOUGH};

/// All findings from the observations of one device: one per [`FindingId`], in that order.
#[must_use]
pub fn infer(observations: &[Observations]) -> Vec<Finding> {
    infer_by(observations, Method::default())
}

/// The same with parts of the method left out, as they were while it was measured.
#[must_use]
pub fn infer_by(observations: &[Observations], method: Method) -> Vec<Finding> {
    let seen = Seen::sort(observations);
    let size_sweep = seen.size_sweep();
    let page_by_writes = seen.page_by_writes();
    let align = align::infer(&seen.align, method, page_by_writes.as_ref().and_then(sure_page));
    let boundaries_show =
        shows_surely(&align.boundary_signal) || page_by_writes.as_ref().is_some_and(is_sure);
    let open_units = seen.open_units();
    let [linear, random, class, merge] = open_units.findings;
    let write_buffer = seen.write_buffer();
    let [cache, sustained] = seen.sustained(&write_buffer);
    let erase_block = block_ends::or(align.erase_block, &align.blocks, seen.block_ends);
    let erase_block = seen.unless_ends_are_too_short(unless_off_alignment(erase_block, observations));
    let boundary_signal = unless_block_differs(align.boundary_signal, erase_block.bytes());
    let assumption = seen.assumed_erase_block(&erase_block);
    let is_too_short =
        open_units.delay.is_some_and(|delay| seen.is_too_short_to_merge(delay, erase_block.bytes()));
    let page_by_reads =
        if device_failed(observations) { withdrawal::undecided_by_writes(align.page) } else { align.page };
    let page_by_reads = seen.unless_writes_contradict(page_by_reads);
    let (page, write_unit) = match seen.write_size.last().and_then(|data| sweep::changed(data)) {
        Some(changed) => (page(page_by_reads, page_by_writes, &[]), write_unit::of_another_speed(changed)),
        None if seen.write_size.is_empty() => {
            let unit = seen.published_write_unit(&size_sweep);
            (page(page_by_reads, page_by_writes, &size_sweep), unit)
        }
        None => {
            let unit = write_unit::write_unit(&size_sweep);
            (page(page_by_reads, page_by_writes, &size_sweep), unit)
        }
    };
    let may_be_assumed = erase_block.value().is_none()
        && !is_in_file(observations)
        && page.value().is_some()
        && linear.confidence().get() * LIKELY >= SURE_ENOUGH
        && linear.count().is_some_and(|number| seen.lie_far_apart(number, observations));
    let mut findings = [
        erase_block,
        page,
        write_unit,
        linear,
        random,
        seen.fat_area(),
        class,
        merge,
        boundary_signal,
        cache,
        sustained,
        write_buffer,
    ];
    if let Some(assumption) = assumption {
        let rest =
            findings.iter_mut().filter(|finding| rests_on_erase_block(finding.id, open_units.maps_less));
        rest.for_each(|finding| {
            let stands = seen.is_published() || may_be_assumed && may_rest_on_assumption(finding.id);
            rest_on_assumption(finding, &assumption, stands);
        });
    }
    if is_too_short {
        findings.iter_mut().for_each(unless_merged);
    }
    judge_together(&mut findings, observations, boundaries_show);
    let findings =
        findings.into_iter().map(|finding| unless_stream_in_file(unless_sure(finding), observations));
    findings.map(|finding| with_early_ends(finding, observations)).collect()
}

/// Takes back what all findings and all times together speak against.
fn judge_together(findings: &mut [Finding], observations: &[Observations], boundaries_show: bool) {
    let is_known =
        |id: FindingId| findings.iter().any(|finding| finding.id == id && finding.value().is_some());
    let shows_flash =
        boundaries_show || is_known(FindingId::EraseBlockBytes) || is_known(FindingId::PageBytes);
    if !shows_flash {
        findings.iter_mut().for_each(unless_flash_shows);
    }
    if let Some(objection) = sanity::objection(observations, boundaries_show) {
        findings.iter_mut().for_each(|finding| sanity::apply(&objection, finding));
    }
}

/// The findings of a run, known or not; if only speeds were measured, those about speeds.
#[must_use]
pub fn infer_run(observations: &[Observations]) -> Vec<Finding> {
    let findings = infer(observations);
    if observations.is_empty() || !observations.iter().all(|seen| seen.data.is_of_speed()) {
        return findings;
    }
    let is_measured =
        |finding: &Finding| observations.iter().any(|seen| early_ends::concerns(finding.id, &seen.data));
    findings.into_iter().filter(is_measured).collect()
}

/// All findings of a run. Those of a virtual stick ask for what a virtual stick has.
#[must_use]
pub fn findings_of(run: &RunFile) -> Vec<Finding> {
    virtual_stick::fitting(run, infer(&run.observations))
}

/// The findings that a run's experiments are about, as [`infer_run`]. Those of a virtual stick ask for what a
/// virtual stick has.
#[must_use]
pub fn relevant_findings_of(run: &RunFile) -> Vec<Finding> {
    virtual_stick::fitting(run, infer_run(&run.observations))
}

/// Every erase block that fits the reads, with its probability.
#[must_use]
pub fn erase_blocks(observations: &[Observations], method: Method) -> Vec<(Bytes, f64)> {
    let seen = Seen::sort(observations);
    align::infer(&seen.align, method, seen.page_by_writes().as_ref().and_then(sure_page)).blocks
}

/// What the last search for open units shows of merges, beside their number.
#[must_use]
pub fn merges(observations: &[Observations]) -> Option<Merges> {
    let data = Seen::sort(observations).open_units.last().copied()?;
    open_units::Search::new(data).ok().map(|search| search.merges())
}

fn sure_page(page: &Finding) -> Option<Bytes> {
    page.bytes().filter(|_| is_sure(page))
}

fn shows_surely(signal: &Finding) -> bool {
    is_sure(signal) && matches!(signal.value(), Some(Value::Shows(Some(_))))
}

fn is_sure(finding: &Finding) -> bool {
    matches!(&finding.outcome, Outcome::Found { confidence, .. } if confidence.get() >= SURE)
}

const fn rests_on_erase_block(id: FindingId, maps_less: bool) -> bool {
    match id {
        FindingId::OpenUnitsLinear | FindingId::FtlClass | FindingId::MergeSeconds => !maps_less,
        FindingId::OpenUnitsRandom | FindingId::FatAreaBytes => true,
        _ => false,
    }
}

/// Whether blocks of a wrong size rarely change the answer: they lie far apart, and the start of each is
/// written sequentially. Of 1000 random sticks, about two have such an answer; all of fourteen that were
/// looked at were right.
const fn may_rest_on_assumption(id: FindingId) -> bool {
    matches!(id, FindingId::OpenUnitsLinear | FindingId::FtlClass | FindingId::MergeSeconds)
}

/// The page by writes if they show one, else by reads: writes know the effective page better.
fn page(by_reads: Finding, by_edges: Option<Finding>, size_sweep: &[SweepPoint]) -> Finding {
    let by_writes = by_edges.unwrap_or_else(|| write_unit::page(size_sweep));
    match (by_writes.bytes(), by_reads.bytes()) {
        (None, _) => by_reads,
        (Some(writes), Some(reads)) if !writes.is_multiple_of(reads) => {
            by_writes.with_caveat(Caveat::ReadsSuggest(reads))
        }
        (Some(_), _) => by_writes,
    }
}

/// Whether the device was gone, or failed too often, during the reads or writes that show the page.
fn device_failed(observations: &[Observations]) -> bool {
    observations.iter().any(|seen| {
        matches!(seen.ended, Ended::Early { cause: Cause::Device, .. })
            && matches!(seen.data, Data::Align(_) | Data::WriteSize(_))
    })
}
