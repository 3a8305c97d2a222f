//! Whether the measured times can come from flash behind a running clock. All times are judged together,
//! before any finding is believed. If they cannot, every finding is unknown, with this objection as its
//! reason.
//!
//! Each objection holds against every model of a stick, so none needs a threshold near what sticks do.

use std::time::Duration;

use flashscope_record::finding::{Finding, FindingId, Objection, Outcome, Reason, WouldDecide};
use flashscope_record::observation::{Data, Observations, Source, Times};

use crate::statistics::{count, median, rank_correlation};
use crate::thresholds::{MOST, NEARLY_ALL, SEVERAL};

/// The fewest requests that judge a device as a whole. Guess.
const REQUESTS_MIN: usize = 16;
/// Reads with a shorter median come out of memory, seconds. A page takes at least 25 µs to come out of NAND
/// flash (ONFI 1.0 parts; slower since). The bus adds 125 µs (USB 2 micro-frame), 20 µs (SuperSpeed), or 2 µs
/// and the transfer (SD). Guess: less than half of 25 µs.
const READ_MIN_S: f64 = 10e-6;
/// Equal requests get slower if the rank correlation of time and order (C. Spearman, 1904) is at least this,
/// ...
const CORRELATION_MIN: f64 = 0.9;
/// ... and the last quarter takes this many times as long as the first. Guess: waves of heat or other work
/// stay below it.
const RISE_MIN: f64 = 1.3;
/// Longer runs are thinned to about this many times for the correlation, whose work grows with their square.
/// Guess.
const CORRELATED_MAX: usize = 500;
/// Writes this many times as large are compared with small ones. Guess.
const LARGE_RATIO: u64 = 64;

const fn is_speed(id: FindingId) -> bool {
    matches!(id, FindingId::WriteUnitBytes | FindingId::SustainedWriteBytesPerS)
}

/// Turns what rests on these times into an unknown.
pub fn apply(objection: &Objection, finding: &mut Finding) {
    if objection.is_against_speeds() || !is_speed(finding.id) {
        let reason = Reason::Objection(objection.clone());
        finding.outcome = Outcome::Unknown { reason, would_decide: vec![would_decide(objection)] };
        finding.evidence = None;
    }
}

/// What would give times without this objection.
#[must_use]
pub const fn would_decide(objection: &Objection) -> WouldDecide {
    match objection {
        Objection::SeveralDevices(_) => WouldDecide::LogOfEachDevice,
        Objection::ClockStandsStill { .. } => WouldDecide::RunningClock,
        Objection::EverSlower { .. } => WouldDecide::CoolDown,
        Objection::SizeDoesNotMatter { .. } | Objection::ReadsFromMemory { .. } => WouldDecide::DeviceAlone,
    }
}

/// The objection that these findings were made with. With one, nothing but speeds was found.
#[must_use]
pub fn objection_to(observations: &[Observations], findings: &[Finding]) -> Option<Objection> {
    let is_found = findings.iter().any(|finding| !is_speed(finding.id) && finding.value().is_some());
    if is_found { None } else { objection(observations, false) }
}

/// The first objection there is. Published means have lost what most of this needs, so only measured times
/// count. Where boundaries of flash show, a page may be as large as any write, and each then takes as long.
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
        .or_else(|| reads_from_memory(&measured))
}

/// A log that names two devices decides nothing of either: which table is of which is not known.
fn several_devices(observations: &[Observations]) -> Option<Objection> {
    observations.iter().find_map(|seen| match &seen.conditions.source {
        Source::Published { devices, .. } if devices.len() > 1 => {
            Some(Objection::SeveralDevices(devices.clone()))
        }
        _ => None,
    })
}

fn standing_clock(measured: &[&Data]) -> Option<Objection> {
    let latencies = measured.iter().flat_map(|data| data.facts().latencies());
    let times: Vec<f64> = latencies.map(|latency| latency.as_secs_f64()).collect();
    let still = times.iter().filter(|time| **time <= 0.0).count();
    (times.len() >= REQUESTS_MIN && count(still) >= NEARLY_ALL * count(times.len()))
        .then_some(Objection::ClockStandsStill { still, requests: times.len() })
}

fn ever_slower(measured: &[&Data]) -> Option<Objection> {
    let (first_s, last_s) = measured.iter().find_map(|data| rise(&data.facts().equal_latencies_s()))?;
    Some(Objection::EverSlower { first_s, last_s })
}

/// The median times of the first and the last quarter, if they rise from one request to the next.
fn rise(times: &[f64]) -> Option<(f64, f64)> {
    let (quarter, every) = (times.len() / 4, times.len() / CORRELATED_MAX + 1);
    let thinned: Vec<f64> = times.iter().copied().step_by(every).collect();
    let order: Vec<f64> = (0..thinned.len()).map(count).collect();
    if times.len() < REQUESTS_MIN || rank_correlation(&thinned, &order) < CORRELATION_MIN {
        return None;
    }
    let ends = (median(&times[..quarter])?, median(&times[times.len() - quarter..])?);
    (ends.1 >= RISE_MIN * ends.0).then_some(ends)
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
    let small = of(&|size| size * LARGE_RATIO <= largest.get());
    let is_too_few = small.len() < SEVERAL || large.len() < SEVERAL;
    // One half if size does not matter, near one on anything that moves data.
    if is_too_few || probability_longer(&large, &small) >= MOST {
        return None;
    }
    Some(Objection::SizeDoesNotMatter {
        largest,
        large_s: median(&large)?,
        smallest,
        small_max: largest / LARGE_RATIO,
        small_s: median(&small)?,
    })
}

