//! The FAT area: whether the first erase blocks are mapped finely, for the file allocation table.

use std::collections::BTreeSet;
use std::time::Duration;

use flashscope_device::Bytes;

use flashscope_record::finding::{
    Caveat, Confidence, Evidence, FatEvidence, Finding, FindingId, LogFault, Measurement, Quantity, Reason,
    Sample, Value, WouldDecide,
};
use flashscope_record::observation::{FatAreaCell, FatAreaData, Times};

use crate::open_blocks::first_blocks::FirstBlocks;
use crate::slow_classifier::SlowClassifier;
use crate::statistics::{lower_quartile, median};
use crate::thresholds::{AS_LIKELY_AS_NOT, MODEL_ERROR, OF_THE_SAME_KIND, SURE, SURE_ENOUGH};

const ID: FindingId = FindingId::FatAreaBytes;
/// In a published table a finely mapped block is at least this many times as fast as the others. Guess: with
/// 1.5, a card whose blocks differ by nearly 1.6 has no answer (wirenboard, card 1).
const FASTER: f64 = 1.6;

/// The smallest write of the experiment.
const SECTOR: Bytes = Bytes::new(512);

/// Infers from one *fat-area* experiment.
#[must_use]
pub fn infer(data: &FatAreaData) -> Finding {
    if let Some((first_s, last_s)) = drift(data) {
        return Finding::unknown(ID, Reason::SpeedChanged { first_s, last_s }, [WouldDecide::Rest]);
    }
    if !data.start_writes.is_empty() {
        return from_start_writes(data);
    }
    match (data.opened.is_empty(), data.cells.is_empty()) {
        (false, _) => from_openings(data),
        (true, true) => not_measured(),
        (true, false) => from_speeds(data),
    }
}

/// Infers from published tables of one device. Each is judged alone as well: if they differ, their mean is no
/// answer.
#[must_use]
pub fn of_tables(tables: &[&FatAreaData]) -> Finding {
    let found: BTreeSet<Bytes> = tables.iter().filter_map(|table| infer(table).bytes()).collect();
    if let (Some(least), Some(most)) = (found.first(), found.last())
        && least != most
    {
        let reason = Reason::Log(LogFault::TablesDisagree { id: ID, least: *least, most: *most });
        return Finding::unknown(ID, reason, [WouldDecide::TablesAgain]);
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

/// The time of a write at first and at the end, seconds, if all but the fastest quarter became as slow as a
/// merge would make them. A few stalls do not do that.
fn drift(data: &FatAreaData) -> Option<(f64, f64)> {
    let before = data.baseline.as_ref().and_then(baseline_classifier)?;
    let Some(Times::Each(control)) = &data.control else { return None };
    let seconds: Vec<f64> = control.iter().map(Duration::as_secs_f64).collect();
    let after = lower_quartile(&seconds)?;
    before.is_slow(Duration::from_secs_f64(after)).then_some((before.typical_seconds(), after))
}

/// From our own measurement: blocks opened one after another, ordinary ones and those at the start.
fn from_openings(data: &FatAreaData) -> Finding {
    let Some(classifier) = data.baseline.as_ref().and_then(baseline_classifier) else {
        return not_measured();
    };
    let baseline = match &data.baseline {
        Some(Times::Each(times)) => times.as_slice(),
        _ => &[],
    };
    let mut posterior = FirstBlocks::new(classifier, baseline, data.merges);
    data.opened.iter().for_each(|block| posterior.open(block.unit, block.time));
    if !posterior.are_slots_taken() {
        return Finding::unknown(
            ID,
            Reason::NothingEvicted,
            [WouldDecide::QuieterMachine, WouldDecide::Fill],
        );
    }
    let ((end, probability), tested) = (posterior.end(), posterior.tested());
    if tested == 0 {
        let reason = Reason::NotMeasured(Measurement::FirstBlocks);
        return Finding::unknown(ID, reason, [WouldDecide::Larger(Quantity::Budget)]);
    }
    if end >= tested {
        let reason = Reason::FatAreaEndNotReached { blocks: tested };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::FirstBlocks)]);
    }
    area(data, end, probability, classifier)
}

/// From openings on a controller that takes one sequential run: a block that evicts another when it is opened
/// is ordinary.
fn from_start_writes(data: &FatAreaData) -> Finding {
    let Some(classifier) = data.baseline.as_ref().and_then(baseline_classifier) else {
        return not_measured();
    };
    let slow = |block: &Vec<Duration>| block.iter().filter(|latency| classifier.is_slow(**latency)).count();
    let fine = data.start_writes.iter().take_while(|block| slow(block) == 0).count();
    match data.start_writes.get(fine) {
        Some(block) if slow(block) + 1 >= block.len() => {
            let seconds: Vec<f64> = block.iter().map(Duration::as_secs_f64).collect();
            let evidence = Evidence::FirstBlocks(FatEvidence::Evicts {
                block: blocks(fine),
                opening_s: median(&seconds).unwrap_or(0.0),
                write_s: classifier.typical_seconds(),
            });
            let value = Value::Bytes(data.erase_block * fine as u64);
            Finding::exact(ID, value, Confidence::new(SURE), evidence)
        }
        Some(_) => Finding::unknown(ID, Reason::OpeningVaries(fine), [WouldDecide::QuieterMachine]),
        None => {
            let reason = Reason::FatAreaEndNotReached { blocks: blocks(fine) };
            Finding::unknown(ID, reason, [WouldDecide::More(Sample::FirstBlocks)])
        }
    }
}

