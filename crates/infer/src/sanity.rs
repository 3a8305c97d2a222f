//! Whether what was seen can come from flash behind a clock that runs: a look at all times together, before any finding is
//! believed. Where they cannot, every finding is unknown, with what was seen instead.
//!
//! Each objection holds against every model of a stick, so none needs a threshold near what sticks do.

use std::time::Duration;

use flashscope_record::figure::time;
use flashscope_record::finding::{Finding, FindingId, Outcome};
use flashscope_record::observation::{Data, Observations, Source, Times};

use crate::statistics::{count, median};

/// Fewer requests than this say nothing of a device as a whole.
const LEAST: usize = 16;
/// The share of requests that took no time at all, above which the clock stands still. A clock that ticks in steps gives
/// some of them.
const STANDING: f64 = 0.9;
/// A page takes 25 µs and more to come out of NAND flash (ONFI 1.0 parts; slower since), and a card or stick adds a
/// command over its bus: USB 2 takes a micro-frame of 125 µs, SuperSpeed some 20 µs, SD a command of 2 µs and the transfer.
/// Reads that take less in the median come out of memory.
const FASTEST_READ_S: f64 = 10e-6;
/// A run of equal requests gets slower if the rank correlation of time and order (C. Spearman, 1904) is above this, ...
const RISING: f64 = 0.9;
/// ... and so much lies between its first and its last quarter. Heat and other work on the machine make waves lower than this.
const RISEN: f64 = 1.3;
/// Longer runs are thinned to about so many times for the correlation, whose work grows with their square.
const THINNED: usize = 500;
/// Fewer writes of one sort than this are not held against others.
const LEAST_WRITES: usize = 4;
/// Writes this many times as large are held against small ones.
const LARGE: u64 = 64;
/// The chance that one of the large writes takes longer than one of the small ones (H. Mann and D. Whitney, Annals of
/// Mathematical Statistics 18, 1947): one half if size does not matter, near one on anything that moves data.
const LONGER: f64 = 0.75;

/// What speaks against all findings at once.
#[derive(Debug)]
pub struct Objection {
    reason: String,
    would_decide: &'static str,
    /// Whether speeds are meaningless as well.
    is_against_speeds: bool,
}

impl Objection {
    /// What speaks against them, one sentence.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What would be without it.
    #[must_use]
    pub const fn would_decide(&self) -> &'static str {
        self.would_decide
    }

    /// Turns what rests on these times into an unknown.
    pub fn apply(&self, finding: &mut Finding) {
        let is_speed = matches!(finding.id, FindingId::WriteUnitBytes | FindingId::SustainedWriteBytesPerS);
        if self.is_against_speeds || !is_speed {
            let (reason, would_decide) = (self.reason.clone(), self.would_decide.to_owned());
            finding.outcome = Outcome::Unknown { reason, would_decide };
            finding.evidence.clear();
        }
    }
}

/// The objection that these findings were made with. Where there was one, nothing but speeds was found.
#[must_use]
pub fn objection_to(observations: &[Observations], findings: &[Finding]) -> Option<Objection> {
    let is_speed = |id| matches!(id, FindingId::WriteUnitBytes | FindingId::SustainedWriteBytesPerS);
    let is_found = findings.iter().any(|finding| !is_speed(finding.id) && finding.value().is_some());
    if is_found { None } else { objection(observations, false) }
}

/// The first objection there is. Published means have lost what most of this needs, so only measured times are looked at. Where
/// boundaries of flash show, a page may be as large as any write, and each then takes as long.
#[must_use]
pub fn objection(observations: &[Observations], boundaries_show: bool) -> Option<Objection> {
    let measured: Vec<&Data> = observations
        .iter()
        .filter(|seen| seen.conditions.source == Source::Measured)
        .map(|seen| &seen.data)
        .collect();
    several_devices(observations)
        .or_else(|| standing_clock(&measured))
        .or_else(|| ever_slower(&measured))
        .or_else(|| if boundaries_show { None } else { size_does_not_matter(&measured) })
        .or_else(|| memory(&measured))
}

