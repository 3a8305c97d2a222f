//! How many times as fast one device is as another.

use flashscope_record::finding::{Outcome, Value};

use super::Compared;
use crate::quantity;

/// The write speeds of two devices, divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedRatio {
    /// The index of the faster device.
    pub faster: usize,
    /// The index of the slower one.
    pub slower: usize,
    /// The ratio.
    pub likely: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether both speeds are sustained; else one of them is that of what was written so far.
    pub is_sustained: bool,
}

/// A speed with its interval, and whether it is sustained.
#[derive(Debug, Clone, Copy)]
struct Speed {
    likely: f64,
    low: f64,
    high: f64,
    is_sustained: bool,
}

impl Speed {
    /// The sustained speed; if that is unknown, the speed so far. `None` if too little was written.
    fn of(device: &Compared<'_>) -> Option<Self> {
        let rate = |value: Value| if let Value::BytesPerSecond(rate) = value { Some(rate) } else { None };
        if let Some(Outcome::Found { value, low, high, .. }) =
            device.sustained.as_ref().map(|found| &found.outcome)
        {
            let (likely, low, high) = (rate(*value)?, rate(*low)?, rate(*high)?);
            return Some(Self { likely, low, high, is_sustained: true });
        }
        device.so_far().map(|so_far| Self {
            likely: so_far.bytes_per_s,
            low: so_far.bytes_per_s_low,
            high: so_far.bytes_per_s_high,
            is_sustained: false,
        })
    }

    /// Divided by a slower one. The intervals are taken as those of independent logarithms.
    fn over(self, slower: Self) -> (f64, f64, f64) {
        let below = (self.low / self.likely).ln().hypot((slower.high / slower.likely).ln());
        let above = (self.high / self.likely).ln().hypot((slower.low / slower.likely).ln());
        let likely = self.likely / slower.likely;
        (likely, likely * (-below).exp(), likely * above.exp())
    }
}

/// The fastest device over each other one, by their order; empty where a speed is unknown.
#[must_use]
pub fn ratios(devices: &[Compared<'_>]) -> Vec<SpeedRatio> {
    let speeds: Vec<(usize, Speed)> = devices
        .iter()
        .enumerate()
        .filter_map(|(index, device)| Some((index, Speed::of(device)?)))
        .filter(|(_, speed)| speed.low > 0.0)
        .collect();
    let Some((faster, best)) = speeds.iter().copied().max_by(|(_, a), (_, b)| a.likely.total_cmp(&b.likely))
    else {
        return Vec::new();
    };
    let others = speeds.into_iter().filter(|(index, _)| *index != faster);
    others
        .map(|(slower, speed)| {
            let (likely, low, high) = best.over(speed);
            let is_sustained = best.is_sustained && speed.is_sustained;
            SpeedRatio { faster, slower, likely, low, high, is_sustained }
        })
        .collect()
}

/// One sentence for each ratio, such as `b.json writes 4.4 times as fast as a.json (4.1 to 4.7).`
#[must_use]
pub fn sentences(devices: &[Compared<'_>]) -> Vec<String> {
    let all = ratios(devices);
    if all.is_empty() {
        return vec![
            "Which one is faster is unknown: at most one of them was written long enough.".to_owned(),
        ];
    }
    let name = |index: usize| devices.get(index).map_or("", |device| device.name.as_str());
    all.iter()
        .map(|ratio| {
            let [likely, low, high] = [ratio.likely, ratio.low, ratio.high].map(quantity::ratio);
            let (faster, slower) = (name(ratio.faster), name(ratio.slower));
            let so_far = if ratio.is_sustained { "" } else { ", as far as was measured" };
            if ratio.low <= 1.0 {
                let stream = if ratio.is_sustained { " in a long stream" } else { "" };
                return format!(
                    "Whether {faster} or {slower} writes faster{stream} is not certain{so_far}: {likely} times ({low} to {high})."
                );
            }
            format!("{faster} writes {likely} times as fast as {slower}{so_far} ({low} to {high}).")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_record::finding::{Confidence, Evidence, Finding, FindingId, StreamEvidence};
    use flashscope_record::observation::{Piece, SustainedData};

    use super::*;

    fn speed(likely: f64, low: f64, high: f64) -> Speed {
        Speed { likely, low, high, is_sustained: true }
    }

    #[test]
    fn ratio_of_two_speeds_has_the_uncertainty_of_both() {
        let (likely, low, high) = speed(40.0, 38.0, 42.0).over(speed(10.0, 9.0, 11.0));
        assert!((likely - 4.0).abs() < 1e-9);
        assert!(low > 4.0 * 38.0 / 40.0 * 10.0 / 11.0 && low < 4.0 * 10.0 / 11.0, "{low}");
        assert!(high < 4.0 * 42.0 / 40.0 * 10.0 / 9.0 && high > 4.0 * 10.0 / 9.0, "{high}");
        let (_, low, high) = speed(40.0, 38.0, 42.0).over(speed(10.0, 10.0, 10.0));
        assert!((low - 3.8).abs() < 1e-9 && (high - 4.2).abs() < 1e-9, "an exact speed adds nothing");
    }

    /// A device with this sustained speed and its interval, MB/s. Without one it has its speed so far.
    fn device<'a>(name: &str, stream: &'a SustainedData, sustained: Option<[f64; 3]>) -> Compared<'a> {
        let sustained = sustained.map(|speeds| {
            let [likely, low, high] = speeds.map(|speed| Value::BytesPerSecond(speed * 1e6));
            let written = StreamEvidence::OverParts {
                written: Bytes::gib(4),
                seconds: 100.0,
                after: None,
                spread: 0.01,
            };
            let (id, evidence) = (FindingId::SustainedWriteBytesPerS, Evidence::Stream(written));
            Finding::exact(id, likely, Confidence::new(0.95), evidence).within(low, high)
        });
        Compared { name: name.to_owned(), sustained_write: stream, sustained }
    }

    /// A stream of 1 MiB in 0.1 s each: 10.5 MB/s.
    #[test]
    fn a_ratio_is_limited_to_what_was_measured_unless_both_speeds_are_sustained() {
        let piece = Piece { requests: 1, time: Duration::from_millis(100) };
        let stream =
            SustainedData { request: Bytes::mib(1), pieces: vec![piece; 48], ..SustainedData::default() };
        let said = |slower: Option<[f64; 3]>| {
            let devices =
                [device("better", &stream, Some([40.0, 38.0, 42.0])), device("cheap", &stream, slower)];
            sentences(&devices).concat()
        };
        assert_eq!(said(Some([10.0; 3])), "better writes 4.0 times as fast as cheap (3.8 to 4.2).");
        let so_far = "better writes 3.8 times as fast as cheap, as far as was measured (";
        assert!(said(None).starts_with(so_far), "{}", said(None));
        let near =
            "Whether better or cheap writes faster in a long stream is not certain: 1.2 times (0.9 to 1.7).";
        assert_eq!(said(Some([33.0, 24.0, 42.0])), near);
    }
}
