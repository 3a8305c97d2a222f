//! The duration of a merge: closing an erase block that is not full by copying what it lacks.

use flashscope_record::finding::{
    BlockEvidence, Confidence, Evidence, Finding, FindingId, Reason, Sample, Value, WouldDecide,
};
use flashscope_record::observation::{OpenUnitsCell, Order};

use crate::open_blocks::open_units::{Search, Undecidable};
use crate::statistics::{count, median, quantile};
use crate::thresholds::{ROUGH_MODEL_ERROR, SEVERAL};

const ID: FindingId = FindingId::MergeSeconds;
/// The largest ratio of the 90th to the 10th percentile of merges of one kind. Guess.
const SPREAD_MAX: f64 = 3.0;
/// The least half width of the interval, as a share: drift, and the unknown filling of the block. Guess: with
/// half of it, the interval missed 4 % of the merges of random sticks.
const HALF_WIDTH_MIN: f64 = 0.08;
/// A merge counts if the block lacked at least this share: of a nearly full block, the copied part is not
/// known well. Guess.
const LACKS_MIN: f64 = 0.3;

/// The typical duration of a merge, from sequential writes into more blocks than fit.
#[must_use]
pub fn merge_seconds(search: &Result<Search<'_>, Undecidable>) -> Finding {
    let search = match search {
        Ok(search) => search,
        Err(undecidable) => return undecidable.finding(ID),
    };
    let Some(fits) = search.fits(Order::Linear) else {
        let would_decide = [WouldDecide::Finding(FindingId::OpenUnitsLinear)];
        return Finding::unknown(ID, Reason::NoUpperCount, would_decide);
    };
    let merges = merges(search, fits);
    if merges.len() < SEVERAL {
        let reason = Reason::TooFew { number: Some(merges.len()), sample: Sample::WritesBeyond };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::WritesBeyond)]);
    }
    found(search, fits, &merges)
}

fn found(search: &Search<'_>, fits: u32, merges: &[f64]) -> Finding {
    let (Some(typical), Some(short), Some(long)) =
        (median(merges), quantile(merges, 0.1), quantile(merges, 0.9))
    else {
        let reason = Reason::TooFew { number: Some(0), sample: Sample::WritesBeyond };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::WritesBeyond)]);
    };
    let evidence = Evidence::Blocks(BlockEvidence::MergeTimes {
        merges: merges.len(),
        fits,
        typical_s: typical,
        write_s: search.classifier.typical_seconds(),
        p10_s: short,
        p90_s: long,
    });
    if short <= 0.0 || long > short * SPREAD_MAX {
        return Finding::unknown(ID, Reason::MergesDiffer(evidence), [WouldDecide::QuieterMachine]);
    }
    let (low, high) = interval(merges, typical, variation(search));
    let stalls = search.linear.stall_share();
    let model_error = ROUGH_MODEL_ERROR + search.merge_model_error(Order::Linear);
    let probability = search.linear.verdict().probability * (1.0 - model_error) * (1.0 - stalls);
    Finding::exact(ID, Value::Seconds(typical), Confidence::new(probability), evidence)
        .within(Value::Seconds(low), Value::Seconds(high))
}

/// The duration of merging a whole block, seconds, by each write that closed one.
fn merges(search: &Search<'_>, fits: u32) -> Vec<f64> {
    let data = search.data();
    let request = data.cells.first().map(|cell| cell.request);
    let searched = |cell: &&OpenUnitsCell| cell.order == Order::Linear && Some(cell.request) == request;
    let share = request.map_or(0.0, |request| request.as_f64() / data.erase_block.as_f64().max(1.0));
    let mut open = Open::new(fits, share);
    let classifier = search.sequential_classifier();
    let writes = data.cells.iter().filter(searched).flat_map(OpenUnitsCell::writes);
    let costs = writes.filter_map(|(unit, latency)| {
        let lacks = open.write(unit)?;
        let extra = latency.as_secs_f64() - classifier.typical_seconds();
        (classifier.is_slow(latency) && lacks >= LACKS_MIN).then_some(extra / lacks)
    });
    costs.collect()
}

/// The open blocks under LRU eviction, and how much of each is written.
#[derive(Debug)]
struct Open {
    /// Unit and writes since it was opened, the least recently written first. Blocks that were open before
    /// the experiment have no number.
    units: Vec<(Option<u32>, u32)>,
    /// The share of a block that one write fills.
    share: f64,
}

impl Open {
    fn new(fits: u32, share: f64) -> Self {
        Self { units: vec![(None, 0); fits as usize], share }
    }

    /// Takes a write; returns the share of a block that has to be copied for it, if a known block is evicted.
    fn write(&mut self, unit: u32) -> Option<f64> {
        if let Some(index) = self.units.iter().position(|(open, _)| *open == Some(unit)) {
            let (_, writes) = self.units.remove(index);
            if self.share * f64::from(writes + 1) < 0.999 {
                self.units.push((Some(unit), writes + 1));
            } else {
                // It is full, and its slot is free.
                self.units.insert(0, (None, u32::MAX));
            }
            return None;
        }
        let (closed, writes) = if self.units.is_empty() { (None, 0) } else { self.units.remove(0) };
        self.units.push((Some(unit), 1));
        closed.map(|_| 1.0 - self.share * f64::from(writes))
    }
}

