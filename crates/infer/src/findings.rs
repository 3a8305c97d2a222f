//! Pure inference: observations in, findings out. No device, no clock, no random choice.

use flashscope_device::Bytes;

use flashscope_record::finding::{Confidence, Finding, FindingId, FtlClass, Outcome, Value};
use flashscope_record::observation::{
    AlignData, BlockEndsData, Cause, Data, Ended, FatAreaData, Merges, Observations, OpenUnitsData, Order,
    Source, SustainedData, WriteBufferData, WriteSizeData,
};

use crate::geometry::{align, block_ends, page};
use crate::method::Method;
use crate::open_blocks::{fat_area, ftl_class, merge, open_units};
use crate::published::Published;
use crate::sanity;
use crate::size_sweep::sweep;
use crate::size_sweep::write_unit::{self, SweepPoint};
use crate::streams::{sustained, write_buffer};
use crate::thresholds::SURE_ENOUGH;
use crate::virtual_stick::of_a_virtual_stick;
use flashscope_record::run_file::RunFile;

/// Everything that a set of observations of one device tells: one finding per [`FindingId`], in that order.
#[must_use]
pub fn infer(observations: &[Observations]) -> Vec<Finding> {
    infer_by(observations, Method::default())
}

/// The same with parts of the method left out, as they were while it was measured.
#[must_use]
pub fn infer_by(observations: &[Observations], method: Method) -> Vec<Finding> {
    let seen = Seen::sort(observations);
    let ladder = seen.ladder();
    let of_stream = seen.page_of_stream();
    let align = align::infer(&seen.align, method, of_stream.as_ref().and_then(sure_page));
    let boundaries_show = shows_surely(&align.boundary_signal) || of_stream.as_ref().is_some_and(is_sure);
    let ([linear, random, class, merge], maps_less) = seen.open_units();
    let write_buffer = write_buffer::write_buffer(seen.write_buffer);
    let [cache, sustained] = seen.sustained(&write_buffer);
    let erase_block = block_ends::or(align.erase_block, &align.blocks, seen.block_ends);
    let assumed = seen.assumed_erase_block(&erase_block);
    let is_published = seen.open_units.is_empty() && seen.fat_area.is_empty();
    let from_reads = if device_failed(observations) { undecided_by_writes(align.page) } else { align.page };
    let changed = seen.write_size.last().and_then(|data| sweep::changed(data));
    let (page, write_unit) = match changed {
        None if seen.write_size.is_empty() => {
            (page(from_reads, of_stream, &ladder), seen.published_write_unit(&ladder))
        }
        None => (page(from_reads, of_stream, &ladder), write_unit::write_unit(&ladder)),
        Some(changed) => (page(from_reads, of_stream, &[]), write_unit::of_another_speed(changed)),
    };
    let may_be_guessed = erase_block.value().is_none()
        && page.value().is_some()
        && linear.confidence().get() * OF_OTHER_BLOCKS >= SURE_ENOUGH
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
        align.boundary_signal,
        cache,
        sustained,
        write_buffer,
    ];
    if let Some(assumed) = assumed {
        findings.iter_mut().filter(|finding| rests_on_erase_block(finding.id, maps_less)).for_each(
            |finding| {
                let stands = is_published || may_be_guessed && may_rest_on_a_guess(finding.id);
                doubt(finding, &assumed, stands);
            },
        );
    }
    let is_known =
        |id: FindingId| findings.iter().any(|finding| finding.id == id && finding.value().is_some());
    let shows_flash =
        boundaries_show || is_known(FindingId::EraseBlockBytes) || is_known(FindingId::PageBytes);
    if !shows_flash {
        findings.iter_mut().for_each(unless_flash);
    }
    if let Some(objection) = sanity::objection(observations, boundaries_show) {
        findings.iter_mut().for_each(|finding| objection.apply(finding));
    }
    findings.into_iter().map(unless_unsure).map(|finding| with_reason(finding, observations)).collect()
}

/// What a run tells: all findings, known or not; where nothing but speeds was measured, those that speeds are about.
#[must_use]
pub fn infer_run(observations: &[Observations]) -> Vec<Finding> {
    let findings = infer(observations);
    if observations.is_empty() || !observations.iter().all(|seen| seen.data.is_of_speed()) {
        return findings;
    }
    let is_told = |finding: &Finding| observations.iter().any(|seen| concerns(finding.id, &seen.data));
    findings.into_iter().filter(is_told).collect()
}

