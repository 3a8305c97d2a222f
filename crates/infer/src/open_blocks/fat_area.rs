//! Whether the first erase blocks are mapped finely, for the file allocation table.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::figure::time;
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};
use flashscope_record::observation::{FatAreaCell, FatAreaData, Times};

use crate::open_blocks::first_blocks::FirstBlocks;
use crate::slow_classifier::Slowness;
use crate::statistics::{median, quickest_quarter};
use crate::thresholds::SURE_ENOUGH;

const ID: FindingId = FindingId::FatAreaBytes;
/// In a published table a finely mapped unit is faster than the others by at least this factor.
const FASTER: f64 = 1.6;

/// Infers from one *fat-area* experiment.
#[must_use]
pub fn infer(data: &FatAreaData) -> Finding {
    if let Some((before, after)) = drift(data) {
        let reason = format!(
            "the same writes took {} before the first blocks were tried and {} afterwards",
            time(before),
            time(after)
        );
        return Finding::unknown(ID, reason, "a stick whose cache is full, or empty, throughout");
    }
    if !data.beginnings.is_empty() {
        return from_beginnings(data);
    }
    match (data.begun.is_empty(), data.cells.is_empty()) {
        (false, _) => from_begun(data),
        (true, true) => Finding::unknown(ID, NOTHING, "write tests (--erase)"),
        (true, false) => from_speeds(data),
    }
}

/// Infers from published tables of one device. Each is judged by itself as well: what their mean says is no answer if they differ.
#[must_use]
pub fn of_tables(tables: &[&FatAreaData]) -> Finding {
    let told: BTreeSet<Bytes> = tables.iter().filter_map(|table| infer(table).bytes()).collect();
    if let (Some(least), Some(most)) = (told.first(), told.last())
        && least != most
    {
        let reason =
            format!("the log contradicts itself: a FAT area of {least} by one table, of {most} by another");
        return Finding::unknown(ID, reason, "the table once more, of one card");
    }
    infer(&merged(tables))
}

/// Several published tables of one device as one.
fn merged(tables: &[&FatAreaData]) -> FatAreaData {
    FatAreaData {
        erase_block: tables.iter().map(|table| table.erase_block).max().unwrap_or_default(),
        cells: tables.iter().flat_map(|table| table.cells.clone()).collect(),
        ..FatAreaData::default()
    }
}

/// What a write took before and afterwards, seconds, if that became as slow by itself as a merge would make it: not only most of
/// the writes, which may be held up, but all of them.
fn drift(data: &FatAreaData) -> Option<(f64, f64)> {
    let before = data.baseline.as_ref().and_then(unmerged)?;
    let Some(Times::Each(control)) = &data.control else { return None };
    let seconds: Vec<f64> = control.iter().map(Duration::as_secs_f64).collect();
    let after = quickest_quarter(&seconds)?;
    before.is_slow(Duration::from_secs_f64(after)).then_some((before.typical_seconds(), after))
}

/// Our own measurement: blocks begun one after the other, ordinary ones and those at the start.
fn from_begun(data: &FatAreaData) -> Finding {
    let Some(slowness) = data.baseline.as_ref().and_then(unmerged) else {
        return Finding::unknown(ID, NOTHING, "write tests (--erase)");
    };
    let going_on = match &data.baseline {
        Some(Times::Each(times)) => times.as_slice(),
        _ => &[],
    };
    let mut belief = FirstBlocks::new(slowness, going_on, data.merges);
    data.begun.iter().for_each(|block| belief.begin(block.unit, block.time));
    if !belief.are_places_taken() {
        return Finding::unknown(ID, NONE_PUT_ASIDE, "a quieter machine, or a stick that was written before");
    }
    let ((end, probability), asked) = (belief.end(), belief.asked());
    if asked == 0 {
        return Finding::unknown(ID, NOTHING, "a larger budget");
    }
    if end >= asked {
        let reason = format!(
            "the first {asked} blocks take no place among the open ones: the area does not end there"
        );
        return Finding::unknown(ID, reason, "more first blocks");
    }
    area(data, end, probability, slowness)
}