/// The range of writes without a merge, as a share of their time: merges have the same drift and noise.
fn variation(search: &Search<'_>) -> f64 {
    let linear = search.data().cells.iter().filter(|cell| cell.order == Order::Linear);
    let fast =
        linear.flat_map(OpenUnitsCell::writes).filter(|(_, latency)| !search.classifier.is_slow(*latency));
    let fast: Vec<f64> = fast.map(|(_, latency)| latency.as_secs_f64()).collect();
    let apart = quantile(&fast, 0.9).zip(quantile(&fast, 0.1)).map_or(0.0, |(long, short)| long - short);
    apart / search.classifier.typical_seconds()
}

/// The 95 % interval of the median by order statistics (H. David and H. Nagaraja, "Order Statistics", 2003,
/// 7.1), never narrower than drift alone. Noise only adds to a time, so that the merge alone is near the
/// shortest.
fn interval(merges: &[f64], typical: f64, variation: f64) -> (f64, f64) {
    let half = 0.98 / count(merges.len()).sqrt();
    let end = |share: f64| quantile(merges, share.clamp(0.0, 1.0)).unwrap_or(typical);
    let (low, high) = (end(0.5 - half), end(0.5 + half));
    let width = 1.0 + variation.max(HALF_WIDTH_MIN);
    let short = quantile(merges, 0.1).unwrap_or(typical);
    (low.min(typical / width).min(short), high.max(typical * width))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::finding::Outcome;
    use flashscope_record::observation::OpenUnitsData;

    use super::*;

    /// Writes of 32 KiB into nine blocks of 4 MiB, of which eight fit under LRU eviction. A merge copies what
    /// a block lacks, and would take `whole_s` for all of it.
    fn nine_blocks(whole_s: f64) -> OpenUnitsData {
        let mut data = OpenUnitsData { erase_block: Bytes::mib(4), ..OpenUnitsData::default() };
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut write = |number: u32, unit: u32| {
            let mut latency = Duration::from_millis(8);
            let known = open.iter().position(|(other, _)| *other == unit);
            let writes = known.map_or(0, |index| open.remove(index).1);
            if known.is_none() && open.len() == 8 {
                let lacks = 1.0 - f64::from(open.remove(0).1) / 128.0;
                latency += Duration::from_secs_f64(whole_s * lacks);
            }
            open.push((unit, writes + 1));
            OpenUnitsCell::keep(&mut data.cells, (Order::Linear, number, Bytes::kib(32)), unit, latency);
        };
        (0..12).for_each(|_| write(1, 0));
        (1..8).for_each(|unit| write(unit + 1, unit));
        (0..24).for_each(|index| write(8, index % 8));
        (0..63).for_each(|index| write(9, (8 + index) % 9));
        (0..16).for_each(|index| write(8, index % 8));
        data
    }

    /// The duration of a merge that these writes show is 240 ms, and drift alone gives its interval.
    fn assert_found(data: &OpenUnitsData) {
        let found = merge_seconds(&Search::new(data));
        let Outcome::Found {
            value: Value::Seconds(typical),
            low: Value::Seconds(low),
            high: Value::Seconds(high),
            ..
        } = found.outcome
        else {
            panic!("{found:?}")
        };
        let ends = [(typical, 0.24), (low, 0.24 / 1.08), (high, 0.24 * 1.08)];
        assert!(ends.iter().all(|(seen, truth)| (seen - truth).abs() < 1e-6), "{ends:?}");
    }

    #[test]
    fn the_duration_of_a_merge_is_that_of_copying_a_whole_block() {
        assert_found(&nine_blocks(0.24));
    }

    #[test]
    fn random_writes_that_vary_more_do_not_widen_the_interval_of_sequential_merges() {
        let mut data = nine_blocks(0.24);
        for micros in [8000, 8900].repeat(6) {
            let kept = (Order::Random, 1, Bytes::kib(32));
            OpenUnitsCell::keep(&mut data.cells, kept, 0, Duration::from_micros(micros));
        }
        assert_found(&data);
    }

    #[test]
    fn a_block_with_more_writes_lacks_less() {
        let mut open = Open::new(2, 0.125);
        assert_eq!([0, 1, 0, 1].map(|unit| open.write(unit)), [None; 4]);
        // 0 was written twice, then 1.
        assert_eq!([2, 3].map(|unit| open.write(unit)), [Some(0.75), Some(0.75)]);
        assert_eq!([2, 2, 0].map(|unit| open.write(unit)), [None, None, Some(0.875)]);
    }

    #[test]
    fn the_interval_narrows_with_more_merges_but_not_below_drift() {
        let merges =
            |number: u32| (0..number).map(|index| 0.1 + f64::from(index % 5) * 0.01).collect::<Vec<f64>>();
        let width = |number| {
            let (low, high) = interval(&merges(number), 0.12, 0.0);
            high - low
        };
        assert!(width(100) < width(5));
        assert!((interval(&[0.2; 9], 0.2, 0.0).1 - 0.216).abs() < 1e-9);
        assert!((interval(&[0.2; 9], 0.2, 0.3).1 - 0.26).abs() < 1e-9);
    }
}
