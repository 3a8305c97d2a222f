//! Open units in sequential and in random order, from our own measurements, write by write.

use flashscope_record::finding::{
    BlockEvidence, Confidence, Evidence, Finding, FindingId, Measurement, Quantity, Reason, Sample,
    SharedCost, Value, WouldDecide,
};
use flashscope_record::observation::Order;

use crate::open_blocks::openings;
use crate::open_blocks::posterior::Posterior;
pub use crate::open_blocks::search::{Collection, LayerKind, Search, Undecidable};

/// How many erase blocks can be written round-robin, in this order inside each.
#[must_use]
pub fn open_units(search: &Result<Search<'_>, Undecidable>, order: Order) -> Finding {
    let id = match order {
        Order::Linear => FindingId::OpenUnitsLinear,
        Order::Random => FindingId::OpenUnitsRandom,
    };
    let search = match search {
        Ok(search) => search,
        Err(undecidable) => return undecidable.finding(id),
    };
    if let Some(finding) = of_special_kind(search, id, order) {
        return finding;
    }
    let posterior = search.posterior(order);
    if !search.is_tried(order) {
        return match order {
            Order::Random => untried_random_order(id, search, Measurement::RoundRobinWrites),
            Order::Linear => {
                let reason = Reason::NotMeasured(Measurement::RoundRobinWrites);
                Finding::unknown(id, reason, [WouldDecide::WriteTests])
            }
        };
    }
    if posterior.stalls_too_often() {
        let would_decide = [WouldDecide::QuieterMachine, WouldDecide::Rest];
        return Finding::unknown(id, Reason::StallsHideMerges, would_decide);
    }
    let verdict = posterior.verdict();
    if search.fits(order).is_none() {
        return undecided(id, posterior, search.units_max(order));
    }
    let confidence = Confidence::new(verdict.probability * (1.0 - search.model_error(order)));
    Finding::exact(id, Value::Count(verdict.number), confidence, evidence(search, order, verdict.number))
        .within(Value::Count(verdict.low), Value::Count(verdict.high))
}

/// The unknown finding without writes in random order.
pub fn untried_random_order(id: FindingId, search: &Search<'_>, wanted: Measurement) -> Finding {
    if search.data().others_wrote {
        return Finding::unknown(id, Reason::OthersWrote, [WouldDecide::WholeDevice]);
    }
    let would_decide = match wanted {
        Measurement::RandomWrites => WouldDecide::WholeMeasurement,
        _ => WouldDecide::WriteTests,
    };
    Finding::unknown(id, Reason::NotMeasured(wanted), [would_decide])
}

/// The finding for layers that do not keep a number of blocks open.
fn of_special_kind(search: &Search<'_>, id: FindingId, order: Order) -> Option<Finding> {
    let pays_everywhere = |cost| Some(Finding::unknown(id, Reason::PaysEverywhere(cost), []));
    match (search.kind, order) {
        (LayerKind::OneRun, Order::Linear) => {
            let (confidence, evidence) = (openings::one_run_confidence(search), openings::evidence(search));
            Some(Finding::exact(id, Value::Count(1), confidence, evidence))
        }
        (LayerKind::OneRun, Order::Random) => pays_everywhere(SharedCost::SharedLogs),
        (kind, Order::Random) if kind.is_log() => pays_everywhere(SharedCost::Log),
        (LayerKind::Collected(Collection { every, seconds }), _) => {
            pays_everywhere(SharedCost::Collection { every, extra_s: seconds })
        }
        _ => None,
    }
}

fn undecided(id: FindingId, posterior: &Posterior, units_max: u32) -> Finding {
    let verdict = posterior.verdict();
    let open_at_once = posterior.open_at_once_max();
    if verdict.number >= units_max {
        let would_decide = [
            WouldDecide::More(Sample::Blocks),
            WouldDecide::Larger(Quantity::Device),
            WouldDecide::Finding(FindingId::EraseBlockBytes),
        ];
        return Finding::unknown(id, Reason::NoMergeUpTo(open_at_once), would_decide);
    }
    let reason = Reason::BetweenCounts { open_at_once, low: verdict.low, high: verdict.high };
    let would_decide = [WouldDecide::Larger(Quantity::Budget), WouldDecide::QuieterMachine];
    Finding::unknown(id, reason, would_decide)
}

