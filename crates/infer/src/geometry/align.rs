//! Erase block and page from reads across boundaries.

use std::collections::BTreeSet;

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Outcome, Value};
use flashscope_record::observation::{AlignData, AlignSample, Contents, Observations, Source};

use crate::geometry::boundary::figure::Figures;
use crate::geometry::boundary_signal::boundary_signal;
use crate::geometry::staircase::{Explanation, Level, Positions, Step, explain};
use crate::geometry::{boundary, staircase};
use crate::method::Method;
use crate::statistics::{count, median};
use crate::thresholds::SURE_ENOUGH;

/// A step below this share of a read's time is not taken for a boundary in a published table, whose noise is not known: an NVMe
/// drive's alignment effects are 1 to 3 %.
const PUBLISHED_STEP_SHARE_MIN: f64 = 0.05;
/// The largest erase block that a published table shows; the largest allocation unit that cards may state is 64 MiB (the SD status
/// register), but reads that differ from there on are those of larger groups as well: a PQI card's at 1 GiB, by who measured it.
const PUBLISHED_BLOCK_MAX: Bytes = Bytes::mib(32);
/// The smallest on a device whose table reaches up to [`LARGE`]: blocks of 128 and 256 KiB are those of devices of 2 GB and less; a card of
/// 4 GB was taken to have 512 KiB (SanDisk, testdata/published).
const LARGE_DEVICES_BLOCK_MIN: Bytes = Bytes::kib(512);
/// flashbench begins at an eighth of the device or less, so that such a candidate is of one with more than 2 GB.
const LARGE: Bytes = Bytes::mib(512);
/// Beside the boundaries of pages a block's step counts from this share of that on, if both together count: reads that feel pages
/// are those of flash.
const STEP_BESIDE_PAGES: f64 = 0.5;
/// The shares of slow reads at a block's edges and elsewhere must differ by so many standard errors: more than chance does with
/// every size there is.
const CLEAR: f64 = 5.0;
/// And by so much, or by this part of what the block's step would make of the others if each took as much longer: where the noise is many
/// times the step that is little.
const SHARES_APART_MIN: f64 = 0.08;
const SHARES_AS_STEPS: f64 = 0.5;
/// Of a published table so many rows must be on the slow side, which are this share of those expected there, as of the others on the
/// quick one.
const ROWS_MIN: usize = 3;
const ROWS_AGREE: f64 = 0.75;
/// What a model can be wrong about that its own posterior does not know.
const MODEL_DOUBT: f64 = 0.01;

/// How sure a page is that only reads showed: they see that of one plane, and a write may fill several planes' pages at once. So many
/// of those found in the zoo are the effective page (docs/statistics.md).
const PAGE_BY_READS: f64 = 0.85;

/// What reads say about erase block and page.
pub struct AlignFindings {
    /// The erase block.
    pub erase_block: Finding,
    /// Every erase block that fits, with its probability.
    pub blocks: Vec<(Bytes, f64)>,
    /// The page.
    pub page: Finding,
    /// Whether reads show a boundary of either.
    pub boundary_signal: Finding,
}

/// What a read beside a boundary takes, and the smallest step that is taken for a boundary, seconds.
#[derive(Debug, Clone, Copy)]
pub struct ReadTimes {
    /// What a read takes.
    pub read_s: f64,
    /// The smallest step that counts.
    pub step_min_s: f64,
    /// A step that is so many times as large makes a smaller page's beside it a detail of addressing.
    pub hardly: f64,
    /// The smallest erase block that is looked for.
    pub block_min: Bytes,
    /// Whether the reads are those of published tables.
    pub is_published: bool,
}