const NONE_PUT_ASIDE: &str = "beginning ordinary erase blocks did not put others aside each time";

/// Where one run is taken in order: a block that puts another aside when it is begun is ordinary.
fn from_beginnings(data: &FatAreaData) -> Finding {
    let Some(slowness) = data.baseline.as_ref().and_then(unmerged) else {
        return Finding::unknown(ID, NOTHING, "write tests (--erase)");
    };
    let slow = |block: &Vec<Duration>| block.iter().filter(|latency| slowness.is_slow(**latency)).count();
    let fine = data.beginnings.iter().take_while(|block| slow(block) == 0).count();
    match data.beginnings.get(fine) {
        Some(block) if slow(block) + 1 >= block.len() => {
            let seconds: Vec<f64> = block.iter().map(Duration::as_secs_f64).collect();
            let evidence = format!(
                "beginning block {fine} took {}, as another block had to be put aside; a write takes {} otherwise",
                time(median(&seconds).unwrap_or(0.0)),
                time(slowness.typical_seconds())
            );
            let value = Value::Bytes(data.erase_block * fine as u64);
            Finding::exact(ID, value, Confidence::new(BY_BEGINNINGS), evidence)
        }
        Some(_) => {
            Finding::unknown(ID, format!("block {fine} is now quick to begin, now slow"), "a quieter machine")
        }
        None => Finding::unknown(
            ID,
            "beginning one of the first blocks never put another aside",
            "more first blocks",
        ),
    }
}

/// How sure that is.
const BY_BEGINNINGS: f64 = 0.97;

const NOTHING: &str = "no writes into the first erase blocks were measured";
/// What the trials can be wrong about that they do not know.
const MODEL_DOUBT: f64 = 0.01;

/// The area ends before this block.
fn area(data: &FatAreaData, end: u32, probability: f64, slowness: Slowness) -> Finding {
    if probability < SURE_ENOUGH {
        let reason = format!(
            "block {end} is the first that puts another aside with {:.0} % probability only",
            probability * 100.0
        );
        return Finding::unknown(ID, reason, "a larger budget, or a quieter machine");
    }
    let typical = |is_of: &dyn Fn(u32) -> bool| {
        let of = data.begun.iter().filter(|block| block.unit.is_some_and(is_of));
        time(median(&of.map(|block| block.time.as_secs_f64()).collect::<Vec<_>>()).unwrap_or(0.0))
    };
    let (ordinary, quick) = (typical(&|unit| unit >= end), time(slowness.typical_seconds()));
    let value = Value::Bytes(data.erase_block * u64::from(end));
    let confidence = Confidence::new(probability * (1.0 - MODEL_DOUBT));
    if end == 0 {
        let evidence = format!(
            "beginning the first block took {ordinary} instead of {quick}, as another had to be put aside: it takes a place like any other"
        );
        return Finding::exact(ID, value, confidence, evidence);
    }
    let evidence = format!(
        "{} no place among the open ones: beginning {} took {}, beginning the next {ordinary}",
        if end == 1 {
            "the first erase block takes".to_owned()
        } else {
            format!("the first {end} erase blocks take")
        },
        if end == 1 { "it" } else { "them" },
        typical(&|unit| unit < end)
    );
    Finding::exact(ID, value, confidence, evidence)
        .with_caveat("in whole erase blocks: a finer end is not resolved")
}

/// What a write without a merge takes, by the writes into one block alone.
fn unmerged(baseline: &Times) -> Option<Slowness> {
    match baseline {
        Times::Each(times) => Slowness::beyond(times),
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
    if let Some(behind) = advantages.iter().skip(fine).position(|advantage| *advantage > FASTER)
        && fine > 0
    {
        let reason = format!(
            "the table contradicts itself: small writes are fast in erase block {}, but not in block {fine} before it",
            fine + behind
        );
        return Finding::unknown(ID, reason, "the table once more");
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
        "small writes into the first {} {:.1} times as fast as elsewhere",
        if fine == 1 { "erase block are".to_owned() } else { format!("{fine} erase blocks are") },
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