fn not_measured() -> Finding {
    let reason = Reason::NotMeasured(Measurement::FirstBlocks);
    Finding::unknown(ID, reason, [WouldDecide::WriteTests])
}

/// A number of blocks, of which a device has far fewer than 2^32.
fn blocks(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The area that ends before block `end`.
fn area(data: &FatAreaData, end: u32, probability: f64, classifier: SlowClassifier) -> Finding {
    let value = Value::Bytes(data.erase_block * u64::from(end));
    if probability < SURE_ENOUGH {
        let reason = Reason::Likely { value, confidence: Confidence::new(probability), because: None };
        let would_decide = [WouldDecide::Larger(Quantity::Budget), WouldDecide::QuieterMachine];
        return Finding::unknown(ID, reason, would_decide);
    }
    let typical = |is_of: &dyn Fn(u32) -> bool| {
        let of = data.opened.iter().filter(|block| block.unit.is_some_and(is_of));
        median(&of.map(|block| block.time.as_secs_f64()).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let (opening_s, next_s) = (typical(&|unit| unit < end), typical(&|unit| unit >= end));
    let evicts = (0..end).any(|unit| evicts_at_first(data, unit, classifier));
    let model_error = if evicts { AS_LIKELY_AS_NOT } else { MODEL_ERROR };
    let confidence = Confidence::new(probability * (1.0 - model_error));
    if end == 0 {
        let evidence =
            FatEvidence::Evicts { block: 0, opening_s: next_s, write_s: classifier.typical_seconds() };
        return Finding::exact(ID, value, confidence, Evidence::FirstBlocks(evidence));
    }
    let evidence = FatEvidence::UsesNoSlot { blocks: end, opening_s, next_s };
    // The area may end inside its last block, of which at least the first write lies in it.
    let least = data.erase_block * u64::from(end - 1) + SECTOR;
    Finding::exact(ID, value, confidence, Evidence::FirstBlocks(evidence))
        .within(Value::Bytes(least), value)
        .with_caveat(Caveat::WholeBlocksOnly)
}

/// Whether the first opening of a first block took as long as those of ordinary blocks, which evict another.
/// Later openings of an ordinary block are short while it is open, or its neighbour if both share a log.
fn evicts_at_first(data: &FatAreaData, unit: u32, classifier: SlowClassifier) -> bool {
    let first = data.opened.iter().find(|block| block.unit == Some(unit));
    let ordinary = data.opened.iter().filter(|block| block.unit.is_none());
    let ordinary: Vec<f64> = ordinary.map(|block| block.time.as_secs_f64()).collect();
    let long_s = median(&ordinary).unwrap_or(f64::INFINITY) * OF_THE_SAME_KIND;
    first.is_some_and(|first| classifier.is_slow(first.time) && first.time.as_secs_f64() > long_s)
}

/// The classifier from the writes into one block alone, which contain no merge.
fn baseline_classifier(baseline: &Times) -> Option<SlowClassifier> {
    match baseline {
        Times::Each(times) => SlowClassifier::from_baseline(times),
        Times::Mean { .. } => None,
    }
}

/// From a published table: the speeds of the first blocks compared with the others, size by size.
fn from_speeds(data: &FatAreaData) -> Finding {
    let units = data.cells.iter().map(|cell| cell.unit + 1).max().unwrap_or(0);
    if units < 3 {
        let reason = Reason::TooFew { number: Some(units as usize), sample: Sample::FirstBlocks };
        return Finding::unknown(ID, reason, [WouldDecide::More(Sample::FirstBlocks)]);
    }
    let numbers: BTreeSet<u32> = data.cells.iter().map(|cell| cell.unit).collect();
    let advantages: Vec<f64> = numbers.into_iter().filter_map(|unit| advantage(data, unit, units)).collect();
    let fine = advantages.iter().take_while(|advantage| **advantage > FASTER).count();
    if advantages.len() < 3 || fine == advantages.len() {
        return Finding::unknown(ID, Reason::Log(LogFault::CutShort), [WouldDecide::CompleteLog]);
    }
    if let Some(later) = advantages.iter().skip(fine).position(|advantage| *advantage > FASTER)
        && fine > 0
    {
        let reason = Reason::Log(LogFault::FastAfterSlowBlock { fast: fine + later, slow: fine });
        return Finding::unknown(ID, reason, [WouldDecide::TablesAgain]);
    }
    let widest = advantages.iter().map(|advantage| advantage.ln().abs()).fold(0.0, f64::max).exp();
    let value = Value::Bytes(data.erase_block * fine as u64);
    if fine == 0 {
        if widest > FASTER {
            let reason = Reason::SmallWritesVary { factor: widest };
            return Finding::unknown(ID, reason, [WouldDecide::TablesAgain, WouldDecide::WriteTests]);
        }
        let evidence = Evidence::FirstBlocks(FatEvidence::Alike { blocks: units, factor: widest });
        let confidence = if widest < 1.25 { 0.95 } else { 0.85 };
        return Finding::exact(ID, value, Confidence::new(confidence), evidence);
    }
    let evidence = FatEvidence::Faster { blocks: blocks(fine), factor: advantages[0] };
    Finding::exact(ID, value, Confidence::new(0.9), Evidence::FirstBlocks(evidence))
}

/// The ratio of the speed of small writes into `unit` to that of the last blocks; `None` without small
/// writes.
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

#[cfg(test)]
mod tests;
