//! The latency of round-robin writes within the open erase blocks and beyond them.

use flashscope_device::Bytes;
use flashscope_record::diagnosis::{DiagnosisEvidence, DiagnosisReason};
use flashscope_record::finding::{Finding, FindingId, Outcome};
use flashscope_record::observation::{Data, OpenUnitsCell, Order};

use crate::diagnosis::inputs::{Inputs, last_data};
use crate::diagnosis::workload::{CopyPart, STREAMS, TimePerByte};
use crate::statistics::{count, median};
use crate::thresholds::{CLEARLY_LONGER, SEVERAL};

/// The factor within which merge times are known: they depend on how full the evicted block is. Guess.
const MERGE_FACTOR: f64 = 1.6;
/// A merge in a copy over a merge in the measurement. The measurement evicts nearly empty blocks, of which
/// everything is copied; where only the rest is copied, an everyday merge copies half a block on average.
/// Guess.
const OF_A_FULL_MERGE: f64 = 0.85;
/// All writes merge, as under LRU eviction, if more than this share does: under random eviction with two open
/// blocks it is two of three. Guess.
const MERGES_ALWAYS: f64 = 0.8;
/// The share of merges with five streams over that with one stream too many, by the number of open erase
/// blocks from one to four, under random eviction. Counted over 400,000 rounds: 100, 93, 72 and 40 % merge
/// with five streams, and 2 of n + 1 with one stream too many.
const RANDOM_EVICTION_RATIO: [f64; 4] = [1.0, 1.40, 1.44, 1.0];

/// The time per byte of interleaved writes, or why it is not known.
pub fn time_per_byte(inputs: &Inputs<'_>) -> Result<TimePerByte, DiagnosisReason> {
    let request = CopyPart::Interleaved.request();
    let sequential = TimePerByte::of_one_run(inputs.sweep.time_per_byte(request));
    let extra = BlockSwitch::of(inputs)?.extra_s() * OF_A_FULL_MERGE / request.as_f64();
    let factor = if extra > 0.0 { MERGE_FACTOR } else { sequential.factor };
    Ok(TimePerByte { seconds: sequential.seconds + extra, factor })
}

/// The latency of round-robin writes within the open erase blocks and beyond them, seconds.
pub struct BlockSwitch {
    open_units: Option<u32>,
    request: Bytes,
    within_s: f64,
    beyond_s: f64,
}

impl BlockSwitch {
    /// From the last sequential search of *open-units*.
    pub fn of(inputs: &Inputs<'_>) -> Result<Self, DiagnosisReason> {
        let data = last_data(inputs.observations, |data| match data {
            Data::OpenUnits(data) => Some(data),
            _ => None,
        });
        let cells = data.map_or(&[][..], |data| data.cells.as_slice());
        let request = cells.first().map(|cell| cell.request).ok_or(DiagnosisReason::NoOpenUnits)?;
        let is_sequential = |cell: &&OpenUnitsCell| cell.order == Order::Linear && cell.request == request;
        let cells: Vec<&OpenUnitsCell> = cells.iter().filter(is_sequential).collect();
        let (open_units, reason) = open_units(inputs);
        let within = open_units.unwrap_or(1).max(1);
        let within_s = median(&latencies(&cells, |streams| streams <= within));
        let within_s = within_s.ok_or(DiagnosisReason::NoWritesWithinOpenUnits)?;
        let enough = with_enough_streams(&cells);
        let beyond_s = match open_units {
            Some(open_units) if open_units >= STREAMS => within_s,
            Some(open_units) if enough.len() < SEVERAL => {
                let beyond = latencies(&cells, |streams| streams > open_units);
                let mean = mean(&beyond).ok_or(DiagnosisReason::NoWritesBeyondOpenUnits)?;
                within_s + (mean - within_s) * merge_ratio(open_units, &beyond, within_s)
            }
            _ if enough.len() >= SEVERAL => mean(&enough[enough.len() / 2..]).unwrap_or(within_s),
            // The search ended before. If fewer streams already merge, five do as well.
            _ => with_fewer_streams(&cells).filter(|mean| *mean > within_s * CLEARLY_LONGER).ok_or(reason)?,
        };
        Ok(Self { open_units, request, within_s, beyond_s })
    }

    /// The extra latency of a write beyond the open erase blocks, seconds; 0 if it is no merge.
    pub fn extra_s(&self) -> f64 {
        if self.beyond_s > self.within_s * CLEARLY_LONGER { self.beyond_s - self.within_s } else { 0.0 }
    }

    pub const fn evidence(&self) -> DiagnosisEvidence {
        let Self { open_units, request, within_s, beyond_s } = *self;
        DiagnosisEvidence::OpenUnits { open_units, streams: STREAMS, request, within_s, beyond_s }
    }
}

/// The latencies with as many streams as the copy has, up to the first number of streams with enough writes;
/// empty without.
fn with_enough_streams(cells: &[&OpenUnitsCell]) -> Vec<f64> {
    let mut numbers: Vec<u32> = cells.iter().map(|cell| cell.open_units).collect();
    numbers.sort_unstable();
    let up_to = |number: u32| latencies(cells, |streams| (STREAMS..=number).contains(&streams));
    numbers.into_iter().map(up_to).find(|latencies| latencies.len() >= SEVERAL).unwrap_or_default()
}

/// The mean latency with the largest number of streams below that of the copy that has enough writes.
fn with_fewer_streams(cells: &[&OpenUnitsCell]) -> Option<f64> {
    let each = (2..STREAMS).rev().map(|number| latencies(cells, |streams| streams == number));
    mean(&each.into_iter().find(|latencies| latencies.len() >= SEVERAL)?)
}

/// The share of merges with five streams over that with one stream too many: 1 under LRU eviction, where
/// every write merges; more under random eviction.
fn merge_ratio(open_units: u32, latencies: &[f64], within_s: f64) -> f64 {
    let merges = latencies.iter().filter(|latency| **latency > within_s * CLEARLY_LONGER).count();
    let is_always = count(merges) > count(latencies.len()) * MERGES_ALWAYS;
    let index = open_units.checked_sub(1).and_then(|index| usize::try_from(index).ok());
    let random = index.and_then(|index| RANDOM_EVICTION_RATIO.get(index));
    if is_always { 1.0 } else { random.copied().unwrap_or(1.0) }
}

/// The number of open erase blocks, and why it is not known if it is not.
fn open_units(inputs: &Inputs<'_>) -> (Option<u32>, DiagnosisReason) {
    let finding = inputs.finding(FindingId::OpenUnitsLinear);
    let reason = match finding.map(|finding| &finding.outcome) {
        Some(Outcome::Unknown { reason, .. }) => DiagnosisReason::Finding(reason.clone()),
        _ => DiagnosisReason::NoOpenUnits,
    };
    (finding.and_then(Finding::count), reason)
}

/// The latencies of single writes, seconds, over the cells whose number of streams `is_used`.
fn latencies(cells: &[&OpenUnitsCell], is_used: impl Fn(u32) -> bool) -> Vec<f64> {
    let cells = cells.iter().filter(|cell| is_used(cell.open_units));
    cells.flat_map(|cell| cell.writes()).map(|(_, latency)| latency.as_secs_f64()).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}