/// All findings of a run; of a virtual stick in words that fit one.
#[must_use]
pub fn findings_of(run: &RunFile) -> Vec<Finding> {
    in_words_that_fit(run, infer(&run.observations))
}

/// The findings of a run that its experiments are about, as [`infer_run`]; of a virtual stick in words that fit one.
#[must_use]
pub fn relevant_findings_of(run: &RunFile) -> Vec<Finding> {
    in_words_that_fit(run, infer_run(&run.observations))
}

fn in_words_that_fit(run: &RunFile, findings: Vec<Finding>) -> Vec<Finding> {
    if run.is_of_a_virtual_stick() { of_a_virtual_stick(findings) } else { findings }
}

/// A value that is not sure enough becomes an unknown that says so.
fn unless_unsure(mut finding: Finding) -> Finding {
    let Outcome::Found { value, confidence, .. } = &finding.outcome else { return finding };
    if confidence.get() < SURE_ENOUGH {
        let because = Some(&finding.evidence).filter(|text| !text.is_empty());
        let because = because.map_or_else(String::new, |text| format!(": {text}"));
        let reason = format!("{value} is only {:.0} % likely{because}", confidence.get() * 100.0);
        finding.outcome = Outcome::Unknown { reason, would_decide: "more measurements".to_owned() };
        finding.evidence.clear();
    }
    finding
}

/// Every erase block that reads leave, with its probability.
#[must_use]
pub fn erase_blocks(observations: &[Observations], method: Method) -> Vec<(Bytes, f64)> {
    let seen = Seen::sort(observations);
    align::infer(&seen.align, method, seen.page_of_stream().as_ref().and_then(sure_page)).blocks
}

/// From this confidence on a page that writes showed narrows down what reads may mean.
const SURE: f64 = 0.95;

fn sure_page(page: &Finding) -> Option<Bytes> {
    page.bytes().filter(|_| is_sure(page))
}

fn shows_surely(signal: &Finding) -> bool {
    is_sure(signal) && matches!(signal.value(), Some(Value::Shows(Some(_))))
}

fn is_sure(finding: &Finding) -> bool {
    matches!(&finding.outcome, Outcome::Found { confidence, .. } if confidence.get() >= SURE)
}

/// What the last search for open units tells of merges, beside their number.
#[must_use]
pub fn merges(observations: &[Observations]) -> Option<Merges> {
    let data = Seen::sort(observations).open_units.last().copied()?;
    open_units::Search::new(data).ok().map(|search| search.merges())
}

/// Observations by experiment.
#[derive(Default)]
struct Seen<'a> {
    align: Vec<(&'a AlignData, &'a Observations)>,
    open_units: Vec<&'a OpenUnitsData>,
    published: Vec<&'a OpenUnitsData>,
    write_size: Vec<&'a WriteSizeData>,
    /// Whether a log has speeds by request size without the number of blocks that were written in turn.
    has_uncounted_speeds: bool,
    fat_area: Vec<&'a FatAreaData>,
    block_ends: Option<&'a BlockEndsData>,
    published_fat_area: Vec<&'a FatAreaData>,
    sustained: Option<(&'a SustainedData, &'a Observations)>,
    write_buffer: Option<&'a WriteBufferData>,
}

impl<'a> Seen<'a> {
    fn sort(observations: &'a [Observations]) -> Self {
        let mut seen = Self::default();
        for each in observations {
            let measured = each.conditions.source == Source::Measured;
            match &each.data {
                Data::Align(data) if !data.samples.is_empty() => seen.align.push((data, each)),
                Data::OpenUnits(data) if measured => seen.open_units.push(data),
                Data::OpenUnits(data) => seen.published.push(data),
                Data::WriteSize(data) if measured => seen.write_size.push(data),
                Data::WriteSize(_) => seen.has_uncounted_speeds = true,
                Data::FatArea(data) if measured => seen.fat_area.push(data),
                Data::FatArea(data) => seen.published_fat_area.push(data),
                Data::Sustained(data) => seen.sustained = Some((data, each)),
                Data::WriteBuffer(data) => seen.write_buffer = Some(data),
                Data::BlockEnds(data) => seen.block_ends = Some(data),
                Data::Align(_) | Data::Speed(_) | Data::Files(_) | Data::Methods(_) => {}
            }
        }
        seen
    }

