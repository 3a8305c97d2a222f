//! Erase block and page from reads across boundaries.

use std::collections::BTreeSet;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Caveat, Confidence, Evidence, Finding, FindingId, LogFault, Measurement, Outcome, Quantity, ReadEvidence,
    Reason, Sample, Value, WouldDecide,
};
use flashscope_record::observation::{AlignData, AlignSample, Contents, Observations, Source};

use crate::geometry::boundary::figure::Figures;
use crate::geometry::boundary::limits::ERASE_BLOCK_PLAUSIBLE_MAX;
use crate::geometry::boundary_signal::boundary_signal;
use crate::geometry::read_times::{ReadTimes, rows_agree};
use crate::geometry::staircase::{Explanation, Level, Positions, Step, explain};
use crate::geometry::{boundary, first_reads, staircase};
use crate::method::Method;
use crate::statistics::{count, median};
use crate::thresholds::{CLEAR, LITTLE, MODEL_ERROR, SURE_ENOUGH};

/// The largest erase block in a published table: half of [`ERASE_BLOCK_PLAUSIBLE_MAX`], as a mean without its
/// spread says less.
const PUBLISHED_BLOCK_MAX: Bytes = Bytes::mib(32);
/// The smallest erase block of a device whose table reaches up to [`LARGE`]: devices of at most 2 GB have
/// blocks of 128 and 256 KiB; a card of 4 GB was taken to have 512 KiB (SanDisk, testdata/published).
const LARGE_DEVICES_BLOCK_MIN: Bytes = Bytes::kib(512);
/// A candidate of this size is from a device above 2 GB: flashbench starts at an eighth of the device or
/// less.
const LARGE: Bytes = Bytes::mib(512);
/// Beside boundaries of pages, a block's step needs only this share of the least step, if both together reach
/// it: such reads come from flash. Guess.
const STEP_BESIDE_PAGES: f64 = 0.5;
/// The shares of slow reads at a block's boundaries and elsewhere differ by at least this, ... Guess.
const SHARES_APART_MIN: f64 = 0.08;
/// ... or by this part of the difference that the block's step alone would make, if the noise is many times
/// the step. Guess.
const SHARES_AS_STEPS: f64 = 0.5;
/// The confidence in a page by reads alone: reads see the page of one plane, and a write may fill several
/// planes' pages at once. 85 % of those found in the zoo are the effective page (docs/statistics.md).
const PAGE_BY_READS: f64 = 0.85;

/// Erase block and page by reads.
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

/// Infers from one or more *align* experiments on the same device, whose page may be known from writes.
/// Published tables are judged alone as well: if they differ, their mean is no answer.
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
            let id = FindingId::EraseBlockBytes;
            let reason = Reason::Log(LogFault::TablesDisagree { id, least: *least, most: *most });
            let erase_block = Finding::unknown(id, reason, [WouldDecide::TablesAgain]);
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
        let measurement = Measurement::BoundaryReads;
        return unknown(&Reason::NotMeasured(measurement), &[WouldDecide::Measure(measurement)]);
    };
    let explanations = match positions {
        Positions::Coprime => Figures::of(&samples)
            .map_or_else(Vec::new, |figures| boundary::explain(&figures, method, known_page)),
        Positions::OddMultiples => explain(&steps, positions, read_time),
    };
    if explanations.is_empty() {
        let too_few = |sample| Reason::TooFew { number: None, sample };
        return match positions {
            Positions::Coprime => {
                unknown(&too_few(Sample::RepeatedBoundaries), &[WouldDecide::More(Sample::Reads)])
            }
            Positions::OddMultiples => unknown(
                &too_few(Sample::Candidates),
                &[WouldDecide::Larger(Quantity::Device), WouldDecide::CompleteLog],
            ),
        };
    }
    let reads = ReadTimes::of(read_time, positions);
    let erase_block = match positions {
        Positions::Coprime => {
            unless_reads_disagree(erase_block(&explanations, &steps, reads), &samples, &explanations)
        }
        Positions::OddMultiples => {
            unless_rows_disagree(erase_block(&explanations, &steps, reads), &samples, &explanations)
        }
    };
    let contents =
        experiments.iter().map(|(data, _)| data.contents).find(|each| each.mostly_blank() == Some(true));
    let boundary_signal = boundary_signal(&explanations, positions, &samples, reads);
    let unless_loaded = |finding| with_contents(first_reads::unless_loaded(finding, &samples), contents);
    AlignFindings {
        erase_block: unless_loaded(erase_block),
        blocks: blocks(&explanations),
        page: page(&explanations, &steps, reads),
        boundary_signal: unless_loaded(boundary_signal),
    }
}

