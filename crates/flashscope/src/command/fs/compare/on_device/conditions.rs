//! The conditions of trials in words.

use flashscope_layout::{EraseBlock, EraseBlockSource};
use flashscope_measure::workload::trials::{FileModel, LeftOut, RoundsEnd, TrialsData, TrialsWorkload};
use flashscope_report::counted;
use flashscope_report::filesystems::Fewer;

use super::candidates::Planned;
use crate::duration;

/// What was left out, and why.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    let LeftOut { variant, workload, reason } = left_out;
    let what = match (variant, workload) {
        (Some(variant), Some(workload)) => format!("{variant} with {}", workload.name()),
        (Some(variant), None) => variant.clone(),
        (None, Some(workload)) => workload.name().to_owned(),
        (None, None) => "everything".to_owned(),
    };
    format!("{what} is left out: {reason}")
}

/// What a reader should know about the trials.
pub(super) fn notes(
    data: &TrialsData,
    workload: &TrialsWorkload,
    planned: &Planned,
    erase_block: EraseBlock,
    fewer: &[Fewer],
) -> Vec<String> {
    let mut notes: Vec<String> = planned.left_out.iter().chain(&data.left_out).map(left_out).collect();
    let source = match erase_block.source {
        EraseBlockSource::Measured { .. } => "measured",
        EraseBlockSource::Given => "given",
        EraseBlockSource::StandardBoundary => {
            "the SD Association's for this capacity; it could not be measured"
        }
    };
    notes.push(format!("the filesystems are planned for an erase block of {} ({source})", erase_block.size));
    if planned.plans.iter().any(|each| each.start() != planned.start()) {
        let starts = planned.plans.iter().map(|each| format!("{} at {}", each.variant.name(), each.start()));
        let starts: Vec<String> = starts.collect();
        notes.push(format!("each starts where its data is aligned: {}", starts.join(", ")));
    }
    notes.extend(fewer.iter().map(|Fewer { workload, written, wanted, bytes }| {
        format!("{}: {written} of {wanted} files, {bytes}", workload.name())
    }));
    notes.push(
        "before each trial, table and filesystem were made anew, without a discard. The flash keeps what earlier trials \
         left in it, so the order was shuffled in each round"
            .to_owned(),
    );
    if data.cold.is_some() {
        notes.push(
            "before files were read, the filesystem was unmounted and mounted again, and the kernel's caches were dropped"
                .to_owned(),
        );
    }
    notes.push(ended(data, workload));
    notes.push(
        match data.trials.is_empty() {
            true => "the stick may hold the filesystem of an attempt; what it held before may be lost",
            false => "the stick now holds the filesystem of the last trial, with its files",
        }
        .to_owned(),
    );
    notes
}

/// The files of which fewer were written than there are.
pub(super) fn fewer(data: &TrialsData, workload: &TrialsWorkload) -> Vec<Fewer> {
    let of = |model: &FileModel| {
        let wanted = workload.models.iter().find(|wanted| wanted.workload == model.workload)?.count();
        let written = model.count();
        (written != wanted).then(|| Fewer { workload: model.workload, written, wanted, bytes: model.bytes() })
    };
    data.models.iter().filter_map(of).collect()
}

fn ended(data: &TrialsData, workload: &TrialsWorkload) -> String {
    let rounds = counted(data.rounds.into(), "complete round");
    let budget = duration::exact(workload.time_budget);
    match data.ended {
        Some(RoundsEnd::Clear) => format!("{rounds}: then it was clear which is the fastest"),
        Some(RoundsEnd::Complete) => rounds,
        Some(RoundsEnd::Budget) => {
            format!("{rounds}: another would exceed {budget} in total (--time-budget)")
        }
        Some(RoundsEnd::NothingLeft) => format!("{rounds}: no filesystem was left to be tried"),
        None => format!("{rounds}; the comparison ended early"),
    }
}