impl ReadTimes {
    fn of(read_s: f64, positions: Positions) -> Self {
        // The steps of a published table are not known well enough for that.
        let (step_min_s, hardly, block_min) = match positions {
            Positions::Coprime => (
                boundary::limits::step_min_s(read_s),
                boundary::limits::HARDLY,
                boundary::limits::ERASE_BLOCK_MIN,
            ),
            Positions::OddMultiples => {
                (read_s * PUBLISHED_STEP_SHARE_MIN, f64::INFINITY, staircase::ERASE_BLOCK_MIN)
            }
        };
        let is_published = positions == Positions::OddMultiples;
        Self { read_s, step_min_s, hardly, block_min, is_published }
    }
}

/// Infers from one or more *align* experiments on the same device, whose page may be known from writes. Published tables are judged one by
/// one as well: what their mean says is no answer if they differ.
#[must_use]
pub fn infer(
    experiments: &[(&AlignData, &Observations)],
    method: Method,
    known_page: Option<Bytes>,
) -> AlignFindings {
    let all = infer_together(experiments, method, known_page);
    let is_published = |(_, seen): &(&AlignData, &Observations)| seen.conditions.source != Source::Measured;
    if experiments.len() < 2 || !experiments.iter().all(is_published) {
        return all;
    }
    let alone = |one| infer_together(&[one], method, known_page).erase_block;
    let blocks: BTreeSet<Bytes> = experiments.iter().filter_map(|one| alone(*one).bytes()).collect();
    match (blocks.first(), blocks.last()) {
        (Some(least), Some(most)) if least != most => {
            let reason = format!(
                "the log contradicts itself: an erase block of {least} by one table, of {most} by another"
            );
            let would_decide = "the table once more, of one card";
            let erase_block = Finding::unknown(FindingId::EraseBlockBytes, reason, would_decide);
            AlignFindings { erase_block, ..all }
        }
        _ => all,
    }
}

fn infer_together(
    experiments: &[(&AlignData, &Observations)],
    method: Method,
    known_page: Option<Bytes>,
) -> AlignFindings {
    let samples: Vec<AlignSample> = experiments.iter().flat_map(|(data, _)| data.samples.clone()).collect();
    let positions = match experiments.first().map(|(_, seen)| &seen.conditions.source) {
        Some(Source::Published { .. }) => Positions::OddMultiples,
        _ => Positions::Coprime,
    };
    let steps = steps(&samples);
    let Some(read_time) = read_time(&samples).filter(|_| !steps.is_empty()) else {
        return unknown(
            "no read across a boundary was measured",
            "reads across boundaries (check, or measure align)",
        );
    };
    let explanations = match positions {
        Positions::Coprime => Figures::of(&samples)
            .map_or_else(Vec::new, |figures| boundary::explain(&figures, method, known_page)),
        Positions::OddMultiples => explain(&steps, positions, read_time),
    };
    if explanations.is_empty() {
        return match positions {
            Positions::Coprime => unknown(
                "too few boundaries were read more than once to know how far reads differ by chance",
                "more reads across boundaries (check, or measure align)",
            ),
            Positions::OddMultiples => unknown(
                "too few candidate sizes were read",
                "a larger device, or a log that is not cut short",
            ),
        };
    }
    let reads = ReadTimes::of(read_time, positions);
    let erase_block = match positions {
        Positions::Coprime => {
            held_against(erase_block(&explanations, &steps, reads), &samples, &explanations)
        }
        Positions::OddMultiples => {
            held_against_rows(erase_block(&explanations, &steps, reads), &samples, &explanations)
        }
    };
    let contents =
        experiments.iter().map(|(data, _)| data.contents).find(|each| each.mostly_blank() == Some(true));
    AlignFindings {
        erase_block: with_contents(erase_block, contents),
        blocks: blocks(&explanations),
        page: page(&explanations, reads),
        boundary_signal: with_contents(boundary_signal(&explanations, positions, &samples, reads), contents),
    }
}

