//! Whether the first erase blocks are mapped finely, for the file allocation table.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;

use super::statistics::{count, median};
use super::wording::time;
use crate::finding::{Confidence, Finding, FindingId, Value};
use crate::observation::{FatAreaCell, FatAreaData, Times};
use crate::rounds::Slow;

const ID: FindingId = FindingId::FatAreaBytes;
/// Below this share of merges in ordinary blocks the experiment shows nothing.
const MERGES_MIN: f64 = 0.25;
/// In a published table a finely mapped unit is faster than the others by at least this factor.
const FASTER: f64 = 1.6;

/// Infers from one *fat-area* experiment.
#[must_use]
pub fn infer(data: &FatAreaData) -> Finding {
    match data.cells.first().map(|cell| &cell.times) {
        None => Finding::unknown(
            ID,
            "no writes into the first erase blocks were measured",
            "write tests (--erase)",
        ),
        Some(Times::Each(_)) => from_merges(data),
        Some(Times::Mean { .. }) => from_speeds(data),
    }
}

fn each(cell: &FatAreaCell) -> &[Duration] {
    match &cell.times {
        Times::Each(times) => times,
        Times::Mean { .. } => &[],
    }
}

/// The unit numbers from 0 on without a gap: the part of the cells that can be a FAT area.
fn first_cells(data: &FatAreaData) -> Vec<&FatAreaCell> {
    data.cells
        .iter()
        .enumerate()
        .take_while(|(index, cell)| cell.unit as usize == *index)
        .map(|(_, cell)| cell)
        .collect()
}

/// Our own measurement: ordinary blocks, more of them than can be open, pay merges; finely mapped ones never do.
fn from_merges(data: &FatAreaData) -> Finding {
    let all: Vec<Duration> = data.cells.iter().flat_map(each).copied().collect();
    let merges = |slow: &Slow| all.iter().any(|time| slow.is(*time));
    let Some(slow) = data.baseline.as_ref().and_then(merge_threshold).filter(merges) else {
        return Finding::unknown(ID, "all writes took alike: no block paid a merge", "more blocks in turn");
    };
    let merged = |cell: &FatAreaCell| each(cell).iter().filter(|time| slow.is(**time)).count();
    let first = first_cells(data);
    // The second half of the blocks is ordinary in any case: no FAT area reaches there.
    let ordinary = &data.cells[data.cells.len() / 2..];
    let share = count(ordinary.iter().map(merged).sum())
        / count(ordinary.iter().map(|cell| each(cell).len()).sum::<usize>().max(1));
    if share < MERGES_MIN {
        let reason = format!("only {:.0} % of the writes into ordinary blocks paid a merge", share * 100.0);
        return Finding::unknown(ID, reason, "more blocks in turn");
    }
    let fine = first.iter().take_while(|cell| merged(cell) == 0 && !each(cell).is_empty()).count();
    let rounds = first.iter().map(|cell| each(cell).len()).min().unwrap_or(0);
    // An ordinary block escapes a merge in all rounds with this probability; so does the one behind the area not.
    let escape = (1.0 - share).powi(i32::try_from(rounds).unwrap_or(i32::MAX));
    let confidence = Confidence::new((1.0 - escape) * 0.99);
    let merge =
        median(&all.iter().filter(|time| slow.is(**time)).map(Duration::as_secs_f64).collect::<Vec<_>>());
    let merge = time(merge.unwrap_or(0.0));
    let percent = share * 100.0;
    let value = |units: usize| Value::Bytes(data.erase_block * units as u64);
    if fine == 0 {
        let evidence = format!(
            "writes into the first block pay merges of {merge} like those elsewhere ({percent:.0} % of them)"
        );
        return Finding::exact(ID, value(0), confidence, evidence);
    }
    if fine == first.len() {
        let reason =
            format!("none of the first {fine} blocks paid a merge: the area does not end among them");
        return Finding::unknown(ID, reason, "more first blocks");
    }
    let evidence = format!(
        "writes into the first {fine} erase blocks never pay a merge, of those elsewhere {percent:.0} % pay {merge}"
    );
    Finding::exact(ID, value(fine), confidence, evidence)
        .with_caveat("in whole erase blocks: a finer end is not resolved")
}

/// From which latency on a write contains a merge, by the writes into one block alone.
fn merge_threshold(baseline: &Times) -> Option<Slow> {
    match baseline {
        Times::Each(times) => Slow::beyond(times),
        Times::Mean { .. } => None,
    }
}
/// A published table: the first units' speeds against the others', size by size.
fn from_speeds(data: &FatAreaData) -> Finding {
    let units = data.cells.iter().map(|cell| cell.unit + 1).max().unwrap_or(0);
    if units < 3 {
        return Finding::unknown(ID, format!("only {units} erase blocks were compared"), "more first blocks");
    }
    let numbers: BTreeSet<u32> = data.cells.iter().map(|cell| cell.unit).collect();
    let advantages: Vec<f64> = numbers.into_iter().filter_map(|unit| advantage(data, unit, units)).collect();
    let fine = advantages.iter().take_while(|advantage| **advantage > FASTER).count();
    if advantages.len() < 3 || fine == advantages.len() {
        return Finding::unknown(
            ID,
            "the table is too incomplete to compare its erase blocks",
            "a complete table",
        );
    }
    let widest = advantages.iter().map(|advantage| advantage.ln().abs()).fold(0.0, f64::max).exp();
    let value = Value::Bytes(data.erase_block * fine as u64);
    if fine == 0 {
        let evidence = format!(
            "small writes are as fast in the first {units} erase blocks as in the others, within a factor of {widest:.2}"
        );
        if widest > FASTER {
            let reason = format!(
                "small writes differ between erase blocks by a factor of {widest:.1}, but not as a FAT area would"
            );
            return Finding::unknown(ID, reason, "several runs, or write tests (--erase)");
        }
        let confidence = if widest < 1.25 { 0.95 } else { 0.85 };
        return Finding::exact(ID, value, Confidence::new(confidence), evidence);
    }
    let evidence = format!(
        "small writes into the first {fine} erase blocks are {:.1} times as fast as elsewhere",
        advantages[0]
    );
    Finding::exact(ID, value, Confidence::new(0.9), evidence)
}

/// How many times as fast small writes into `unit` are as those into the last units; `None` without small writes.
fn advantage(data: &FatAreaData, unit: u32, units: u32) -> Option<f64> {
    let small: Vec<&FatAreaCell> =
        data.cells.iter().filter(|cell| cell.request * 8 <= data.erase_block.max(Bytes::kib(64))).collect();
    let ratios = small.iter().filter(|cell| cell.unit == unit).filter_map(|cell| {
        let others: Vec<f64> = small
            .iter()
            .filter(|other| {
                other.request == cell.request && other.order == cell.order && other.unit * 2 >= units
            })
            .filter_map(|other| other.times.mean_seconds())
            .collect();
        Some(median(&others)? / cell.times.mean_seconds().filter(|seconds| *seconds > 0.0)?)
    });
    median(&ratios.collect::<Vec<_>>())
}