/// An unknown of a mostly blank device has that as a reason as well.
fn with_contents(mut finding: Finding, blank: Option<Contents>) -> Finding {
    if let (Outcome::Unknown { reason, would_decide }, Some(contents)) = (&mut finding.outcome, blank) {
        *reason = reason.clone().and(Reason::MostlyBlank(contents));
        *would_decide = vec![WouldDecide::Fill, WouldDecide::WriteTests];
    }
    finding
}

/// A block becomes an unknown if single reads disagree. Medians mislead where a part of the reads is delayed
/// or cached.
fn unless_reads_disagree(finding: Finding, samples: &[AlignSample], explanations: &[Explanation]) -> Finding {
    let Some(block) = finding.bytes() else { return finding };
    let best = explanations.iter().find(|each| each.block.is_some_and(|level| level.size() == block));
    let Some(shares) = SlowShares::of(block, samples, best) else { return finding };
    if shares.backs_the_block() {
        return finding;
    }
    let reason = Reason::SingleReadsDisagree {
        block: Some(block),
        slow: Some((shares.at_edge.part, shares.inside.part)),
    };
    Finding::unknown(finding.id, reason, [WouldDecide::QuieterMachine, WouldDecide::WriteTests])
}

/// Whether single reads agree with the block that fits best; also if none fits.
#[must_use]
pub fn single_reads_agree(samples: &[AlignSample], explanations: &[Explanation]) -> bool {
    let best = explanations.first();
    let block = best.and_then(|best| best.block);
    let shares = block.and_then(|block| SlowShares::of(block.size(), samples, best));
    shares.is_none_or(SlowShares::backs_the_block)
}

/// The shares of slow reads at a block's boundaries and elsewhere. Slow: above the middle between the medians
/// of both.
#[derive(Debug, Clone, Copy)]
struct SlowShares {
    at_edge: Share,
    inside: Share,
    /// The increase of the share inside if each read there took longer by the block's step.
    by_step: f64,
}

impl SlowShares {
    /// `None` without reads on either side.
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

    /// Whether reads at the block's boundaries are clearly slow more often than others.
    fn backs_the_block(self) -> bool {
        let difference_min = SHARES_APART_MIN.min(SHARES_AS_STEPS * self.by_step);
        let error = self.at_edge.error.hypot(self.inside.error);
        self.at_edge.part - self.inside.part > (CLEAR * error).max(difference_min)
    }
}

/// The extra time of reads across a block's boundaries, and across others, without what boundaries of pages
/// add.
fn beyond_pages(block: Bytes, samples: &[AlignSample], best: Option<&Explanation>) -> [Vec<f64>; 2] {
    let pages = |sample: &AlignSample| best.map_or(0.0, |best| best.of_pages(sample.candidate));
    [true, false].map(|is_edge| {
        let of_side = samples.iter().filter(|sample| sample.candidate.is_multiple_of(block) == is_edge);
        of_side.map(|sample| sample.difference() - pages(sample)).collect()
    })
}