/// Nothing found on a device that is mostly blank may be due to just that.
fn with_contents(mut finding: Finding, blank: Option<Contents>) -> Finding {
    if let (Outcome::Unknown { reason, would_decide }, Some(contents)) = (&mut finding.outcome, blank) {
        reason.push_str(&format!(
            "; {contents}, and a controller may answer for what was never written, or was trimmed, without touching flash"
        ));
        "a fill of the device before reading, or write tests (--erase)".clone_into(would_decide);
    }
    finding
}

/// Holds a found block against every single read. Medians alone can be led astray where a part of the reads is held up or cached.
fn held_against(finding: Finding, samples: &[AlignSample], explanations: &[Explanation]) -> Finding {
    let Some(block) = finding.bytes() else { return finding };
    let best = explanations.iter().find(|each| each.block.is_some_and(|level| level.size() == block));
    let Some(apart) = Apart::of(block, samples, best) else { return finding };
    if apart.backs_the_block() {
        return finding;
    }
    let reason = format!(
        "{block} would fit, but only {:.0} % of the reads across its multiples are slower, and {:.0} % of the others are too",
        apart.at_edge.part * 100.0,
        apart.inside.part * 100.0
    );
    Finding::unknown(finding.id, reason, "reads on a quieter machine, or write tests (--erase)")
}

/// Whether single reads are as slow as the block that fits best says, as far as so many tell; also where none fits.
#[must_use]
pub fn single_reads_agree(samples: &[AlignSample], explanations: &[Explanation]) -> bool {
    let best = explanations.first();
    let block = best.and_then(|best| best.block);
    let apart = block.and_then(|block| Apart::of(block.size(), samples, best));
    apart.is_none_or(Apart::backs_the_block)
}

/// How many reads are slow, which is to take longer than the middle between most at a block's edges and most others.
#[derive(Debug, Clone, Copy)]
struct Apart {
    at_edge: Share,
    inside: Share,
    /// How much larger the share inside would be if each read there took longer by the block's step.
    by_step: f64,
}

impl Apart {
    /// `None` if there are no reads on one of both sides.
    fn of(block: Bytes, samples: &[AlignSample], best: Option<&Explanation>) -> Option<Self> {
        let [across, beside] = beyond_pages(block, samples, best);
        let (edge, level) = (median(&across)?, median(&beside)?);
        let slow = |values: &[f64], longer: f64| {
            Share::of(values, |value| value + longer > f64::midpoint(edge, level))
        };
        let (at_edge, inside) = (slow(&across, 0.0), slow(&beside, 0.0));
        let by_step = slow(&beside, edge - level).part - inside.part;
        Some(Self { at_edge, inside, by_step })
    }

    /// Whether reads at the block's edges are clearly slow more often than others.
    fn backs_the_block(self) -> bool {
        let apart_min = SHARES_APART_MIN.min(SHARES_AS_STEPS * self.by_step);
        let error = self.at_edge.error.hypot(self.inside.error);
        self.at_edge.part - self.inside.part > (CLEAR * error).max(apart_min)
    }
}

/// How much longer reads across a block's edges take, and across others. What a page's boundary adds to a read is taken off: it tells
/// nothing of the block.
fn beyond_pages(block: Bytes, samples: &[AlignSample], best: Option<&Explanation>) -> [Vec<f64>; 2] {
    let pages = |sample: &AlignSample| best.map_or(0.0, |best| best.of_pages(sample.candidate));
    [true, false].map(|is_edge| {
        let of_side = samples.iter().filter(|sample| sample.candidate.is_multiple_of(block) == is_edge);
        of_side.map(|sample| sample.difference() - pages(sample)).collect()
    })
}

/// Holds a block that a published table shows against its rows: one that was held up as a whole is no boundary.
fn held_against_rows(finding: Finding, samples: &[AlignSample], explanations: &[Explanation]) -> Finding {
    let Some(block) = finding.bytes() else { return finding };
    let best = explanations.iter().find(|each| each.block.is_some_and(|level| level.size() == block));
    let [across, beside] = beyond_pages(block, samples, best);
    if rows_agree(&across, &beside) {
        return finding;
    }
    let reason =
        format!("{block} would fit, but single rows of the table stick out as far as those at its multiples");
    Finding::unknown(finding.id, reason, "the table once more, on a quieter machine")
}

