//! The class of the translation layer, from our own measurements.

use flashscope_device::Bytes;

use flashscope_record::finding::{
    BlockEvidence, Caveat, Confidence, Evidence, Finding, FindingId, FtlClass, Measurement, Reason, Sample,
    Value, WouldDecide,
};
use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData, Order};

use crate::open_blocks::eviction::EvictionLaw;
use crate::open_blocks::limits::SURVEY_ROUNDS_RANDOM;
use crate::open_blocks::open_units::{LayerKind, Search, Undecidable, evidence, untried_random_order};
use crate::open_blocks::openings::{self, closes_fast, one_run_confidence};
use crate::open_blocks::posterior;
use crate::statistics::count;
use crate::thresholds::{CLEARLY_LONGER, LIKELY, LITTLE, MODEL_ERROR, NEARLY_ALL, REPEATED, SURE_ENOUGH};

const ID: FindingId = FindingId::FtlClass;

/// A class that holds for requests of every size.
const fn every_size(class: FtlClass) -> Value {
    Value::Class { class, above: None }
}

/// The class of the translation layer.
#[must_use]
pub fn ftl_class(data: &OpenUnitsData, search: &Result<Search<'_>, Undecidable>) -> Finding {
    let search = match search {
        Ok(search) => search,
        Err(undecidable) => return undecidable.finding(ID),
    };
    if let Some(finding) = of_special_kind(search) {
        return finding;
    }
    let Some(linear) = search.fits(Order::Linear) else { return without_number(search) };
    let above = escaping_request(data, search, linear);
    if search.fits(Order::Random) == Some(0) {
        return linear_only(search, above);
    }
    if search.kind == LayerKind::Blocks && !search.is_tried(Order::Random) {
        return untried_random_order(ID, search, Measurement::RandomWrites);
    }
    by_law(search, linear, above)
}

/// The class of layers that do not keep a number of blocks open.
fn of_special_kind(search: &Search<'_>) -> Option<Finding> {
    let (class, confidence, evidence) = match search.kind {
        LayerKind::Blocks => return None,
        LayerKind::OneRun => {
            let class = if closes_fast(search) { FtlClass::LogStructured } else { FtlClass::HybridLog };
            (class, one_run_confidence(search), openings::evidence(search))
        }
        LayerKind::Log => {
            let fits = search.fits(Order::Linear).unwrap_or(0);
            let extra_s = search.merge(Order::Linear, fits).map_or(0.0, |(seconds, _)| seconds);
            let evidence = BlockEvidence::ShortMerge { extra_s };
            // Blocks that take nothing in random order, and copy much faster than they write, look the same.
            (FtlClass::LogStructured, Confidence::new(LIKELY), Evidence::Blocks(evidence))
        }
        LayerKind::Collected(collection) => {
            let evidence = BlockEvidence::Collection { every: collection.every, extra_s: collection.seconds };
            // A log of many streams looks the same.
            (FtlClass::PageMapped, Confidence::new(LIKELY), Evidence::Blocks(evidence))
        }
    };
    Some(Finding::exact(ID, every_size(class), confidence, evidence))
}

/// The class if the number of open units is unknown, by writes into any number of blocks that is surely too
/// many.
fn without_number(search: &Search<'_>) -> Finding {
    if search.kind == LayerKind::Blocks && search.fits(Order::Random) == Some(0) {
        return linear_only(search, None);
    }
    if let Some(finding) = by_random_order(search) {
        return finding;
    }
    let posterior::Verdict { low, high, .. } = search.linear.verdict();
    if search.kind != LayerKind::Blocks || !search.shows_merges(Order::Linear) || high > posterior::OPEN_MAX {
        return Finding::unknown(ID, Reason::NoUpperCount, [WouldDecide::More(Sample::Blocks)]);
    }
    let takes_linear_only = search.random.numbers()[0];
    let (class, probability) = law(search);
    let probability = probability * (1.0 - takes_linear_only);
    let merge_s = search.merge(Order::Linear, low).map_or(0.0, |(seconds, _)| seconds);
    if probability < SURE_ENOUGH {
        let reason = Reason::BetweenRules { low, high, extra_s: merge_s, every_switch: None };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::Rounds)]);
    }
    let every_switch = class != FtlClass::LogStructured;
    let evidence =
        Evidence::Blocks(BlockEvidence::Merges { low, high, every_switch, merge_s, free_to: None });
    Finding::exact(ID, every_size(class), Confidence::new(probability.min(LIKELY)), evidence)
}