fn reads_from_memory(measured: &[&Data]) -> Option<Objection> {
    let reads = measured.iter().filter(|data| matches!(data, Data::Align(_)));
    let reads: Vec<f64> = reads.flat_map(|data| data.facts().equal_latencies_s()).collect();
    let read_s = median(&reads).filter(|read_s| reads.len() >= REQUESTS_MIN && *read_s < READ_MIN_S)?;
    Some(Objection::ReadsFromMemory { read_s })
}

fn seconds(times: &Times) -> Vec<f64> {
    match times {
        Times::Each(each) => each.iter().map(Duration::as_secs_f64).collect(),
        Times::Mean { .. } => Vec::new(),
    }
}

/// The share of pairs in which the first is the larger; ties count half (H. Mann and D. Whitney, Annals of
/// Mathematical Statistics 18, 1947).
fn probability_longer(first: &[f64], second: &[f64]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use flashscope_device::Bytes;
    use flashscope_record::finding::{Confidence, Evidence, ReadEvidence, Value};
    use flashscope_record::observation::{
        AlignData, AlignSample, Conditions, Ended, Order, WriteSizeCell, WriteSizeData,
    };

    fn seen(data: Data) -> Observations {
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
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

    fn objection_of(observations: &[Observations]) -> Option<Objection> {
        objection(observations, false)
    }

    /// Different for each request, between 0 and 1.
    fn scattered(at: u32) -> f64 {
        (f64::from(at) * 0.618_034).fract()
    }

    #[test]
    fn a_standing_clock_is_an_objection() {
        let still = objection_of(&[reads(|_| 0.0)]);
        assert_eq!(still, Some(Objection::ClockStandsStill { still: 192, requests: 192 }));
        assert_eq!(objection_of(&[reads(|at| if at % 2 == 0 { 0.0 } else { 1e-3 })]), None);
    }

    #[test]
    fn a_device_that_slows_down_with_every_request_is_an_objection() {
        let slower = objection_of(&[reads(|at| 1e-3 * (1.0 + 0.03 * f64::from(at)))]);
        assert!(matches!(slower, Some(Objection::EverSlower { .. })), "{slower:?}");
        let waves = |at| 1e-3 * (1.15 + 0.15 * (f64::from(at) / 10.0).sin() + 0.01 * scattered(at));
        assert_eq!(objection_of(&[reads(waves)]), None);
        assert_eq!(objection_of(&[reads(|at| if at < 32 { 1e-3 } else { 2e-3 })]), None, "a single step");
    }

    #[test]
    fn times_that_do_not_depend_on_the_size_are_an_objection() {
        for seen in [writes(|_, _| 1e-3), writes(|_, at| 1e-3 * (0.1 + scattered(at)))] {
            let objection = objection_of(&[seen]);
            assert!(matches!(objection, Some(Objection::SizeDoesNotMatter { .. })), "{objection:?}");
        }
        assert!(objection(&[writes(|_, _| 1e-3)], true).is_none());
        // A merge of 0.3 s with every write, and 20 MB/s.
        let merging = |size: Bytes, at| 0.3 + 0.02 * scattered(at) + size.as_f64() / 20e6;
        assert_eq!(objection_of(&[writes(merging)]), None);
    }

    #[test]
    fn reads_out_of_memory_are_an_objection_but_not_against_speeds() {
        let objection = objection(&[reads(|at| 2e-6 * (1.0 + 0.1 * scattered(at)))], true).unwrap();
        assert!(matches!(objection, Objection::ReadsFromMemory { .. }), "{objection:?}");
        let unknown = |id| Finding::unknown(id, Reason::NoTime, []);
        let mut spared = unknown(FindingId::WriteUnitBytes);
        apply(&objection, &mut spared);
        assert_eq!(spared, unknown(FindingId::WriteUnitBytes));
        let mut page = unknown(FindingId::PageBytes);
        apply(&objection, &mut page);
        assert_eq!(page.reason(), Some(&Reason::Objection(objection)));
        assert_eq!(objection_of(&[reads(|at| 2e-4 * (1.0 + 0.1 * scattered(at)))]), None);
    }

    #[test]
    fn an_objection_stands_unless_anything_but_a_speed_was_found() {
        let found = |id| {
            let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 2e-6, noise_s: 1e-8 });
            Finding::exact(id, Value::Bytes(Bytes::kib(16)), Confidence::new(0.9), evidence)
        };
        let objection = |findings: &[Finding]| objection_to(&[reads(|_| 2e-6)], findings);
        let unknown = Finding::unknown(FindingId::PageBytes, Reason::NoTime, []);
        let expected = Some(Objection::ReadsFromMemory { read_s: 2e-6 });
        assert_eq!(objection(&[unknown.clone(), found(FindingId::WriteUnitBytes)]), expected);
        assert_eq!(objection(&[unknown, found(FindingId::EraseBlockBytes)]), None);
    }
}