/// A log that names two devices tells nothing of either: which table is of which is not known.
fn several_devices(observations: &[Observations]) -> Option<Objection> {
    let named = observations.iter().find_map(|seen| match &seen.conditions.source {
        Source::Published { devices, .. } if devices.len() > 1 => Some(devices.join(", and ")),
        _ => None,
    })?;
    Some(Objection {
        reason: format!("the log is of several devices: {named}"),
        would_decide: "a log of each",
        is_against_speeds: true,
    })
}

fn standing_clock(measured: &[&Data]) -> Option<Objection> {
    let times: Vec<f64> = measured.iter().flat_map(|data| times(data)).collect();
    let still = times.iter().filter(|time| **time <= 0.0).count();
    (times.len() >= LEAST && count(still) >= STANDING * count(times.len())).then(|| Objection {
        reason: format!(
            "the clock stands still: {still} of {} requests took no time at all, as far as it tells",
            times.len()
        ),
        would_decide: "a clock that runs (another machine, or the device without what is between)",
        is_against_speeds: true,
    })
}

fn ever_slower(measured: &[&Data]) -> Option<Objection> {
    let (first, last) = measured.iter().find_map(|data| rise(&equal_requests(data)))?;
    Some(Objection {
        reason: format!(
            "it answers slower and slower: equal requests took {} at first and {} at last",
            time(first),
            time(last)
        ),
        would_decide: "a device that keeps its speed: let it cool and rest, and measure again",
        is_against_speeds: true,
    })
}

/// The times of the first and the last quarter, if they rise from one request to the next.
fn rise(times: &[f64]) -> Option<(f64, f64)> {
    let (quarter, every) = (times.len() / 4, times.len() / THINNED + 1);
    let thinned: Vec<f64> = times.iter().copied().step_by(every).collect();
    if times.len() < LEAST || rank_correlation(&thinned) < RISING {
        return None;
    }
    let ends = (median(&times[..quarter])?, median(&times[times.len() - quarter..])?);
    (ends.1 >= RISEN * ends.0).then_some(ends)
}

fn size_does_not_matter(measured: &[&Data]) -> Option<Objection> {
    let cells = measured.iter().rev().find_map(|data| match data {
        Data::WriteSize(data) => Some(&data.cells),
        _ => None,
    })?;
    let largest = cells.iter().map(|cell| cell.request).max()?;
    let smallest = cells.iter().map(|cell| cell.request).min()?;
    let of = |is_wanted: &dyn Fn(u64) -> bool| -> Vec<f64> {
        let wanted = cells.iter().filter(|cell| is_wanted(cell.request.get()));
        wanted.flat_map(|cell| seconds(&cell.times)).collect()
    };
    let large = of(&|size| size * 4 >= largest.get());
    let small = of(&|size| size * LARGE <= largest.get());
    if small.len() < LEAST_WRITES || large.len() < LEAST_WRITES || longer(&large, &small) >= LONGER {
        return None;
    }
    Some(Objection {
        reason: format!(
            "not flash-like: writes of up to {largest} took {}, writes of {} and less, from {smallest} on, {}: the times have \
             nothing to do with what is asked",
            time(median(&large)?),
            largest / LARGE,
            time(median(&small)?)
        ),
        would_decide: "the device itself, without what holds its answers up",
        is_against_speeds: true,
    })
}

fn memory(measured: &[&Data]) -> Option<Objection> {
    let reads = measured.iter().filter(|data| matches!(data, Data::Align(_)));
    let reads: Vec<f64> = reads.flat_map(|data| equal_requests(data)).collect();
    let typical = median(&reads).filter(|typical| reads.len() >= LEAST && *typical < FASTEST_READ_S)?;
    Some(Objection {
        reason: format!(
            "not flash-like: a read takes {}, too fast for a stick or card; this comes out of memory",
            time(typical)
        ),
        would_decide: "the device itself, without a cache before it",
        is_against_speeds: false,
    })
}