/// The class if nothing merges in sequential order, as on a new stick that has nothing to copy, and every
/// switch does in random order.
fn by_random_order(search: &Search<'_>) -> Option<Finding> {
    let fits = search.fits(Order::Random).filter(|_| search.kind == LayerKind::Blocks)?;
    let every = search.random.eviction_probability(EvictionLaw::Lru);
    if every < SURE_ENOUGH {
        return None;
    }
    let merge_s = search.random.merge_seconds()?;
    let evidence = Evidence::Blocks(BlockEvidence::RandomOrderMerges { fits, merge_s });
    let confidence = Confidence::new(every.min(LIKELY));
    Some(Finding::exact(ID, every_size(FtlClass::OpenBlock), confidence, evidence))
}

/// The more probable eviction rule, LRU or random, as a class with its probability.
fn law(search: &Search<'_>) -> (FtlClass, f64) {
    let every = search.linear.eviction_probability(EvictionLaw::Lru);
    if every >= 0.5 { (FtlClass::OpenBlock, every) } else { (FtlClass::LogStructured, 1.0 - every) }
}

/// The class if even one block merges in random order.
fn linear_only(search: &Search<'_>, above: Option<Bytes>) -> Finding {
    let model_error = MODEL_ERROR + search.merge_model_error(Order::Random);
    let confidence = Confidence::new(search.random.verdict().probability * (1.0 - model_error));
    let value = Value::Class { class: FtlClass::LinearOnly, above };
    Finding::exact(ID, value, confidence, evidence(search, Order::Random, 0))
}

/// The class by whether every switch merges with one block too many, or only some do.
fn by_law(search: &Search<'_>, linear: u32, above: Option<Bytes>) -> Finding {
    let (class, probability) = law(search);
    let merge_s = search.merge(Order::Linear, linear).map_or(0.0, |(seconds, _)| seconds);
    let evidence = |free_to| {
        Evidence::Blocks(BlockEvidence::Merges {
            low: linear,
            high: linear,
            every_switch: class != FtlClass::LogStructured,
            merge_s,
            free_to,
        })
    };
    if linear == 1 {
        let value = Value::Class { class: FtlClass::OpenBlock, above };
        let confidence = Confidence::new(LIKELY * (1.0 - search.merge_model_error(Order::Linear)));
        return Finding::exact(ID, value, confidence, evidence(None)).with_caveat(Caveat::LogLooksTheSame);
    }
    if probability < SURE_ENOUGH {
        let every_switch = Some(search.linear.eviction_probability(EvictionLaw::Lru));
        let reason = Reason::BetweenRules { low: linear, high: linear, extra_s: merge_s, every_switch };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::Rounds)]);
    }
    let value = Value::Class { class, above };
    let model_error = MODEL_ERROR + search.merge_model_error(Order::Linear);
    Finding::exact(ID, value, Confidence::new(probability * (1.0 - model_error)), evidence(above))
}