    fn tables(&self) -> Published {
        Published::new(&self.published)
    }

    /// Writes by size, all in linear order: our own ladder, or the rows of published tables that fit.
    fn ladder(&self) -> Vec<SweepPoint> {
        let measured = self.write_size.last().map(|data| sweep::sweep_points(&data.cells));
        measured.filter(|ladder| !ladder.is_empty()).unwrap_or_else(|| self.tables().ladder())
    }

    /// The write unit of published tables, as sure as one run can be. Speeds without a number of units tell none: beyond the open units
    /// they are those of merges, and several such tables may be of several numbers.
    fn published_write_unit(&self, ladder: &[SweepPoint]) -> Finding {
        if ladder.is_empty() && self.has_uncounted_speeds {
            let reason = "the log does not say into how many blocks in turn its speeds were written: they may be those of merges";
            return Finding::unknown(FindingId::WriteUnitBytes, reason, "the number of units (--open-au-nr)");
        }
        of_one_run(write_unit::write_unit(ladder))
    }

    /// The page as the stream of our own writes shows it.
    fn page_of_stream(&self) -> Option<Finding> {
        self.write_size.last().and_then(|data| page::page(data))
    }

    /// Linear, random, class, merge; and whether the layer maps less than an erase block at once, so that these do not rest on its size.
    fn open_units(&self) -> ([Finding; 4], bool) {
        let Some(data) = self.open_units.last() else { return (self.published_open_units(), false) };
        let search = open_units::Search::new(data);
        let maps_less = search.as_ref().is_ok_and(open_units::Search::maps_less);
        let findings = [
            open_units::open_units(&search, Order::Linear),
            open_units::open_units(&search, Order::Random),
            ftl_class::ftl_class(data, &search),
            merge::merge_seconds(&search),
        ];
        (findings, maps_less)
    }

    fn published_open_units(&self) -> [Finding; 4] {
        const IDS: [FindingId; 4] = [
            FindingId::OpenUnitsLinear,
            FindingId::OpenUnitsRandom,
            FindingId::FtlClass,
            FindingId::MergeSeconds,
        ];
        if self.published.is_empty() {
            let reason = "no writes into erase blocks in turn were measured";
            return IDS.map(|id| Finding::unknown(id, reason, "write tests (--erase)"));
        }
        let tables = self.tables();
        let merge = "a table of means does not tell single merges";
        [
            tables.open_units(Order::Linear),
            tables.open_units(Order::Random),
            tables.ftl_class(),
            Finding::unknown(FindingId::MergeSeconds, merge, "write tests on the device (--erase)"),
        ]
    }

    /// A sentence about the erase block that the writes assumed, if that is not the one found.
    fn assumed_erase_block(&self, found: &Finding) -> Option<String> {
        let measured = !self.open_units.is_empty() || !self.fat_area.is_empty();
        if measured && self.align.is_empty() {
            // Nobody looked for it: the person who measured named it.
            return None;
        }
        let open_units = self.open_units.last().or(self.published.last()).map(|data| data.erase_block);
        let assumed = open_units.or(self.fat_area.last().map(|data| data.erase_block))?;
        match found.bytes() {
            Some(found) if found == assumed => None,
            Some(found) => {
                Some(format!("measured with an erase block of {assumed}, not the {found} found here"))
            }
            None => Some(format!("measured with an assumed erase block of {assumed}")),
        }
    }

    /// Whether blocks of the size that the writes assumed, so many in turn, are hardly ever parts of the same erase block: there is only one, or
    /// the device holds far more of them.
    fn lie_far_apart(&self, number: u32, observations: &[Observations]) -> bool {
        let capacity = observations.iter().find_map(|seen| seen.conditions.capacity).unwrap_or_default();
        let room = |data: &&OpenUnitsData| capacity / data.erase_block / ROOM_FOR_EACH;
        number == 1 || self.open_units.last().is_some_and(|data| u64::from(number) <= room(data))
    }