/// Every time of a measurement, seconds.
fn times(data: &Data) -> Vec<f64> {
    match data {
        Data::Align(align) => align
            .samples
            .iter()
            .flat_map(|s| [s.before, s.across, s.after])
            .map(|t| t.as_secs_f64())
            .collect(),
        Data::WriteSize(data) => data.cells.iter().flat_map(|cell| seconds(&cell.times)).collect(),
        Data::OpenUnits(data) => {
            let before = data.free.iter().chain(&data.appended).chain(&data.outgrown);
            let of_search = before.chain(&data.larger).chain(&data.cells);
            let cells = of_search.chain(&data.given_back).chain(&data.gone_on).chain(&data.one_run);
            cells.flat_map(|cell| seconds(&cell.times)).collect()
        }
        Data::FatArea(data) => {
            let begun = data.begun.iter().map(|block| block.time.as_secs_f64());
            data.cells.iter().flat_map(|cell| seconds(&cell.times)).chain(begun).collect()
        }
        Data::Sustained(data) => data.pieces.iter().map(|piece| piece.time.as_secs_f64()).collect(),
        Data::WriteBuffer(data) => {
            data.bursts.iter().flat_map(|burst| &burst.each).map(Duration::as_secs_f64).collect()
        }
        Data::BlockEnds(data) => data
            .openings
            .iter()
            .flat_map(|opening| [opening.first, opening.second])
            .map(|t| t.as_secs_f64())
            .collect(),
        Data::Speed(data) => {
            let took = data.cells.iter().flat_map(|cell| &cell.took_ns);
            took.map(|nanoseconds| Duration::from_nanos(*nanoseconds).as_secs_f64()).collect()
        }
        // Of files and of whole streams, not of requests.
        Data::Files(_) | Data::Methods(_) => Vec::new(),
    }
}

/// Equal requests in the order in which they were made, seconds: reads beside boundaries, small writes before edges.
fn equal_requests(data: &Data) -> Vec<f64> {
    match data {
        Data::Align(data) => {
            data.samples.iter().map(|s| (s.before.as_secs_f64() + s.after.as_secs_f64()) / 2.0).collect()
        }
        Data::WriteSize(data) => {
            let write = data.edges.first().map(|edge| edge.write);
            let equal = data.edges.iter().filter(|edge| Some(edge.write) == write);
            equal.map(|edge| edge.before.as_secs_f64()).collect()
        }
        // A cache that fills makes writes slower for good, and is no objection.
        Data::OpenUnits(_)
        | Data::FatArea(_)
        | Data::Sustained(_)
        | Data::WriteBuffer(_)
        | Data::Speed(_)
        | Data::Files(_)
        | Data::Methods(_) => Vec::new(),
        Data::BlockEnds(data) => data.openings.iter().map(|opening| opening.second.as_secs_f64()).collect(),
    }
}

fn seconds(times: &Times) -> Vec<f64> {
    match times {
        Times::Each(each) => each.iter().map(Duration::as_secs_f64).collect(),
        Times::Mean { .. } => Vec::new(),
    }
}

/// The share of pairs in which the first is the larger; ties count half.
fn longer(first: &[f64], second: &[f64]) -> f64 {
    let wins = |value: &f64| {
        second
            .iter()
            .map(|other| {
                if value > other {
                    1.0
                } else if value < other {
                    0.0
                } else {
                    0.5
                }
            })
            .sum::<f64>()
    };
    first.iter().map(wins).sum::<f64>() / (count(first.len()) * count(second.len()))
}

/// Spearman's correlation of values and their order; values that are equal share their rank. Zero if all are.
fn rank_correlation(values: &[f64]) -> f64 {
    let ranks: Vec<f64> = values.iter().map(|value| rank(*value, values)).collect();
    let middle = (count(values.len()) - 1.0) / 2.0;
    let deviations = || ranks.iter().map(|rank| rank - middle);
    let steps = || (0..values.len()).map(|at| count(at) - middle);
    let square = |deviations: f64| deviations * deviations;
    let both = deviations().zip(steps()).map(|(rank, step)| rank * step).sum::<f64>();
    let scale = (deviations().map(square).sum::<f64>() * steps().map(square).sum::<f64>()).sqrt();
    if scale > 0.0 { both / scale } else { 0.0 }
}

