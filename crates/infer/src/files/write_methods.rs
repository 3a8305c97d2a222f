//! How fast bytes are really written, from the ways in which people write them.
//!
//! One stall makes one way several times as slow, so each way is told by the median of its rounds and the interval in which that lies, and
//! ways differ only where their intervals lie apart.

use flashscope_record::observation::{Claim, MethodsData, Way};

use crate::files::comparison::Spread;
use crate::statistics::{count, median};
use crate::streams::speed::impossible;

/// How often the median of what is measured lies within an interval of rounds, where there are enough of them. With fewer than five rounds it is
/// all that was seen: of three, three quarters; of four, seven eighths.
const COVERED: f64 = 0.93;
/// Intervals as narrow as this, all of them, need no further round.
const NARROW: f64 = 1.1;

/// A way to write over all rounds. Speeds in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaySpeed {
    /// The way.
    pub way: Way,
    /// How often it was tried.
    pub rounds: usize,
    /// The speed it claims.
    pub claimed: Spread,
    /// The speed until the data was there.
    pub durable: Spread,
    /// How many times what is really there of its own data it claims, round by round.
    pub times: Spread,
    /// Seconds until the clock is stopped, typically.
    pub claimed_s: f64,
    /// Seconds until the data was there, typically.
    pub durable_s: f64,
    /// Seconds between both, typically.
    pub after_s: f64,
    /// The speed of the source alone, where that takes time.
    pub source: Option<Spread>,
}

impl WaySpeed {
    /// Of the rounds in which this way was tried; `None` without one.
    fn of(data: &MethodsData, way: Way) -> Option<Self> {
        let rounds: Vec<&Claim> = data.claims.iter().filter(|claim| claim.way == way).collect();
        let each = |figure: fn(&Claim) -> f64| rounds.iter().map(|claim| figure(claim)).collect::<Vec<f64>>();
        let sources: Vec<f64> = rounds.iter().filter_map(|claim| claim.source()).collect();
        Some(Self {
            way,
            rounds: rounds.len(),
            claimed: around_median(&each(Claim::claimed))?,
            durable: around_median(&each(Claim::durable))?,
            times: around_median(&each(|claim| claim.durable_s / claim.claimed_s))?,
            claimed_s: median(&each(|claim| claim.claimed_s))?,
            durable_s: median(&each(|claim| claim.durable_s))?,
            after_s: median(&each(|claim| claim.durable_s - claim.claimed_s))?,
            source: around_median(&sources),
        })
    }
}

impl WaySpeed {
    /// Whether its source, and not the device, decides how fast it is: alone the source gives less than the device takes (`truth`), and so little
    /// arrives.
    #[must_use]
    pub fn is_held_up_by_its_source(&self, truth: &Spread) -> bool {
        self.source.is_some_and(|source| source.high < truth.low) && self.durable.high < truth.low
    }
}

/// Every way that was tried, in the order of the first round.
#[must_use]
pub fn ways(data: &MethodsData) -> Vec<WaySpeed> {
    let mut ways: Vec<Way> = Vec::new();
    for claim in &data.claims {
        if !ways.contains(&claim.way) {
            ways.push(claim.way);
        }
    }
    ways.into_iter().filter_map(|way| WaySpeed::of(data, way)).collect()
}

/// Whether all ways are known well enough, so that further rounds tell nothing more.
#[must_use]
pub fn ways_are_settled(data: &MethodsData) -> bool {
    ways(data).iter().all(|way| is_narrow(&way.claimed) && is_narrow(&way.durable))
}

/// Whether further rounds would tell hardly more of this.
pub(super) fn is_narrow(interval: &Spread) -> bool {
    interval.high <= interval.low * NARROW
}

/// The median and its interval: of the sorted figures, as many are left out at either end as still leave the median of all figures that could
/// have been seen inside (the binomial distribution of how many lie below it; H. David and H. Nagaraja, "Order Statistics", 7.1).
pub(super) fn around_median(figures: &[f64]) -> Option<Spread> {
    let mut sorted: Vec<f64> = figures.iter().copied().filter(|figure| figure.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let median = median(&sorted)?;
    let left_out = left_out(sorted.len());
    Some(Spread { median, low: *sorted.get(left_out)?, high: *sorted.get(sorted.len() - 1 - left_out)? })
}

/// How many of so many figures lie outside the interval at either end.
fn left_out(figures: usize) -> usize {
    let (mut outside, mut term) = (0.0, 0.5_f64.powi(i32::try_from(figures).unwrap_or(i32::MAX)));
    for index in 0..figures / 2 {
        outside += 2.0 * term;
        if 1.0 - outside < COVERED {
            return index.saturating_sub(1);
        }
        term *= count(figures - index) / count(index + 1);
    }
    (figures / 2).saturating_sub(1)
}

/// Why the data of a way cannot have been on the device when it was said to be; `None` if it can.
#[must_use]
pub fn cached(data: &MethodsData, way: &WaySpeed) -> Option<String> {
    data.link.as_ref().and_then(|link| impossible(way.durable.median, link))
}

/// The true speed, bytes per second: of data that nothing can guess, until one flush at the end says that it is there. `None` without
/// that way, and where it is faster than the way to the device lets anything through.
#[must_use]
pub fn truth(data: &MethodsData) -> Option<Spread> {
    let flushed = WaySpeed::of(data, Way::FlushAtEnd)?;
    cached(data, &flushed).is_none().then_some(flushed.durable)
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;
    use flashscope_record::observation::LinkLimit;

    fn claim(way: Way, durable_s: f64) -> Claim {
        Claim { way, bytes: Bytes::new(80_000_000), claimed_s: 0.1, durable_s, source_s: None }
    }

    #[test]
    fn the_truth_is_that_of_the_flush_at_the_end_unless_the_link_carries_less() {
        let claims = vec![claim(Way::Zeros, 0.2), claim(Way::FlushAtEnd, 10.0)];
        let mut data = MethodsData { claims, ..MethodsData::default() };
        assert_eq!(truth(&data), Some(Spread { median: 8e6, low: 8e6, high: 8e6 }));
        data.link =
            Some(LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() });
        assert_eq!(truth(&data), None);
        assert!(cached(&data, &ways(&data)[1]).unwrap().contains("12 Mbit/s"));
        data.claims.truncate(1);
        data.link = None;
        assert_eq!((truth(&data), cached(&data, &ways(&data)[0])), (None, None));
    }

    #[test]
    fn a_single_stall_is_not_the_truth() {
        let durable = [1.0, 1.02, 9.0, 0.98, 1.0];
        let claims = durable.map(|seconds| claim(Way::FlushAtEnd, seconds)).to_vec();
        let data = MethodsData { claims, ..MethodsData::default() };
        let truth = truth(&data).unwrap();
        assert!((truth.median - 80e6).abs() < 1.0 && truth.low < 10e6 && truth.high > 81e6, "{truth:?}");
        assert_eq!(ways(&data)[0].rounds, 5);
        assert!(!ways_are_settled(&data));
    }

    #[test]
    fn the_interval_of_many_rounds_leaves_out_what_was_seen_once() {
        assert_eq!([1, 2, 3, 5, 7, 8, 9, 12].map(left_out), [0, 0, 0, 0, 0, 0, 1, 2]);
        let seen = [1.0, 1.0, 1.1, 9.0, 1.0, 1.0, 1.0, 1.1, 1.0];
        let told = around_median(&seen).unwrap();
        assert!((told.low - 1.0).abs() < 1e-9 && (told.high - 1.1).abs() < 1e-9, "{told:?}");
    }
}