    /// Cache, speed.
    fn sustained(&self, write_buffer: &Finding) -> [Finding; 2] {
        let capacity = self.sustained.and_then(|(_, seen)| seen.conditions.capacity);
        let buffer = match write_buffer.outcome {
            Outcome::Found { high: Value::Bytes(high), .. } => Some(high).filter(|high| *high > Bytes::ZERO),
            _ => None,
        };
        let [mut cache, speed] = sustained::sustained(self.sustained.map(|(data, _)| data), capacity, buffer);
        let may_be_memory = |bytes: Bytes| bytes > Bytes::ZERO && bytes <= MEMORY_AT_MOST;
        if self.write_buffer.is_none() && cache.bytes().is_some_and(may_be_memory) {
            cache.caveats.push(MAY_BE_MEMORY.to_owned());
        }
        [cache, speed]
    }

    fn fat_area(&self) -> Finding {
        match self.fat_area.last() {
            Some(data) => fat_area::infer(data),
            None => fat_area::of_tables(&self.published_fat_area),
        }
    }
}

/// A few controllers have so much memory for what is written.
const MEMORY_AT_MOST: Bytes = Bytes::mib(64);
const MAY_BE_MEMORY: &str = "as much memory in the controller would look the same (measure write-buffer)";

const fn rests_on_erase_block(id: FindingId, maps_less: bool) -> bool {
    match id {
        FindingId::OpenUnitsLinear | FindingId::FtlClass | FindingId::MergeSeconds => !maps_less,
        FindingId::OpenUnitsRandom | FindingId::FatAreaBytes => true,
        _ => false,
    }
}

/// What was measured in blocks of a size that nobody found is so much as sure.
const OF_OTHER_BLOCKS: f64 = 0.9;

/// Of blocks of an assumed size the device holds so many for each that was written in turn.
const ROOM_FOR_EACH: u64 = 64;

/// Whether blocks of another size than the true one hardly ever lead to another answer: they lie far apart, and the start of each is
/// written in order. (Of 1000 random sticks two or so have such an answer; all of fourteen that were looked at were right.)
const fn may_rest_on_a_guess(id: FindingId) -> bool {
    matches!(id, FindingId::OpenUnitsLinear | FindingId::FtlClass | FindingId::MergeSeconds)
}

/// What else holds up equal writes for a while, such as a turn of a disk, looks like a collection of pages where nothing else shows flash.
fn unless_flash(finding: &mut Finding) {
    if finding.value() == Some(Value::Class { class: FtlClass::PageMapped, above: None }) {
        let reason = "page-mapped, if it is flash: neither a page nor an erase block shows".to_owned();
        let would_decide = "the page, or the erase block".to_owned();
        finding.outcome = Outcome::Unknown { reason, would_decide };
        finding.evidence.clear();
    }
}

/// A published table rests on the erase block that somebody chose, who had seen more than the log shows: that costs a
/// tenth of the confidence, and so does a guess of ours where that is good enough. Else what was measured in blocks of another size is
/// not known.
fn doubt(finding: &mut Finding, caveat: &str, stands: bool) {
    let Outcome::Found { value, confidence, .. } = &mut finding.outcome else { return };
    if stands {
        *confidence = Confidence::new(confidence.get() * OF_OTHER_BLOCKS);
        finding.caveats.push(caveat.to_owned());
    } else {
        let reason = format!("{value}, if the blocks were right: {caveat}");
        finding.outcome =
            Outcome::Unknown { reason, would_decide: "the erase block (measure --erase-block)".to_owned() };
    }
}
/// A write unit by a published table is that of one run: five logs of one card have 8 to 64 KiB (corpus, wirenboard card no. 3).
fn of_one_run(mut unit: Finding) -> Finding {
    if let Outcome::Found { confidence, .. } = &mut unit.outcome {
        *confidence = Confidence::new(confidence.get().min(UNIT_OF_ONE_RUN));
    }
    unit
}

const UNIT_OF_ONE_RUN: f64 = 0.85;

/// Writes know the effective page better than reads; where both tell, they are held against each other.
fn page(from_reads: Finding, of_stream: Option<Finding>, ladder: &[SweepPoint]) -> Finding {
    let from_writes = of_stream.unwrap_or_else(|| write_unit::page(ladder));
    match (from_writes.bytes(), from_reads.bytes()) {
        (None, _) => from_reads,
        (Some(writes), Some(reads)) if !writes.is_multiple_of(reads) => {
            from_writes.with_caveat(format!("reads suggest a page of {reads}"))
        }
        (Some(_), _) => from_writes,
    }
}

