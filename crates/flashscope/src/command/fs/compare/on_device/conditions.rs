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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_layout::trial::Variant;
    use flashscope_layout::{Identity, Medium};
    use flashscope_linux::MountType;
    use flashscope_record::TrialWorkload;

    use super::super::candidates::Planable;
    use super::*;

    /// The notes on trials of ext4 and btrfs that start at these places.
    fn notes_on(starts: [Bytes; 2]) -> String {
        let erase_block = EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given };
        let medium = Medium {
            target: "/dev/sdb".to_owned(),
            capacity: Bytes::gib(2),
            true_size: None,
            logical_block: Bytes::new(512),
            erase_block,
            fat_area: None,
            identity: Identity::default(),
        };
        let planable = |(variant, start): (Variant, Bytes)| Planable {
            variant,
            plan: variant.plan(&medium, Some(start), 7).unwrap(),
            mount: MountType::Kernel { filesystem: variant.driver(), data: "" },
        };
        let plans = [Variant::Ext4, Variant::Btrfs].into_iter().zip(starts).map(planable).collect();
        let planned = Planned { plans, left_out: Vec::new() };
        let workload = TrialsWorkload {
            candidates: planned.candidates(),
            models: Vec::new(),
            seed: 7,
            rounds: Some(1),
            time_budget: Duration::from_secs(600),
        };
        notes(&TrialsData::default(), &workload, &planned, erase_block, &[]).join("\n")
    }

    #[test]
    fn starts_are_named_only_where_they_differ() {
        let edge = Bytes::mib(4);
        let equal = notes_on([edge, edge]);
        assert!(!equal.contains("each starts"), "{equal}");
        let different = notes_on([edge, Bytes::mib(8)]);
        let starts = "each starts where its data is aligned: ext4 at 4 MiB, btrfs at 8 MiB";
        assert!(different.contains(starts), "{different}");
    }

    #[test]
    fn files_of_which_fewer_were_written_are_compared_with_those_of_their_own_kind() {
        let model = |workload, count, size| FileModel {
            workload,
            sizes: vec![size; count],
            files_per_directory: 100,
        };
        let large = model(TrialWorkload::Large, 1, Bytes::mib(64));
        let workload = TrialsWorkload {
            candidates: Vec::new(),
            models: vec![model(TrialWorkload::Small, 5, Bytes::kib(2)), large.clone()],
            seed: 7,
            rounds: Some(1),
            time_budget: Duration::from_secs(600),
        };
        let small = model(TrialWorkload::Small, 2, Bytes::kib(2));
        let data = TrialsData { models: vec![small, large], ..TrialsData::default() };
        let of_small = Fewer { workload: TrialWorkload::Small, written: 2, wanted: 5, bytes: Bytes::kib(4) };
        assert_eq!(fewer(&data, &workload), [of_small]);
    }
}