/// Whether most rows at a boundary lie above the middle between both, and most of the others below.
pub fn rows_agree(across: &[f64], beside: &[f64]) -> bool {
    let (Some(high), Some(low)) = (median(across), median(beside)) else { return false };
    let middle = f64::midpoint(high, low);
    let above =
        |rows: &[f64]| count(rows.iter().filter(|row| **row > middle).count()) / count(rows.len().max(1));
    across.len() >= ROWS_MIN && above(across) >= ROWS_AGREE && above(beside) <= 1.0 - ROWS_AGREE
}

/// A share of values with its standard error, as if one more value had been there on either side.
#[derive(Debug, Clone, Copy)]
struct Share {
    part: f64,
    error: f64,
}

impl Share {
    fn of(values: &[f64], counts: impl Fn(f64) -> bool) -> Self {
        let counted = count(values.iter().filter(|value| counts(**value)).count());
        let all = count(values.len());
        let smoothed = (counted + 1.0) / (all + 2.0);
        Self { part: counted / all.max(1.0), error: (smoothed * (1.0 - smoothed) / (all + 2.0)).sqrt() }
    }
}

fn unknown(reason: &str, would_decide: &str) -> AlignFindings {
    AlignFindings {
        erase_block: Finding::unknown(FindingId::EraseBlockBytes, reason, would_decide),
        blocks: Vec::new(),
        page: Finding::unknown(FindingId::PageBytes, reason, would_decide),
        boundary_signal: Finding::unknown(FindingId::ReadBoundarySignal, reason, would_decide),
    }
}

/// One figure per candidate: the median over its samples, so that single outliers do not count.
#[must_use]
pub fn steps(samples: &[AlignSample]) -> Vec<Step> {
    let mut candidates: Vec<Bytes> = samples.iter().map(|sample| sample.candidate).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let figure = |candidate: Bytes| {
        let of_candidate = samples.iter().filter(|sample| sample.candidate == candidate);
        median(&of_candidate.map(AlignSample::difference).collect::<Vec<_>>())
    };
    candidates
        .into_iter()
        .filter_map(|candidate| Some(Step { candidate, extra: figure(candidate)? }))
        .collect()
}

/// The median time of a read beside a boundary, seconds.
fn read_time(samples: &[AlignSample]) -> Option<f64> {
    median(
        &samples
            .iter()
            .flat_map(|sample| [sample.before.as_secs_f64(), sample.after.as_secs_f64()])
            .collect::<Vec<_>>(),
    )
}