/// Whether the device was gone, or failed too often, while reads or writes were to tell the page.
fn device_failed(observations: &[Observations]) -> bool {
    observations.iter().any(|seen| {
        matches!(seen.ended, Ended::Early { cause: Cause::Device, .. })
            && matches!(seen.data, Data::Align(_) | Data::WriteSize(_))
    })
}

/// A page that reads show is a guess as long as writes may work in a multiple of it, and the device failed before they told.
fn undecided_by_writes(page: Finding) -> Finding {
    if page.value().is_none() {
        return page;
    }
    let reason = format!("{}; whether writes work in a multiple of it was not seen", page.evidence);
    Finding::unknown(
        FindingId::PageBytes,
        reason,
        "the device at another port or reader, if it still answers there",
    )
}

/// An unknown whose experiment ended early, or did not start, says so, and what would have let it go on.
fn with_reason(mut finding: Finding, observations: &[Observations]) -> Finding {
    let Outcome::Unknown { reason, would_decide } = &mut finding.outcome else { return finding };
    if observations.iter().any(wrote) {
        *would_decide = without_write_tests(would_decide);
    }
    for seen in observations.iter().filter(|seen| concerns(finding.id, &seen.data)) {
        match &seen.ended {
            Ended::Complete => {}
            Ended::NotStarted { reason: why, would_decide: what } => {
                reason.clone_from(why);
                if !what.is_empty() {
                    would_decide.clone_from(what);
                }
            }
            Ended::Early { reason: why, cause } => {
                // Several experiments may have ended for the same reason.
                if !reason.contains(why.as_str()) {
                    *reason = format!("{reason} (the measurement ended early: {why})");
                }
                if let Some(what) = cause.would_decide() {
                    what.clone_into(would_decide);
                }
            }
        }
    }
    finding
}

const WRITE_TESTS: &str = "write tests (--erase)";

/// What else would decide, where write tests were made and did not.
fn without_write_tests(would_decide: &str) -> String {
    let parts = || would_decide.split(", ").map(|part| part.trim_start_matches("or "));
    let others: Vec<&str> = parts().filter(|part| *part != WRITE_TESTS).collect();
    match others.len() {
        0 => "a quieter machine, or a faster port or reader".to_owned(),
        all if all == parts().count() => would_decide.to_owned(),
        _ => others.join(", or "),
    }
}

/// Whether these are of a write test that began.
fn wrote(seen: &Observations) -> bool {
    let is_write_test =
        matches!(seen.data, Data::WriteSize(_) | Data::BlockEnds(_) | Data::OpenUnits(_) | Data::FatArea(_));
    is_write_test
        && matches!(seen.conditions.source, Source::Measured)
        && !matches!(seen.ended, Ended::NotStarted { .. })
}

const fn concerns(id: FindingId, data: &Data) -> bool {
    matches!(
        (id, data),
        (FindingId::EraseBlockBytes, Data::Align(_) | Data::BlockEnds(_))
            | (FindingId::ReadBoundarySignal, Data::Align(_))
            | (FindingId::PageBytes | FindingId::WriteUnitBytes, Data::WriteSize(_))
            | (
                FindingId::OpenUnitsLinear
                    | FindingId::OpenUnitsRandom
                    | FindingId::FtlClass
                    | FindingId::MergeSeconds,
                Data::OpenUnits(_)
            )
            | (FindingId::FatAreaBytes, Data::FatArea(_))
            | (FindingId::SlcCacheBytes | FindingId::SustainedWriteBytesPerS, Data::Sustained(_))
            | (FindingId::WriteBufferBytes, Data::WriteBuffer(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_tests_that_were_made_decide_no_more() {
        assert_eq!(without_write_tests(WRITE_TESTS), "a quieter machine, or a faster port or reader");
        let fill = "a fill of the device before reading";
        assert_eq!(
            without_write_tests("write tests (--erase), or a fill of the device before reading"),
            fill
        );
        assert_eq!(
            without_write_tests("a fill of the device before reading, or write tests (--erase)"),
            fill
        );
        assert_eq!(without_write_tests("more units, on a larger device"), "more units, on a larger device");
    }
}