/// The figures of one block too many.
pub fn evidence(search: &Search<'_>, order: Order, fits: u32) -> Evidence {
    let (within, beyond) = search.contrast(order, fits);
    let beyond_s = beyond.unwrap_or(0.0);
    Evidence::Blocks(match within.filter(|_| fits > 0) {
        Some(within_s) => {
            BlockEvidence::TooMany { order, request: None, fits, too_many: fits + 1, within_s, beyond_s }
        }
        None => BlockEvidence::OneIsSlow {
            order,
            write_s: beyond_s,
            sequential_s: search.classifier.typical_seconds(),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;

    use super::*;
    use crate::slow_classifier::SlowClassifier;
    use flashscope_record::observation::{OpenUnitsCell, OpenUnitsData, OpeningPair, Times};

    /// Sequential writes are fast into any number of blocks, and every random write takes this long.
    fn slow_in_random_order(slow: Duration) -> OpenUnitsData {
        let fast = Duration::from_micros(14_200);
        let mut cells = Vec::new();
        let mut write = |order, number, unit, latency| {
            OpenUnitsCell::keep(&mut cells, (order, number, Bytes::kib(64)), unit, latency);
        };
        (0..12).for_each(|_| write(Order::Linear, 1, 0, fast));
        (1..128).for_each(|unit| write(Order::Linear, unit + 1, unit, fast));
        (0..256).for_each(|index| write(Order::Linear, 128, index % 128, fast));
        (0..12).for_each(|_| write(Order::Random, 1, 0, slow));
        OpenUnitsData { erase_block: Bytes::mib(32), cells, ..OpenUnitsData::default() }
    }

    #[test]
    fn an_undecided_number_is_bounded_or_not_reached() {
        let fast = SlowClassifier::from_baseline(&[Duration::from_millis(2); 5]).unwrap();
        let posterior = Posterior::new(Order::Linear, fast, crate::open_blocks::prior::Prior::Linear);
        let reason =
            |units_max| undecided(FindingId::OpenUnitsLinear, &posterior, units_max).reason().cloned();
        assert_eq!(reason(0), Some(Reason::NoMergeUpTo(0)));
        let bounded = reason(129);
        assert!(
            matches!(bounded, Some(Reason::BetweenCounts { open_at_once: 0, low: 1, .. })),
            "{bounded:?}"
        );
    }

    #[test]
    fn a_drift_as_long_as_a_merge_leaves_the_search_undecidable() {
        let milliseconds = Duration::from_millis;
        let is_decidable = |control: u64| {
            let mut data = OpenUnitsData { erase_block: Bytes::mib(20), ..OpenUnitsData::default() };
            let mut write = |number, unit, latency| {
                let kept = (Order::Linear, number, Bytes::kib(32));
                OpenUnitsCell::keep(&mut data.cells, kept, unit, milliseconds(latency));
            };
            (0..12).for_each(|_| write(1, 0, 40));
            (1..8).for_each(|unit| write(unit + 1, unit, 41));
            (8..60).for_each(|unit| write(9, unit % 9, 62));
            data.controls = vec![Times::Each(vec![milliseconds(control); 7])];
            Search::new(&data).is_ok()
        };
        assert!(is_decidable(41));
        assert!(!is_decidable(60), "changed by as much as a merge takes");
    }

    #[test]
    fn blocks_seen_open_by_large_requests_count_after_an_interrupted_search() {
        let all = slow_in_random_order(Duration::from_micros(41_200));
        let started = all.cells.iter().take(1).map(|cell| OpenUnitsCell {
            request: Bytes::kib(4),
            times: Times::Each(vec![Duration::from_millis(2)]),
            units: vec![0],
            ..cell.clone()
        });
        let cut = OpenUnitsData { cells: started.collect(), larger: all.cells, ..all };
        let Ok(search) = Search::new(&cut) else { panic!("nothing is known") };
        assert!(search.linear.open_at_once_max() >= 128);
    }

    #[test]
    fn slow_openings_show_one_sequential_run_despite_rare_longer_stalls() {
        let (fast, merge, rare) =
            (Duration::from_millis(8), Duration::from_millis(240), Duration::from_secs(4));
        let mut cells = Vec::new();
        let mut write = |number, unit, latency| {
            OpenUnitsCell::keep(&mut cells, (Order::Linear, number, Bytes::kib(32)), unit, latency);
        };
        (0..12).for_each(|_| write(1, 0, fast));
        (1..30).for_each(|unit| write(unit + 1, unit, merge));
        (0..300).for_each(|index| write(30, index % 30, if index % 13 == 12 { rare } else { fast }));
        let pair = OpeningPair { alone: fast, second: merge };
        let kind = |opening_pairs| {
            let (erase_block, cells) = (Bytes::mib(1), cells.clone());
            let data = OpenUnitsData { erase_block, cells, opening_pairs, ..OpenUnitsData::default() };
            Search::new(&data).ok().map(|search| search.kind)
        };
        assert_eq!(kind(vec![pair; 3]), Some(LayerKind::OneRun));
        assert_ne!(kind(vec![OpeningPair { alone: merge, ..pair }; 3]), Some(LayerKind::OneRun));
    }

    /// Blocks of 32 MiB, and writes of 4.6 MB/s: copying four times as fast takes 1.8 s.
    #[test]
    fn a_merge_in_random_order_that_copies_far_faster_than_the_stick_writes_may_be_another_thing() {
        let confidence = |seconds: u64| {
            let data = slow_in_random_order(Duration::from_secs(seconds));
            let random = open_units(&Search::new(&data), Order::Random);
            assert_eq!(random.value(), Some(Value::Count(0)), "{random:?}");
            random.confidence().get()
        };
        let (fast, slow) = (confidence(1), confidence(3));
        assert!(fast < 0.9 && slow > 0.95, "{fast} {slow}");
    }
}