/// The probability of each value that `key` takes over the explanations, most probable first.
fn marginal<K: PartialEq>(explanations: &[Explanation], key: impl Fn(&Explanation) -> K) -> Vec<(K, f64)> {
    let mut sums: Vec<(K, f64)> = Vec::new();
    for explanation in explanations {
        let value = key(explanation);
        match sums.iter_mut().find(|(other, _)| *other == value) {
            Some((_, sum)) => *sum += explanation.probability,
            None => sums.push((value, explanation.probability)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

fn blocks(explanations: &[Explanation]) -> Vec<(Bytes, f64)> {
    let marginal = marginal(explanations, |each| each.block).into_iter();
    marginal.filter_map(|(level, probability)| Some((level?.size(), probability))).collect()
}

fn erase_block(explanations: &[Explanation], steps: &[Step], reads: ReadTimes) -> Finding {
    let id = FindingId::EraseBlockBytes;
    let marginal = marginal(explanations, |each| each.block);
    let Some(((block, probability), second)) = marginal.split_first() else {
        return Finding::unknown(id, "nothing explains the reads", "reads on a quieter machine");
    };
    let Some(best) = explanations.iter().find(|each| each.block == *block) else {
        return Finding::unknown(id, "nothing explains the reads", "reads on a quieter machine");
    };
    let would_decide = "write tests (--erase), or a fill of the device before reading";
    let (Some(block), Some(step)) = (block, best.block_step()) else {
        let reason = format!(
            "reads across boundaries of {} and more differ by no more than their noise of {}",
            steps
                .iter()
                .map(|step| step.candidate)
                .filter(|size| *size >= reads.block_min)
                .min()
                .unwrap_or(reads.block_min),
            time(best.noise)
        );
        return Finding::unknown(id, reason, would_decide);
    };
    let beside_pages = best.at_block().filter(|_| step >= reads.step_min_s * STEP_BESIDE_PAGES);
    if step.max(beside_pages.unwrap_or(0.0)) < reads.step_min_s {
        let reason = format!("reads of {} show steps of no more than {}", time(reads.read_s), time(step));
        return Finding::unknown(id, reason, would_decide);
    }
    if reads.is_published
        && let Some(why) = hardly_a_block(block.size(), steps)
    {
        let reason =
            format!("reads across multiples of {} take {} longer, but {why}", block.size(), time(step));
        return Finding::unknown(id, reason, would_decide);
    }
    if let Some(reason) = reads.is_published.then(|| two_boundaries(best, steps, reads)).flatten() {
        return Finding::unknown(id, reason, would_decide);
    }
    let others: Vec<String> = second
        .iter()
        .filter(|(_, probability)| *probability > 0.02)
        .filter_map(|(level, probability)| {
            Some(format!("{} ({:.0} %)", (*level)?.size(), probability * 100.0))
        })
        .collect();
    if *probability < SURE_ENOUGH {
        let best = format!("{} ({:.0} %)", block.size(), probability * 100.0);
        let reason = format!("the reads fit several sizes: {}", [vec![best], others].concat().join(", "));
        return Finding::unknown(id, reason, would_decide);
    }
    let value = Value::Bytes(block.size());
    let confidence = Confidence::new(probability * (1.0 - MODEL_DOUBT));
    let finding = Finding::exact(id, value, confidence, evidence(block, step, best.noise, steps));
    if others.is_empty() {
        finding
    } else {
        finding.with_caveat(format!("less likely: {}", others.join(", ")))
    }
}

/// Why a boundary of this size in a published table is hardly an erase block's, if it is not.
fn hardly_a_block(size: Bytes, steps: &[Step]) -> Option<String> {
    let largest = steps.iter().map(|step| step.candidate).max().unwrap_or(Bytes::ZERO);
    if size > PUBLISHED_BLOCK_MAX {
        return Some(format!(
            "erase blocks beyond {PUBLISHED_BLOCK_MAX} are hardly known: it may be a larger group"
        ));
    }
    (size < LARGE_DEVICES_BLOCK_MIN && largest >= LARGE).then(|| {
        format!("erase blocks below {LARGE_DEVICES_BLOCK_MIN} are those of smaller devices: it may be that of pages")
    })
}

/// What a published table says of a second boundary beyond that of the block, in one sentence, if it shows one that counts.
fn two_boundaries(best: &Explanation, steps: &[Step], reads: ReadTimes) -> Option<String> {
    let (block, step) = best.block.map(Level::size).zip(best.block_step())?;
    let (larger, more) =
        staircase::larger_boundary(best, steps, Positions::OddMultiples, PUBLISHED_BLOCK_MAX)
            .filter(|(_, more)| *more >= reads.step_min_s)?;
    Some(format!(
        "reads across multiples of {block} take {} longer, those across multiples of {larger} another {}: either may be the erase block",
        time(step),
        time(more)
    ))
}

fn evidence(block: &Level, step: f64, noise: f64, steps: &[Step]) -> String {
    let size = block.size();
    let below =
        steps.iter().filter(|step| !step.candidate.is_multiple_of(size)).map(|step| step.candidate).max();
    let beside = below.map_or_else(String::new, |below| {
        format!(" than one across other boundaries, up to those of {below}")
    });
    format!("a read across a multiple of {size} takes {} longer{beside} (noise {})", time(step), time(noise))
}

fn page(explanations: &[Explanation], reads: ReadTimes) -> Finding {
    let id = FindingId::PageBytes;
    let would_decide = "write tests (--erase)";
    let marginal = marginal(explanations, |each| each.page(reads.hardly).map(|(level, _)| level));
    let none = || Finding::unknown(id, "reads show no boundary of pages", would_decide);
    let Some((Some(level), probability)) = marginal.first().copied() else { return none() };
    let same = |each: &&Explanation| each.page(reads.hardly).is_some_and(|(other, _)| other == level);
    let Some((best, (_, step))) =
        explanations.iter().find(same).and_then(|best| Some((best, best.page(reads.hardly)?)))
    else {
        return none();
    };
    if step < reads.step_min_s {
        return none();
    }
    if let Level::OddMultiples(half) = level {
        let reason = format!(
            "reads across odd multiples of {half} take {} longer, those across multiples of {} do not: two planes' \
             pages inside one of at least {}",
            time(step),
            half * 2,
            half * 2
        );
        return Finding::unknown(id, reason, would_decide);
    }
    if probability < SURE_ENOUGH {
        let sizes: Vec<String> = marginal
            .iter()
            .take(3)
            .filter_map(|(level, _)| level.map(|level| level.size().to_string()))
            .collect();
        return Finding::unknown(id, format!("the reads fit pages of {}", sizes.join(" or ")), would_decide);
    }
    let mut text = format!("a read across a multiple of {} takes {} longer", level.size(), time(step));
    if let [small, planes] = best.pages[..]
        && small == level
    {
        text.push_str(&format!(
            ", and longer still across multiples of {}: several planes' pages together",
            planes.size()
        ));
    }
    let confidence = Confidence::new((probability * (1.0 - MODEL_DOUBT)).min(PAGE_BY_READS));
    Finding::exact(id, Value::Bytes(level.size()), confidence, text)
        .with_caveat("from reads alone; writes may work in a multiple of it")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Whether a block of 1 MiB holds whose edges take so many microseconds longer in this share of all reads, where any takes up to 600
    /// longer than any other by chance.
    fn holds(longer_us: u64, in_a_hundred: u64) -> bool {
        let mut draws = 5_u64;
        let mut draw = |below: u64| {
            draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draws >> 33) % below
        };
        let beside = Duration::from_micros(2000);
        let samples: Vec<AlignSample> = (0..20_000)
            .map(|index| {
                let is_edge = index % 2 == 0;
                let longer = if is_edge && draw(100) < in_a_hundred { longer_us } else { 0 };
                let across = Duration::from_micros(1700 + draw(600) + longer);
                let candidate = if is_edge { Bytes::mib(1) } else { Bytes::kib(512) };
                AlignSample { candidate, boundary: None, before: beside, across, after: beside }
            })
            .collect();
        let best = Explanation {
            pages: Vec::new(),
            block: Some(Level::Multiples(Bytes::mib(1))),
            coefficients: vec![0.0, Duration::from_micros(longer_us).as_secs_f64()],
            noise: 1e-6,
            probability: 1.0,
        };
        let value = Value::Bytes(Bytes::mib(1));
        let finding = Finding::exact(FindingId::EraseBlockBytes, value, Confidence::new(0.99), "");
        held_against(finding, &samples, &[best]).value().is_some()
    }

    #[test]
    fn a_small_step_need_not_part_more_reads_than_it_can() {
        assert!(holds(40, 100), "a fifteenth of the noise");
        assert!(!holds(0, 100), "nothing");
        assert!(!holds(300, 5), "one read in twenty was held up");
    }
}
