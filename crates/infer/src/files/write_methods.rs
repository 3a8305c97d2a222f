//! How fast bytes are really written, from the ways in which people write them.
//!
//! One stall makes one way several times as slow, so each way is told by the median of its rounds and the interval in which that lies, and
//! ways differ only where their intervals lie apart.

use flashscope_record::finding::Cached;
use flashscope_record::observation::{Claim, MethodsData, Way};

use crate::files::spread::{Spread, around_median, is_narrow};
use crate::statistics::median;
use crate::streams::speed::impossible;

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

/// Why the data of a way cannot have been on the device when it was said to be; `None` if it can.
#[must_use]
pub fn cached(data: &MethodsData, way: &WaySpeed) -> Option<Cached> {
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
        let by_link = cached(&data, &ways(&data)[1]);
        assert!(matches!(by_link, Some(Cached::Link { name, .. }) if name.contains("12 Mbit/s")));
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
}
