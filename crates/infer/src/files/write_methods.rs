//! The durable write speed by write method, from the methods that people use.
//!
//! One stall makes one round several times as slow. So each method has the median of its rounds with an
//! interval, and methods differ only if their intervals do not overlap.

use flashscope_record::finding::Cached;
use flashscope_record::observation::{MethodTiming, MethodsData, WriteMethod};

use crate::files::spread::{Spread, around_median, is_narrow};
use crate::statistics::median;
use crate::streams::speed::impossible;

/// The speeds of a write method over all rounds, bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MethodSpeed {
    /// The method.
    pub method: WriteMethod,
    /// The number of rounds.
    pub rounds: usize,
    /// The speed it reports.
    pub reported: Spread,
    /// The speed until the data was durable.
    pub durable: Spread,
    /// The ratio of reported to durable speed, round by round.
    pub reported_ratio: Spread,
    /// The median time until the method reports success, seconds.
    pub reported_s: f64,
    /// The median time until the data was durable, seconds.
    pub durable_s: f64,
    /// The median time between both, seconds.
    pub after_s: f64,
    /// The speed of the data source alone, if that takes time.
    pub source: Option<Spread>,
}

impl MethodSpeed {
    /// Of the rounds of this method; `None` without rounds.
    fn of(data: &MethodsData, method: WriteMethod) -> Option<Self> {
        let rounds: Vec<&MethodTiming> =
            data.timings.iter().filter(|timing| timing.method == method).collect();
        let each = |figure: fn(&MethodTiming) -> f64| {
            rounds.iter().map(|timing| figure(timing)).collect::<Vec<f64>>()
        };
        let sources: Vec<f64> = rounds.iter().filter_map(|timing| timing.source()).collect();
        Some(Self {
            method,
            rounds: rounds.len(),
            reported: around_median(&each(MethodTiming::reported))?,
            durable: around_median(&each(MethodTiming::durable))?,
            reported_ratio: around_median(&each(|timing| timing.durable_s / timing.reported_s))?,
            reported_s: median(&each(|timing| timing.reported_s))?,
            durable_s: median(&each(|timing| timing.durable_s))?,
            after_s: median(&each(|timing| timing.durable_s - timing.reported_s))?,
            source: around_median(&sources),
        })
    }
}

impl MethodSpeed {
    /// Whether the data source limits it: alone, the source is slower than the device (`truth`), and the
    /// method no faster.
    #[must_use]
    pub fn is_limited_by_its_source(&self, truth: &Spread) -> bool {
        self.source.is_some_and(|source| source.high < truth.low) && self.durable.high < truth.low
    }
}

/// Every method that was tried, in the order of the first round.
#[must_use]
pub fn method_speeds(data: &MethodsData) -> Vec<MethodSpeed> {
    let mut methods: Vec<WriteMethod> = Vec::new();
    for timing in &data.timings {
        if !methods.contains(&timing.method) {
            methods.push(timing.method);
        }
    }
    methods.into_iter().filter_map(|method| MethodSpeed::of(data, method)).collect()
}

/// Whether all methods are known well enough, so that further rounds change nothing.
#[must_use]
pub fn methods_are_settled(data: &MethodsData) -> bool {
    method_speeds(data).iter().all(|method| is_narrow(&method.reported) && is_narrow(&method.durable))
}

/// Why the data of a method cannot have been durable when it was reported so; `None` if it can.
#[must_use]
pub fn cached(data: &MethodsData, method: &MethodSpeed) -> Option<Cached> {
    data.link.as_ref().and_then(|link| impossible(method.durable.median, link))
}

/// The true speed, bytes per second: that of random data until one flush at the end. `None` without that
/// method, or if it exceeds the link.
#[must_use]
pub fn truth(data: &MethodsData) -> Option<Spread> {
    let flushed = MethodSpeed::of(data, WriteMethod::FlushAtEnd)?;
    cached(data, &flushed).is_none().then_some(flushed.durable)
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;
    use flashscope_record::observation::LinkLimit;

    fn timing(method: WriteMethod, durable_s: f64) -> MethodTiming {
        MethodTiming { method, bytes: Bytes::new(80_000_000), reported_s: 0.1, durable_s, source_s: None }
    }

    #[test]
    fn the_true_speed_is_that_of_one_flush_at_the_end_unless_it_exceeds_the_link() {
        let timings = vec![timing(WriteMethod::Zeros, 0.2), timing(WriteMethod::FlushAtEnd, 10.0)];
        let mut data = MethodsData { timings, ..MethodsData::default() };
        assert_eq!(truth(&data), Some(Spread { median: 8e6, low: 8e6, high: 8e6 }));
        data.link =
            Some(LinkLimit { bytes_per_s: Bytes::new(1_216_000), name: "USB at 12 Mbit/s".to_owned() });
        assert_eq!(truth(&data), None);
        let by_link = cached(&data, &method_speeds(&data)[1]);
        assert!(matches!(by_link, Some(Cached::Link { name, .. }) if name.contains("12 Mbit/s")));
        data.timings.truncate(1);
        data.link = None;
        assert_eq!((truth(&data), cached(&data, &method_speeds(&data)[0])), (None, None));
    }

    #[test]
    fn a_single_stall_does_not_change_the_true_speed() {
        let durable = [1.0, 1.02, 9.0, 0.98, 1.0];
        let timings = durable.map(|seconds| timing(WriteMethod::FlushAtEnd, seconds)).to_vec();
        let data = MethodsData { timings, ..MethodsData::default() };
        let truth = truth(&data).unwrap();
        assert!((truth.median - 80e6).abs() < 1.0 && truth.low < 10e6 && truth.high > 81e6, "{truth:?}");
        assert_eq!(method_speeds(&data)[0].rounds, 5);
        assert!(!methods_are_settled(&data));
    }
}