/// The largest request that pays no merge with one block too many, if larger ones do.
fn escaping_request(data: &OpenUnitsData, search: &Search<'_>, linear: u32) -> Option<Bytes> {
    let first_cell = if data.led { data.larger.first() } else { data.cells.first() };
    let request = first_cell?.request;
    let classifier = search.classifier.scaled(CLEARLY_LONGER);
    // A shorter merge would not show in a small request.
    search.merge(Order::Linear, linear).filter(|(seconds, _)| *seconds > classifier.threshold_seconds())?;
    let is_surveyed = |cell: &OpenUnitsCell| cell.open_units == linear + 1 && cell.request < request;
    let (rule, _) = law(search);
    let mut written = Vec::new();
    let mut escaping = None;
    for cell in data.cells.iter().filter(|cell| cell.order == Order::Linear) {
        let before = written.len();
        written.extend(cell.writes().map(|(unit, _)| unit));
        let slow = cell.writes().filter(|(_, latency)| classifier.is_slow(*latency)).count();
        let is_fast = count(slow) <= LITTLE * count(cell.writes().count());
        let is_cut =
            cell.writes().filter(|(_, latency)| search.classifier.is_slow(*latency)).count() >= REPEATED;
        let is_complete =
            is_cut && rule == FtlClass::LogStructured || shows_merges(&written, before, linear, rule);
        if is_surveyed(cell) && is_fast && is_complete {
            escaping = escaping.max(Some(cell.request));
        }
    }
    escaping
}

/// Whether the writes from `start` on would show merges, if requests of their size merge. `written` has the
/// unit of each write. A write that failed is missing, and the units after it are still open.
fn shows_merges(written: &[u32], start: usize, linear: u32, rule: FtlClass) -> bool {
    let (fits, round) = (linear as usize, linear as usize + 1);
    let writes = written.len().saturating_sub(start);
    if rule == FtlClass::LogStructured {
        return count(writes) >= NEARLY_ALL * count(round * SURVEY_ROUNDS_RANDOM as usize);
    }
    let is_closed = |index: &usize| !is_among_last(&written[..*index], written[*index], fits);
    (start..written.len()).filter(is_closed).count() >= REPEATED
}