/// A block by a published table becomes an unknown if its rows disagree: a row that was delayed as a whole is
/// no boundary.
fn unless_rows_disagree(finding: Finding, samples: &[AlignSample], explanations: &[Explanation]) -> Finding {
    let Some(block) = finding.bytes() else { return finding };
    let best = explanations.iter().find(|each| each.block.is_some_and(|level| level.size() == block));
    let [across, beside] = beyond_pages(block, samples, best);
    if rows_agree(&across, &beside) {
        return finding;
    }
    let reason = Reason::Log(LogFault::OutlierRows { block: Some(block) });
    Finding::unknown(finding.id, reason, [WouldDecide::TablesAgain])
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

fn unknown(reason: &Reason, would_decide: &[WouldDecide]) -> AlignFindings {
    let unknown = |id| Finding::unknown(id, reason.clone(), would_decide);
    AlignFindings {
        erase_block: unknown(FindingId::EraseBlockBytes),
        blocks: Vec::new(),
        page: unknown(FindingId::PageBytes),
        boundary_signal: unknown(FindingId::ReadBoundarySignal),
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
    let best = marginal.first().and_then(|(block, _)| explanations.iter().find(|each| each.block == *block));
    let (Some(((block, probability), others)), Some(best)) = (marginal.split_first(), best) else {
        return Finding::unknown(id, Reason::NothingFits, [WouldDecide::QuieterMachine]);
    };
    if let Err(reason) = is_block(best, steps, reads) {
        return Finding::unknown(id, reason, [WouldDecide::WriteTests, WouldDecide::Fill]);
    }
    let (Some(block), Some(extra_s)) = (*block, best.block_step()) else {
        return Finding::unknown(id, Reason::NothingFits, [WouldDecide::QuieterMachine]);
    };
    let others = others.iter().filter(|(_, probability)| *probability > LITTLE);
    let others: Vec<(Bytes, f64)> =
        others.filter_map(|(level, probability)| Some(((*level)?.size(), *probability))).collect();
    if *probability < SURE_ENOUGH {
        let all = std::iter::once((block.size(), *probability)).chain(others);
        let reason = Reason::SeveralFit(all.map(|(size, probability)| (size, Some(probability))).collect());
        return Finding::unknown(id, reason, [WouldDecide::WriteTests, WouldDecide::Fill]);
    }
    let confidence = Confidence::new(probability * (1.0 - MODEL_ERROR));
    let size = block.size();
    let below = steps.iter().map(|step| step.candidate).filter(|candidate| !candidate.is_multiple_of(size));
    let evidence = ReadEvidence::EraseBlock { size, extra_s, noise_s: best.noise, others_to: below.max() };
    let finding = Finding::exact(id, Value::Bytes(size), confidence, Evidence::Reads(evidence));
    if others.is_empty() { finding } else { finding.with_caveat(Caveat::LessLikely(others)) }
}

/// Whether the block of the best explanation is an erase block's.
///
/// # Errors
/// Why it is none.
fn is_block(best: &Explanation, steps: &[Step], reads: ReadTimes) -> Result<(), Reason> {
    let (Some(block), Some(step)) = (best.block, best.block_step()) else {
        let compared = steps.iter().map(|step| step.candidate).filter(|size| *size >= reads.block_min);
        let boundaries_from = Some(compared.min().unwrap_or(reads.block_min));
        return Err(Reason::WithinNoise { boundaries_from, read_s: reads.read_s, noise_s: best.noise });
    };
    let beside_pages = best.at_block().filter(|_| step >= reads.step_min_s * STEP_BESIDE_PAGES);
    if step.max(beside_pages.unwrap_or(0.0)) < reads.step_min_s {
        return Err(Reason::SmallStep { read_s: reads.read_s, step_s: step });
    }
    let size = block.size();
    let limit = if reads.is_published {
        exceeded_limit(size, steps)
    } else {
        (size > ERASE_BLOCK_PLAUSIBLE_MAX).then_some(ERASE_BLOCK_PLAUSIBLE_MAX)
    };
    if let Some(limit) = limit {
        return Err(Reason::UnlikelyBlock { size, extra_s: step, limit });
    }
    if !reads.is_published {
        return Ok(());
    }
    two_boundaries(best, steps, reads).map_or(Ok(()), |fault| Err(Reason::Log(fault)))
}

/// The limit of erase blocks that a boundary of this size in a published table exceeds, or falls below.
fn exceeded_limit(size: Bytes, steps: &[Step]) -> Option<Bytes> {
    let largest = steps.iter().map(|step| step.candidate).max().unwrap_or(Bytes::ZERO);
    if size > PUBLISHED_BLOCK_MAX {
        return Some(PUBLISHED_BLOCK_MAX);
    }
    (size < LARGE_DEVICES_BLOCK_MIN && largest >= LARGE).then_some(LARGE_DEVICES_BLOCK_MIN)
}

/// A second boundary beyond that of the block in a published table, if it has a step that counts.
fn two_boundaries(best: &Explanation, steps: &[Step], reads: ReadTimes) -> Option<LogFault> {
    let (smaller, smaller_s) = best.block.map(Level::size).zip(best.block_step())?;
    let (larger, larger_s) =
        staircase::larger_boundary(best, steps, Positions::OddMultiples, PUBLISHED_BLOCK_MAX)
            .filter(|(_, more)| *more >= reads.step_min_s)?;
    Some(LogFault::TwoBoundaries { smaller, smaller_s, larger, larger_s })
}

/// Whether the row of this page itself takes longer than those of smaller sizes, by at least half of the
/// page's step: a boundary of its own is what a page is.
fn shows_itself(steps: &[Step], size: Bytes, extra_s: f64) -> bool {
    let smaller: Vec<f64> =
        steps.iter().filter(|step| step.candidate < size).map(|step| step.extra).collect();
    let own = steps.iter().find(|step| step.candidate == size).map(|step| step.extra);
    own.zip(median(&smaller)).is_none_or(|(own, smaller)| own - smaller >= extra_s / 2.0)
}

fn page(explanations: &[Explanation], steps: &[Step], reads: ReadTimes) -> Finding {
    let id = FindingId::PageBytes;
    let unknown = |reason| Finding::unknown(id, reason, [WouldDecide::WriteTests]);
    let marginal = marginal(explanations, |each| each.page(reads.hardly).map(|(level, _)| level));
    let Some((Some(level), probability)) = marginal.first().copied() else {
        return unknown(Reason::NoPageInReads);
    };
    let same = |each: &&Explanation| each.page(reads.hardly).is_some_and(|(other, _)| other == level);
    let best = explanations.iter().find(same).and_then(|best| Some((best, best.page(reads.hardly)?)));
    let Some((best, (_, extra_s))) = best.filter(|(_, (_, step))| *step >= reads.step_min_s) else {
        return unknown(Reason::NoPageInReads);
    };
    if let Level::OddMultiples(half) = level {
        return unknown(Reason::TwoPlanes { half, extra_s });
    }
    if reads.is_published && !shows_itself(steps, level.size(), extra_s) {
        return unknown(Reason::Log(LogFault::OutlierRows { block: None }));
    }
    if probability < SURE_ENOUGH {
        let sizes = marginal.iter().take(3).filter_map(|(level, _)| Some(((*level)?.size(), None)));
        return unknown(Reason::SeveralFit(sizes.collect()));
    }
    let planes = match best.pages[..] {
        [small, planes] if small == level => Some(planes.size()),
        _ => None,
    };
    let evidence = Evidence::Reads(ReadEvidence::Page { size: level.size(), extra_s, planes });
    let confidence = Confidence::new((probability * (1.0 - MODEL_ERROR)).min(PAGE_BY_READS));
    Finding::exact(id, Value::Bytes(level.size()), confidence, evidence).with_caveat(Caveat::PageFromReads)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::{Conditions, Data, Ended};

    use super::*;

    /// Whether a block of 1 MiB is kept if `in_a_hundred` per cent of the reads at its boundaries take
    /// `longer_us` longer, with noise of up to 600 µs.
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
        let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 0.002, noise_s: 1e-6 });
        let finding = Finding::exact(FindingId::EraseBlockBytes, value, Confidence::new(0.99), evidence);
        unless_reads_disagree(finding, &samples, &[best]).value().is_some()
    }

    #[test]
    fn a_small_step_is_kept_if_single_reads_agree_as_far_as_it_allows() {
        assert!(holds(40, 100), "a step of a fifteenth of the noise");
        assert!(!holds(0, 100), "no step");
        assert!(!holds(300, 5), "one read in twenty is delayed");
    }

    /// An explanation by a page and a block, with this probability.
    fn explained(page_kib: u64, block_mib: u64, probability: f64) -> Explanation {
        Explanation {
            pages: vec![Level::Multiples(Bytes::kib(page_kib))],
            block: Some(Level::Multiples(Bytes::mib(block_mib))),
            coefficients: vec![0.0, 300e-6, 500e-6],
            noise: 1e-6,
            probability,
        }
    }

    #[test]
    fn step_of_a_group_of_erase_blocks_is_no_erase_block() {
        let reads = ReadTimes::of(0.002, Positions::Coprime);
        let steps = [32, 64, 128, 256].map(|mib| Step { candidate: Bytes::mib(mib), extra: 0.0 });
        let block = |mib| erase_block(&[explained(16, mib, 0.999)], &steps, reads);
        assert_eq!(block(64).bytes(), Some(Bytes::mib(64)));
        let group = block(256);
        let expected =
            Reason::UnlikelyBlock { size: Bytes::mib(256), extra_s: 500e-6, limit: Bytes::mib(64) };
        assert_eq!(group.reason(), Some(&expected), "{group:?}");
    }

    #[test]
    fn a_size_is_found_only_with_enough_probability() {
        let reads = ReadTimes::of(0.002, Positions::Coprime);
        let steps = [1, 2, 4, 8].map(|mib| Step { candidate: Bytes::mib(mib), extra: 0.0 });
        let sizes = |pages: [u64; 2], blocks: [u64; 2], first: f64| {
            let each = [explained(pages[0], blocks[0], first), explained(pages[1], blocks[1], 1.0 - first)];
            [erase_block(&each, &steps, reads), page(&each, &steps, reads)]
        };
        let [block, unsure_page] = sizes([8, 16], [4, 4], 0.79);
        assert_eq!((block.bytes(), unsure_page.bytes()), (Some(Bytes::mib(4)), None));
        assert!(matches!(unsure_page.reason(), Some(Reason::SeveralFit(sizes)) if sizes.len() == 2));
        let [unsure_block, page] = sizes([8, 8], [4, 8], 0.79);
        assert_eq!((unsure_block.bytes(), page.bytes()), (None, Some(Bytes::kib(8))));
        let several = vec![(Bytes::mib(4), Some(0.79)), (Bytes::mib(8), Some(1.0 - 0.79))];
        assert_eq!(unsure_block.reason(), Some(&Reason::SeveralFit(several)));
        let sure = sizes([8, 16], [4, 8], 0.81);
        assert_eq!(sure.clone().map(|finding| finding.bytes()), [Some(Bytes::mib(4)), Some(Bytes::kib(8))]);
        for finding in sure {
            assert!((finding.confidence().get() - 0.81 * 0.99).abs() < 1e-3, "{finding:?}");
        }
        let certain = sizes([8, 8], [4, 4], 1.0).map(|finding| finding.confidence().get());
        assert!((certain[0] - 0.99).abs() < 1e-3 && (certain[1] - PAGE_BY_READS).abs() < 1e-3, "{certain:?}");
    }

    #[test]
    fn a_block_of_a_published_table_is_found_only_if_its_rows_agree() {
        let found_with = |page_us: u64, extra_us: [u64; 4]| {
            let beside = Duration::from_micros(2000);
            let row = |(kib, extra): (u64, u64)| AlignSample {
                candidate: Bytes::kib(kib),
                boundary: None,
                before: beside,
                across: beside + Duration::from_micros(extra),
                after: beside,
            };
            let rows = [(4, 0), (4, 0), (4, 0), (4, 0), (1024, extra_us[0]), (1024, extra_us[1])];
            let samples: Vec<_> =
                rows.into_iter().chain([(2048, extra_us[2]), (4096, extra_us[3])]).map(row).collect();
            let value = Value::Bytes(Bytes::mib(1));
            let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 0.002, noise_s: 1e-6 });
            let finding = Finding::exact(FindingId::EraseBlockBytes, value, Confidence::new(0.99), evidence);
            let coefficients = vec![0.0, Duration::from_micros(page_us).as_secs_f64(), 5e-4];
            let best = Explanation { coefficients, ..explained(8, 1, 1.0) };
            unless_rows_disagree(finding, &samples, &[best])
        };
        let found = |extra_us: [u64; 4]| found_with(0, extra_us);
        assert_eq!(found([500, 480, 510, 0]).bytes(), Some(Bytes::mib(1)), "three of four rows");
        let outliers = Reason::Log(LogFault::OutlierRows { block: Some(Bytes::mib(1)) });
        assert_eq!(found([500, 0, 510, 0]).reason(), Some(&outliers), "two of four rows");
        // Each of these rows crosses a boundary of pages of 8 KiB as well, which takes 300 us.
        let with_pages = |extra_us: [u64; 4]| found_with(300, extra_us);
        assert_eq!(with_pages([800, 780, 810, 300]).bytes(), Some(Bytes::mib(1)), "three of four rows");
        assert_eq!(with_pages([800, 300, 810, 300]).reason(), Some(&outliers), "two of four rows");
    }

    #[test]
    fn an_unknown_block_of_a_mostly_blank_device_names_that() {
        let contents = Contents { looked_at: 16, blank: 15 };
        let time = Duration::from_micros(2000);
        let sample = |index: u64| AlignSample {
            candidate: Bytes::kib(64) * (1 << (index % 8)),
            boundary: None,
            before: time,
            across: time,
            after: time,
        };
        let data = AlignData { samples: (0..160).map(sample).collect(), contents, ..AlignData::default() };
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        let seen = Observations { data: Data::Align(data.clone()), conditions, ended: Ended::Complete };
        let found = infer(&[(&data, &seen)], Method::default(), None);
        for finding in [found.erase_block, found.boundary_signal] {
            let Outcome::Unknown { reason, would_decide } = &finding.outcome else { continue };
            assert!(format!("{reason:?}").contains("MostlyBlank"), "{finding:?}");
            assert_eq!(would_decide[..], [WouldDecide::Fill, WouldDecide::WriteTests]);
        }
    }
}
