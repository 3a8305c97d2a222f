//! What a merge takes: closing an erase block that is not full, by copying what it lacks.

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{OpenUnitsCell, Order};

use crate::open_blocks::open_units::Search;
use crate::statistics::{count, median, quantile};

const ID: FindingId = FindingId::MergeSeconds;
/// Fewer slow writes may be anything.
const MERGES_MIN: usize = 4;
/// The longest and the shortest of most merges lie no further apart, or they are not one kind of thing.
const SPREAD_MAX: f64 = 3.0;
/// Times of whole blocks are known no better than this, however equal they are: drift, and what the block lacked.
const HALF_WIDTH_MIN: f64 = 0.04;
/// Of a block that is nearly full little is copied, and how much is known too badly.
const LACKS_MIN: f64 = 0.3;
/// What the laws can be wrong about that their posterior does not know, and what a typical time hides of times that differ.
const MODEL_DOUBT: f64 = 0.06;

/// The typical time of a merge, from writes in linear order into more blocks than fit.
#[must_use]
pub fn merge_seconds(search: &Result<Search<'_>, (String, String)>) -> Finding {
    let search = match search {
        Ok(search) => search,
        Err((reason, would_decide)) => return Finding::unknown(ID, reason, would_decide),
    };
    let Some(fits) = search.fits(Order::Linear) else {
        let reason =
            "no number of erase blocks was found that is too many, so no slow write is known for a merge";
        return Finding::unknown(ID, reason, "the open units in linear order");
    };
    let merges = merges(search, fits);
    if merges.len() < MERGES_MIN {
        let reason = format!("{} writes were slow with more than {fits} blocks open", merges.len());
        return Finding::unknown(ID, reason, "more writes into one block too many");
    }
    found(search, fits, &merges)
}

fn found(search: &Search<'_>, fits: u32, merges: &[f64]) -> Finding {
    let (Some(typical), Some(short), Some(long)) =
        (median(merges), quantile(merges, 0.1), quantile(merges, 0.9))
    else {
        return Finding::unknown(ID, "no merge was timed", "");
    };
    let text = format!(
        "{} writes with more than {fits} blocks open took {} longer than the {} of a write without a merge (most of \
         them {} to {})",
        merges.len(),
        time(typical),
        time(search.slowness.typical_seconds()),
        time(short),
        time(long)
    );
    if short <= 0.0 || long > short * SPREAD_MAX {
        return Finding::unknown(ID, format!("{text}: they are not one kind of thing"), "a quieter machine");
    }
    let (low, high) = interval(merges, typical, wavering(search));
    let stalls = search.linear.stalls();
    let probability = search.linear.verdict().probability * (1.0 - MODEL_DOUBT) * (1.0 - stalls);
    Finding::exact(ID, Value::Seconds(typical), Confidence::new(probability), text)
        .within(Value::Seconds(low), Value::Seconds(high))
}

/// What a merge of a whole block takes by each write that had to close one, seconds.
fn merges(search: &Search<'_>, fits: u32) -> Vec<f64> {
    let data = search.data();
    let request = data.cells.first().map(|cell| cell.request);
    let searched = |cell: &&OpenUnitsCell| cell.order == Order::Linear && Some(cell.request) == request;
    let share = request.map_or(0.0, |request| request.as_f64() / data.erase_block.as_f64().max(1.0));
    let mut open = Open::new(fits, share);
    let slowness = search.slowness_in_order();
    let writes = data.cells.iter().filter(searched).flat_map(OpenUnitsCell::writes);
    let costs = writes.filter_map(|(unit, latency)| {
        let lacks = open.write(unit)?;
        let extra = latency.as_secs_f64() - slowness.typical_seconds();
        (slowness.is_slow(latency) && lacks >= LACKS_MIN).then_some(extra / lacks)
    });
    costs.collect()
}

/// Which blocks are open, if the one that was written longest ago has to go; and how much of each is written.
#[derive(Debug)]
struct Open {
    /// Unit and writes since it was opened, the one written longest ago first. What was open before the experiment has no
    /// number.
    units: Vec<(Option<u32>, u32)>,
    /// The share of a block that one write fills.
    share: f64,
}

impl Open {
    fn new(fits: u32, share: f64) -> Self {
        Self { units: vec![(None, 0); fits as usize], share }
    }

    /// Takes a write: the share of a block that has to be copied for it, if one has to go that is known.
    fn write(&mut self, unit: u32) -> Option<f64> {
        if let Some(index) = self.units.iter().position(|(open, _)| *open == Some(unit)) {
            let (_, writes) = self.units.remove(index);
            if self.share * f64::from(writes + 1) < 0.999 {
                self.units.push((Some(unit), writes + 1));
            } else {
                // It is full, and its place is free.
                self.units.insert(0, (None, u32::MAX));
            }
            return None;
        }
        let (closed, writes) = if self.units.is_empty() { (None, 0) } else { self.units.remove(0) };
        self.units.push((Some(unit), 1));
        closed.map(|_| 1.0 - self.share * f64::from(writes))
    }
}

/// By how much writes without a merge differ, as a share of what they take: drift and noise that merges have as well.
fn wavering(search: &Search<'_>) -> f64 {
    let linear = search.data().cells.iter().filter(|cell| cell.order == Order::Linear);
    let quick =
        linear.flat_map(OpenUnitsCell::writes).filter(|(_, latency)| !search.slowness.is_slow(*latency));
    let quick: Vec<f64> = quick.map(|(_, latency)| latency.as_secs_f64()).collect();
    let apart = quantile(&quick, 0.9).zip(quantile(&quick, 0.1)).map_or(0.0, |(long, short)| long - short);
    apart / search.slowness.typical_seconds()
}

/// The interval of 95 % of the median by order statistics (H. David and H. Nagaraja, "Order Statistics", 2003, 7.1), never
/// narrower than what drift alone makes. Noise only adds to a time: what a merge takes by itself is near the shortest.
fn interval(merges: &[f64], typical: f64, wavering: f64) -> (f64, f64) {
    let half = 0.98 / count(merges.len()).sqrt();
    let end = |share: f64| quantile(merges, share.clamp(0.0, 1.0)).unwrap_or(typical);
    let (low, high) = (end(0.5 - half), end(0.5 + half));
    let width = 1.0 + wavering.max(HALF_WIDTH_MIN);
    let short = quantile(merges, 0.1).unwrap_or(typical);
    (low.min(typical / width).min(short), high.max(typical * width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_was_written_for_longer_lacks_less() {
        let mut open = Open::new(2, 0.125);
        assert_eq!([0, 1, 0, 1].map(|unit| open.write(unit)), [None; 4]);
        // 0 was written twice, then 1.
        assert_eq!([2, 3].map(|unit| open.write(unit)), [Some(0.75), Some(0.75)]);
        assert_eq!([2, 2, 0].map(|unit| open.write(unit)), [None, None, Some(0.875)]);
    }

    #[test]
    fn the_interval_narrows_with_the_number_and_never_below_drift() {
        let merges =
            |number: u32| (0..number).map(|index| 0.1 + f64::from(index % 5) * 0.01).collect::<Vec<f64>>();
        let width = |number| {
            let (low, high) = interval(&merges(number), 0.12, 0.0);
            high - low
        };
        assert!(width(100) < width(5));
        assert!((interval(&[0.2; 9], 0.2, 0.0).1 - 0.208).abs() < 1e-9);
        assert!((interval(&[0.2; 9], 0.2, 0.3).1 - 0.26).abs() < 1e-9);
    }
}