/// Whether a unit is one of the last `fits` different ones that were written.
fn is_among_last(written: &[u32], unit: u32, fits: usize) -> bool {
    let mut last = Vec::new();
    for other in written.iter().rev() {
        if last.len() == fits {
            return false;
        }
        if *other == unit {
            return true;
        }
        if !last.contains(other) {
            last.push(*other);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::OpeningPair;

    use super::*;

    #[test]
    fn rounds_whose_writes_all_worked_show_merges() {
        let rounds = [0, 1, 2, 3].repeat(3);
        assert!(shows_merges(&rounds, 4, 3, FtlClass::OpenBlock));
        assert!(shows_merges(&rounds, 10, 3, FtlClass::OpenBlock), "two writes are enough under LRU");
        assert!(shows_merges(&rounds, 0, 3, FtlClass::LogStructured));
        assert!(!shows_merges(&rounds, 4, 3, FtlClass::LogStructured), "of two rounds, few may merge");
        assert!(!shows_merges(&rounds, rounds.len(), 3, FtlClass::OpenBlock), "nothing was written");
    }

    /// After a failed write to the closed unit, the next ones go to open units.
    #[test]
    fn writes_to_units_that_are_still_open_show_no_merges() {
        let after_failures = [0, 1, 2, 3, /* 0 failed */ 1, 2, 3, /* 0 failed */ 1, 2, 3];
        assert!(!shows_merges(&after_failures, 4, 3, FtlClass::OpenBlock));
    }

    const FAST: Duration = Duration::from_millis(8);
    const MERGE: Duration = Duration::from_millis(240);

    /// Writes of 32 KiB: order, number of blocks, block, latency.
    type Write = (Order, u32, u32, Duration);

    fn search(writes: impl IntoIterator<Item = Write>) -> OpenUnitsData {
        let mut data = OpenUnitsData { erase_block: Bytes::mib(4), ..OpenUnitsData::default() };
        for (order, number, unit, latency) in writes {
            OpenUnitsCell::keep(&mut data.cells, (order, number, Bytes::kib(32)), unit, latency);
        }
        data
    }

    fn class(data: &OpenUnitsData) -> Finding {
        ftl_class(data, &Search::new(data))
    }

    /// Round-robin writes into one block more than eight that can be open, of which these merge, with writes
    /// into eight blocks before and after.
    fn too_many(order: Order, merges: &[bool]) -> impl Iterator<Item = Write> {
        let alone = (0..12).map(move |_| (order, 1, 0, FAST));
        let opening = (1..8).map(move |unit| (order, unit + 1, unit, FAST));
        let within = (0..24).map(move |index| (order, 8, index % 8, FAST));
        let beyond = (0..).zip(merges.to_vec());
        let latency = |merges| if merges { MERGE } else { FAST };
        alone
            .chain(opening)
            .chain(within)
            .chain(beyond.map(move |(index, each)| (order, 9, (8 + index) % 9, latency(each))))
            .chain((0..16).map(move |index| (order, 8, index % 8, FAST)))
    }

    #[test]
    fn a_controller_of_one_run_is_a_log_if_closing_a_block_takes_less_than_erasing_one() {
        let class = |fast: Duration, merge: Duration| {
            let alone = (0..12).map(|_| (Order::Linear, 1, 0, fast));
            let opening = (1..30).map(|unit| (Order::Linear, unit + 1, unit, merge));
            let rounds = (0..300).map(|index| (Order::Linear, 30, index % 30, fast));
            let opening_pairs = vec![OpeningPair { alone: fast, second: merge }; 3];
            let data = OpenUnitsData { opening_pairs, ..search(alone.chain(opening).chain(rounds)) };
            let found = class(&data);
            (found.value(), found.confidence())
        };
        let hybrid = (Some(every_size(FtlClass::HybridLog)), Confidence::new(0.95));
        assert_eq!(class(FAST, MERGE), hybrid);
        // 1.4 ms for closing a block: one such case in ten is something else.
        let log = (Some(every_size(FtlClass::LogStructured)), Confidence::new(0.95 * 0.9));
        assert_eq!(class(Duration::from_millis(2), Duration::from_micros(3400)), log);
    }

    /// Nine blocks are one too many. Under random eviction most writes of 32 KiB merge nothing. Small writes
    /// that never merge show it in whole rounds, or before the survey ends at two that take a little longer.
    #[test]
    fn small_requests_without_merges_bound_the_class_of_a_log() {
        let above = |small: &[Duration]| {
            let merges: Vec<bool> = (0..63).map(|index| index % 3 == 0).collect();
            let mut data =
                search(too_many(Order::Linear, &merges).chain(too_many(Order::Random, &[true; 63])));
            for (unit, latency) in (0..9).cycle().zip(small) {
                OpenUnitsCell::keep(&mut data.cells, (Order::Linear, 9, Bytes::kib(4)), unit, *latency);
            }
            match class(&data).value() {
                Some(Value::Class { class: FtlClass::LogStructured, above }) => above,
                other => panic!("{other:?}"),
            }
        };
        let longer = FAST * 7 / 4;
        assert_eq!(above(&[FAST; 27]), Some(Bytes::kib(4)));
        assert_eq!(above(&[FAST; 11]), None, "too few to meet a merge");
        assert_eq!(above(&[[FAST; 9].as_slice(), &[longer; 2]].concat()), Some(Bytes::kib(4)));
        assert_eq!(above(&[[FAST; 9].as_slice(), &[longer; 1]].concat()), None, "one may be a stall");
        assert_eq!(above(&[[FAST; 9].as_slice(), &[MERGE; 2]].concat()), None);
    }

    #[test]
    fn a_class_needs_random_writes() {
        let linear = || too_many(Order::Linear, &[true; 63]);
        let unknown = class(&search(linear()));
        assert_eq!(unknown.reason(), Some(&Reason::NotMeasured(Measurement::RandomWrites)), "{unknown:?}");
        let known = class(&search(linear().chain(too_many(Order::Random, &[true; 63]))));
        assert_eq!(known.value(), Some(every_size(FtlClass::OpenBlock)), "{known:?}");
    }

    /// After each number of writes beyond eight open blocks, the class is known only if its probability is
    /// high enough, and the stated confidence is at most that.
    #[test]
    fn a_class_is_found_only_with_enough_probability() {
        let (mut unsure, mut sure) = (0, 0);
        for writes in (1..40).step_by(3) {
            for share in [1, 2, 3, 4] {
                let merges: Vec<bool> = (0..writes).map(|index| index % share == 0).collect();
                let linear = too_many(Order::Linear, &merges);
                let data = search(linear.chain(too_many(Order::Random, &[true; 63])));
                let Ok(search) = Search::new(&data) else { continue };
                let probability =
                    |posterior: &posterior::Posterior| posterior.eviction_probability(EvictionLaw::Lru);
                let [linear, random] = [probability(&search.linear), probability(&search.random)];
                let finding = ftl_class(&data, &Ok(search));
                let by_random_order = matches!(
                    finding.evidence,
                    Some(Evidence::Blocks(BlockEvidence::RandomOrderMerges { .. }))
                );
                let every = if by_random_order { random } else { linear };
                match finding.value() {
                    Some(Value::Class { class: FtlClass::OpenBlock, .. }) => {
                        assert!(every >= SURE_ENOUGH, "{every} {finding:?}");
                        sure += 1;
                    }
                    Some(Value::Class { class: FtlClass::LogStructured, .. }) => {
                        assert!(1.0 - every >= SURE_ENOUGH, "{every} {finding:?}");
                        sure += 1;
                    }
                    _ => unsure += usize::from((1.0 - SURE_ENOUGH..SURE_ENOUGH).contains(&every)),
                }
            }
        }
        assert!(unsure > 0 && sure > 0, "{unsure} {sure}");
    }

    /// Writes that merge nothing up to four open blocks, and with nine blocks in these places.
    fn with_gap(order: Order, merges: &[bool]) -> impl Iterator<Item = Write> {
        let alone = (0..12).map(move |_| (order, 1, 0, FAST));
        let within = (0..24).map(move |index| (order, 4, index % 4, FAST));
        let latency = |merges| if merges { MERGE } else { FAST };
        let beyond =
            (0..).zip(merges.to_vec()).map(move |(index, each)| (order, 9, index % 9, latency(each)));
        alone.chain(within).chain(beyond)
    }

    /// The class, its confidence, and the probability of LRU eviction in either order.
    fn judged(data: &OpenUnitsData) -> Option<(Option<FtlClass>, f64, [f64; 2])> {
        let search = Search::new(data).ok()?;
        let every = [&search.linear, &search.random].map(|each| each.eviction_probability(EvictionLaw::Lru));
        let finding = ftl_class(data, &Ok(search));
        let class = match finding.value() {
            Some(Value::Class { class, .. }) => Some(class),
            _ => None,
        };
        if let Some(Evidence::Blocks(BlockEvidence::Merges { every_switch, .. })) = finding.evidence {
            assert_eq!(every_switch, class == Some(FtlClass::OpenBlock), "{finding:?}");
        }
        Some((class, finding.confidence().get(), every))
    }

    #[test]
    fn the_evidence_says_whether_every_switch_beyond_the_open_blocks_merges_or_only_some() {
        let of = |share: usize| {
            let merges: Vec<bool> = (0..63).map(|index| index % share == 0).collect();
            let data = search(too_many(Order::Linear, &merges).chain(too_many(Order::Random, &[true; 63])));
            let found = class(&data);
            match (found.value(), &found.evidence) {
                (
                    Some(Value::Class { class, .. }),
                    Some(Evidence::Blocks(BlockEvidence::Merges {
                        low,
                        high,
                        every_switch,
                        merge_s,
                        free_to: None,
                    })),
                ) => (class, (*low, *high), *every_switch, (merge_s * 1e3).round()),
                _ => panic!("{found:?}"),
            }
        };
        assert_eq!(of(1), (FtlClass::OpenBlock, (8, 8), true, 232.0));
        assert_eq!(of(3), (FtlClass::LogStructured, (8, 8), false, 232.0));
    }

    #[test]
    fn without_a_number_a_class_is_found_only_with_enough_probability_and_never_surely() {
        let (mut sure, mut unsure) = (0, 0);
        for order in [Order::Linear, Order::Random] {
            for (writes, share) in
                (1..60).step_by(4).flat_map(|writes| [1, 2, 3].map(|share| (writes, share)))
            {
                let merges: Vec<bool> = (0..writes).map(|index| index % share == 0).collect();
                let data = match order {
                    // Nothing merges in sequential order.
                    Order::Random => {
                        search(too_many(Order::Linear, &[false; 63]).chain(too_many(Order::Random, &merges)))
                    }
                    // Between four and nine blocks nothing was tried.
                    Order::Linear => {
                        search(with_gap(Order::Linear, &merges).chain(with_gap(Order::Random, &merges)))
                    }
                };
                let Some((class, confidence, every)) = judged(&data) else { continue };
                let every = every[usize::from(order == Order::Random)];
                match class {
                    Some(FtlClass::OpenBlock) => assert!(every >= SURE_ENOUGH, "{order:?} {writes} {share}"),
                    Some(FtlClass::LogStructured) => {
                        assert!(1.0 - every >= SURE_ENOUGH, "{order:?} {writes}")
                    }
                    _ => unsure += 1,
                }
                if class.is_some() {
                    assert!(confidence <= 0.9 + 1e-9, "{order:?} {writes} {share}: {confidence}");
                    sure += 1;
                }
            }
        }
        assert!(sure > 5 && unsure > 5, "{sure} {unsure}");
    }

    #[test]
    fn without_merges_there_is_no_class() {
        let data = search(with_gap(Order::Linear, &[false; 90]).chain(with_gap(Order::Random, &[false; 90])));
        assert_eq!(class(&data).reason(), Some(&Reason::NoUpperCount));
    }

    /// Writes into one block of which every `apart`-th waits for a collection of the time after
    /// it, and random pages that take this long.
    fn collecting(
        apart: impl Fn(u64) -> u64,
        milliseconds: impl Fn(u64) -> u64,
        scattered: Duration,
    ) -> Finding {
        collecting_times(12, apart, milliseconds, scattered)
    }

    /// The same with this number of collections.
    fn collecting_times(
        collections: u64,
        apart: impl Fn(u64) -> u64,
        milliseconds: impl Fn(u64) -> u64,
        scattered: Duration,
    ) -> Finding {
        let mut data = search(too_many(Order::Linear, &[false; 63]));
        for collection in 0..collections {
            for step in (0..apart(collection)).rev() {
                let extra =
                    if step == 0 { Duration::from_millis(milliseconds(collection)) } else { Duration::ZERO };
                OpenUnitsCell::keep(&mut data.one_run, (Order::Linear, 1, Bytes::kib(32)), 0, FAST + extra);
            }
        }
        data.scattered = vec![scattered; 40];
        class(&data)
    }

    #[test]
    fn even_collections_while_one_block_is_written_show_page_mapping() {
        let found = collecting(|_| 16, |_| 300, FAST);
        assert_eq!(found.value(), Some(every_size(FtlClass::PageMapped)), "{found:?}");
        let Some(Evidence::Blocks(BlockEvidence::Collection { every, extra_s })) = found.evidence else {
            panic!("{found:?}")
        };
        assert_eq!((every, (extra_s * 1e3).round() as u64), (Bytes::kib(512), 300));
        let is_page_mapped = |finding: Finding| finding.value() == Some(every_size(FtlClass::PageMapped));
        assert!(!is_page_mapped(collecting(|_| 16, |_| 300, FAST * 2)), "random pages cost more");
        assert!(!is_page_mapped(collecting(|_| 16, |index| 100 + index * 80, FAST)), "of many lengths");
        let uneven = |index: u64| if index.is_multiple_of(2) { 2 } else { 40 };
        assert!(!is_page_mapped(collecting(uneven, |_| 300, FAST)), "at random times");
    }

    #[test]
    fn four_collections_show_page_mapping_and_three_are_too_few() {
        let class = |collections| collecting_times(collections, |_| 16, |_| 300, FAST).value();
        assert_eq!(class(4), Some(every_size(FtlClass::PageMapped)));
        assert_ne!(class(3), Some(every_size(FtlClass::PageMapped)));
    }
}