/// How many values are smaller, and half of those that are equal.
fn rank(value: f64, values: &[f64]) -> f64 {
    let smaller = values.iter().filter(|other| **other < value).count();
    let equal = values.iter().filter(|other| **other <= value).count() - smaller;
    count(smaller) + (count(equal) - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::Bytes;
    use flashscope_record::observation::{
        AlignData, AlignSample, Conditions, Ended, Order, WriteSizeCell, WriteSizeData,
    };

    fn seen(data: Data) -> Observations {
        let conditions = Conditions { source: Source::Measured, capacity: None, region: None, seed: 1 };
        Observations { data, conditions, ended: Ended::Complete }
    }

    fn reads(seconds: impl Fn(u32) -> f64) -> Observations {
        let sample = |at| {
            let time = Duration::from_secs_f64(seconds(at));
            AlignSample { candidate: Bytes::mib(1), boundary: None, before: time, across: time, after: time }
        };
        seen(Data::Align(AlignData {
            read: Some(Bytes::kib(4)),
            samples: (0..64).map(sample).collect(),
            ..AlignData::default()
        }))
    }

    /// Eight writes of each size.
    fn writes(seconds: impl Fn(Bytes, u32) -> f64) -> Observations {
        let cell = |octave: u32| {
            let request = Bytes::kib(4 << octave);
            let each = (0..8).map(|at| Duration::from_secs_f64(seconds(request, octave * 8 + at))).collect();
            WriteSizeCell { order: Order::Linear, request, start: None, times: Times::Each(each) }
        };
        let cells = (0..10).map(cell).collect();
        seen(Data::WriteSize(WriteSizeData { cells, ..WriteSizeData::default() }))
    }

    fn reason(observations: &[Observations]) -> Option<String> {
        objection(observations, false).map(|objection| objection.reason)
    }

    #[track_caller]
    fn assert_reason(observations: &[Observations], says: &str) {
        let reason = reason(observations);
        assert!(reason.as_ref().is_some_and(|reason| reason.contains(says)), "{reason:?}");
    }

    /// Different for each request, between 0 and 1.
    fn scattered(at: u32) -> f64 {
        (f64::from(at) * 0.618_034).fract()
    }

    #[test]
    fn a_clock_that_stands_still_is_named() {
        assert_reason(&[reads(|_| 0.0)], "the clock stands still: 192 of 192");
        assert_eq!(reason(&[reads(|at| if at % 2 == 0 { 0.0 } else { 1e-3 })]), None);
    }

    #[test]
    fn a_device_that_gets_slower_with_every_request_is_named() {
        assert_reason(&[reads(|at| 1e-3 * (1.0 + 0.03 * f64::from(at)))], "slower and slower");
        let waves = |at| 1e-3 * (1.15 + 0.15 * (f64::from(at) / 10.0).sin() + 0.01 * scattered(at));
        assert_eq!(reason(&[reads(waves)]), None);
    }

    #[test]
    fn times_that_do_not_depend_on_the_size_are_no_sticks() {
        assert_reason(&[writes(|_, _| 1e-3)], "nothing to do with what is asked");
        assert_reason(&[writes(|_, at| 1e-3 * (0.1 + scattered(at)))], "nothing to do with what is asked");
        assert!(objection(&[writes(|_, _| 1e-3)], true).is_none());
        // A merge of 0.3 s with every write, and 20 MB/s.
        let merging = |size: Bytes, at| 0.3 + 0.02 * scattered(at) + size.as_f64() / 20e6;
        assert_eq!(reason(&[writes(merging)]), None);
    }

    #[test]
    fn reads_out_of_memory_are_no_sticks_but_their_speed_is_real() {
        let objection = objection(&[reads(|at| 2e-6 * (1.0 + 0.1 * scattered(at)))], true).unwrap();
        assert!(objection.reason.contains("too fast for a stick"), "{objection:?}");
        let unit = || {
            Finding::exact(
                FindingId::WriteUnitBytes,
                flashscope_record::finding::Value::Bytes(Bytes::kib(64)),
                flashscope_record::finding::Confidence::new(0.9),
                "",
            )
        };
        let mut spared = unit();
        objection.apply(&mut spared);
        assert_eq!(spared, unit());
        assert_eq!(reason(&[reads(|at| 2e-4 * (1.0 + 0.1 * scattered(at)))]), None);
    }

    #[test]
    fn ties_share_their_rank() {
        assert!(rank_correlation(&[1.0, 1.0, 1.0]).abs() < 1e-12);
        assert!((rank_correlation(&[1.0, 2.0, 5.0]) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&[5.0, 2.0, 2.0, 1.0]) + 0.948_683_298).abs() < 1e-6);
    }
}
