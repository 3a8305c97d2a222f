//! What to do, from the diagnosis alone: an action removes a bottleneck that the diagnosis names.

use flashscope_device::Bytes;
use flashscope_record::attachment::Link;
use flashscope_record::capacity::CapacityKind;
use flashscope_record::diagnosis::{
    Bottleneck, Conclusion, Cost, Decider, Diagnosis, DiagnosisReason, GAIN_REPORTED_MIN, Gain,
};
use flashscope_record::finding::{Finding, FindingId, Reason};
use flashscope_record::observation::{Data, Ended, Refusal};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Action, ActionKind, GainScope, PredictedGains};

use super::has_writes;
use crate::streams::throughput_profile::throughput_profile;
use crate::thresholds::NOTICED;

/// The most actions of a verdict: more than three are not read.
const ACTIONS_MAX: usize = 3;

/// The actions, those for the everyday copy first, the largest gain first. A measurement comes first where
/// the bottleneck is not known.
pub fn actions(
    run: &RunFile,
    findings: &[Finding],
    diagnosis: &Diagnosis,
    predicted: &PredictedGains,
) -> Vec<Action> {
    let mut gains: Vec<Action> = removals(run, findings, diagnosis).chain(archive(diagnosis)).collect();
    let safety = safety(run);
    let new = new_layout(diagnosis, predicted).filter(|_| safety.is_none());
    // The measured gain of an alignment comes before a predicted one.
    gains.extend(new.filter(|new| gains.iter().all(|action| action.kind != new.kind)));
    let likely = |action: &Action| action.gain.map_or(0.0, |gain| gain.likely);
    let is_small = |action: &Action| action.scope == GainScope::SmallFiles;
    gains.sort_by(|a, b| is_small(a).cmp(&is_small(b)).then(likely(b).total_cmp(&likely(a))));
    let first = safety.or_else(|| measurement(run, diagnosis)).map(without_gain);
    first.into_iter().chain(gains).take(ACTIONS_MAX).collect()
}

const fn without_gain(kind: ActionKind) -> Action {
    Action { kind, gain: None, scope: GainScope::Everyday }
}

/// The smallest part of a counterfeit that is worth a partition. Guess.
const USABLE_MIN: Bytes = Bytes::mib(64);

/// What comes before all else: data is lost, or may be. Where places below the true size are bad too, no part
/// is recommended.
fn safety(run: &RunFile) -> Option<ActionKind> {
    let save = if run.is_erased { ActionKind::KeepNoData } else { ActionKind::BackUp };
    if let Some(verdict) = run.false_capacity() {
        if verdict.kind == CapacityKind::Scattered {
            // Another test adds nothing: no part of it is sound.
            return Some(save);
        }
        return Some(match verdict.true_size.filter(|_| verdict.kind != CapacityKind::Mixed) {
            Some(size) if size >= USABLE_MIN => ActionKind::UseTrueSize(size),
            // Its writes fail, but what it held may be read.
            Some(_) if verdict.kind == CapacityKind::Errors => save,
            Some(_) => ActionKind::Return,
            None => ActionKind::VerifyCapacity,
        });
    }
    if run.loses_data() {
        return Some(ActionKind::VerifyCapacity);
    }
    (run.failed_requests > 0).then_some(save)
}

/// The measurement that would decide an unknown bottleneck.
fn measurement(run: &RunFile, diagnosis: &Diagnosis) -> Option<ActionKind> {
    let Conclusion::Unknown { would_decide, reason } = &diagnosis.conclusion else { return None };
    if matches!(reason, DiagnosisReason::HostDisk { .. }) {
        return Some(ActionKind::NameStick);
    }
    if is_too_small(run) {
        return None;
    }
    if !has_writes(run) {
        return Some(ActionKind::MeasureWrites);
    }
    match would_decide {
        // A long stream would be as little worth as the measurements that are objected to.
        _ if matches!(reason, DiagnosisReason::Finding(Reason::Objection(_))) => None,
        Decider::LongStream | Decider::Finding(_) => Some(ActionKind::MeasureLongStream),
        _ => None,
    }
}

/// Whether the device has no room for an experiment that writes: another check would have no more.
fn is_too_small(run: &RunFile) -> bool {
    let writes = |data: &Data| matches!(data, Data::WriteSize(_) | Data::Sustained(_) | Data::OpenUnits(_));
    run.observations.iter().any(|seen| {
        let is_refused = matches!(seen.ended, Ended::NotStarted { reason: Refusal::TooSmall { .. }, .. });
        is_refused && writes(&seen.data)
    })
}

/// The actions that remove a bottleneck of the everyday copy.
fn removals(run: &RunFile, findings: &[Finding], diagnosis: &Diagnosis) -> impl Iterator<Item = Action> {
    let worth_it = diagnosis.costs.iter().filter(|cost| is_worth_it(cost.gain));
    let removal = |(bottleneck, gain): (Bottleneck, Gain)| {
        let kind = match bottleneck {
            Bottleneck::Link => {
                let link = run.attachment.link.as_ref();
                link.and_then(Link::faster_bytes_per_s).map(|_| ActionKind::FasterPort)?
            }
            Bottleneck::Reader => ActionKind::FasterReader,
            Bottleneck::Driver => ActionKind::LargerCommands,
            Bottleneck::Alignment | Bottleneck::Filesystem => ActionKind::Realign,
            Bottleneck::SlcCache => rest_between_copies(run, findings)?,
            // An archive removes both.
            Bottleneck::SmallWrites | Bottleneck::OpenUnits => return None,
            Bottleneck::DataSource | Bottleneck::PageCache | Bottleneck::Flash => return None,
        };
        Some(Action { kind, gain: Some(gain), scope: GainScope::Everyday })
    };
    let removals: Vec<Action> =
        worth_it.map(|cost| (cost.bottleneck, cost.gain)).filter_map(removal).collect();
    removals.into_iter()
}

/// Whether a gain is reported.
fn is_worth_it(gain: Gain) -> bool {
    gain.likely >= GAIN_REPORTED_MIN
}

/// The smallest cache that is worth keeping copies below its size. Guess: fewer bytes are ten photos.
pub const COPY_MIN: Bytes = Bytes::mib(64);

/// Only if the cache was seen to recover while the device was idle.
fn rest_between_copies(run: &RunFile, findings: &[Finding]) -> Option<ActionKind> {
    let cache = findings.iter().find(|finding| finding.id == FindingId::SlcCacheBytes)?.bytes()?;
    let has_recovered = run.observations.iter().any(|seen| match &seen.data {
        Data::Sustained(data) => {
            throughput_profile(data).recovered.iter().any(|pause| !pause.bytes.is_zero())
        }
        _ => false,
    });
    (has_recovered && cache >= COPY_MIN).then_some(ActionKind::RestBetweenCopies(cache))
}

/// An archive, for the everyday copy if that gains enough, else for small files alone. Only where the
/// diagnosis names what an archive removes.
fn archive(diagnosis: &Diagnosis) -> Option<Action> {
    let is_removed = |cost: &Cost| matches!(cost.bottleneck, Bottleneck::SmallWrites | Bottleneck::OpenUnits);
    let everyday = diagnosis.archive.everyday.filter(|_| diagnosis.costs.iter().any(is_removed));
    let small_files = diagnosis.archive.small_files.filter(|_| diagnosis.small_files.iter().any(is_removed));
    let of = |gain: Option<Gain>, scope| {
        let gain = gain.filter(|gain| is_worth_it(*gain))?;
        Some(Action { kind: ActionKind::Archive, gain: Some(gain), scope })
    };
    of(everyday, GainScope::Everyday).or_else(|| of(small_files, GainScope::SmallFiles))
}

/// Another layout for small files, if the prediction is sure that it gains, and enough. Only where the
/// diagnosis names what a layout removes.
fn new_layout(diagnosis: &Diagnosis, predicted: &PredictedGains) -> Option<Action> {
    let is_removed = |cost: &Cost| {
        matches!(
            cost.bottleneck,
            Bottleneck::SmallWrites | Bottleneck::OpenUnits | Bottleneck::Alignment | Bottleneck::Filesystem
        )
    };
    if !diagnosis.costs.iter().chain(&diagnosis.small_files).any(is_removed) {
        return None;
    }
    let sure = |gain: &Gain| gain.low > 1.0 && is_worth_it(*gain);
    let aligned = predicted.aligned.filter(sure);
    let least = aligned.map_or(0.0, |gain| NOTICED * gain.likely);
    let ext4 = predicted.ext4.filter(sure).filter(|gain| gain.likely >= least);
    let of = |kind, gain| Action { kind, gain: Some(gain), scope: GainScope::SmallFiles };
    ext4.map(|gain| of(ActionKind::UseExt4, gain)).or(aligned.map(|gain| of(ActionKind::Realign, gain)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::attachment::Attachment;
    use flashscope_record::diagnosis::DiagnosisEvidence;
    use flashscope_record::finding::{Objection, WouldDecide};
    use flashscope_record::observation::{
        Conditions, Ended, Observations, Order, Room, Source, Times, WriteSizeCell, WriteSizeData,
    };

    use flashscope_record::capacity::{CapacityCost, CapacityVerdict};

    use super::*;

    /// A run with a write of one size.
    fn run() -> RunFile {
        let times = Times::Each(vec![Duration::from_millis(1)]);
        let cell = WriteSizeCell { order: Order::Linear, request: Bytes::mib(1), start: None, times };
        let data = WriteSizeData {
            erase_block: None,
            edges: vec![],
            edges_flushed: false,
            cells: vec![cell],
            control: None,
        };
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        RunFile {
            format: flashscope_record::run_file::FORMAT,
            flashscope: String::new(),
            target: "/dev/sdb".to_owned(),
            device_name: String::new(),
            attachment: Attachment::default(),
            measured_at: String::new(),
            observations: vec![Observations {
                data: Data::WriteSize(data),
                conditions,
                ended: Ended::Complete,
            }],
            cost: flashscope_device::layer::Cost::default(),
            failed_requests: 0,
            is_erased: false,
            capacity: None,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn no_long_stream_is_advised_where_all_times_are_doubted() {
        let of = |reason| {
            let would_decide = Decider::Finding(vec![WouldDecide::DeviceAlone]);
            measurement(&run(), &Diagnosis::new(Conclusion::Unknown { reason, would_decide }))
        };
        let objection = Reason::Objection(Objection::ClockStandsStill { still: 9, requests: 9 });
        assert_eq!(of(DiagnosisReason::Finding(objection)), None);
        assert_eq!(of(DiagnosisReason::Finding(Reason::NoSignOfFlash)), Some(ActionKind::MeasureLongStream));
    }

    /// The same check would end in the same way.
    #[test]
    fn nothing_more_is_measured_on_a_device_without_room() {
        let diagnosis = Diagnosis::new(Conclusion::Unknown {
            reason: DiagnosisReason::Finding(Reason::NoSignOfFlash),
            would_decide: Decider::LongStream,
        });
        let of = |ended| {
            let mut run = run();
            run.observations[0].ended = ended;
            measurement(&run, &diagnosis)
        };
        let refused = |reason| Ended::NotStarted { reason, would_decide: vec![] };
        let room = Room::EraseBlocks(Bytes::mib(4));
        assert_eq!(of(refused(Refusal::TooSmall { capacity: Bytes::mib(4), room })), None);
        assert_eq!(of(refused(Refusal::ReadOnly)), Some(ActionKind::MeasureLongStream));
    }

    /// What is advised for a false capacity.
    fn for_capacity(kind: CapacityKind, true_size: Option<Bytes>, is_erased: bool) -> Option<ActionKind> {
        let verdict = CapacityVerdict {
            kind,
            announced: Bytes::gib(2),
            true_size,
            wrap_period: None,
            cache_excluded: Bytes::ZERO,
            cache_seen: None,
            bad_share: 1.0,
            bad: Vec::new(),
            hints: Vec::new(),
            places: Vec::new(),
            seed: 1,
            cost: CapacityCost::default(),
        };
        safety(&RunFile { capacity: Some(verdict), is_erased, ..run() })
    }

    #[test]
    fn a_counterfeit_is_used_returned_or_tested_again() {
        use CapacityKind::{Dropped, Errors, Mixed, Scattered};
        let gib = Some(Bytes::gib(1));
        assert_eq!(for_capacity(Dropped, gib, true), Some(ActionKind::UseTrueSize(Bytes::gib(1))));
        assert_eq!(for_capacity(Dropped, Some(Bytes::mib(63)), true), Some(ActionKind::Return));
        assert_eq!(for_capacity(Dropped, Some(Bytes::ZERO), true), Some(ActionKind::Return));
        assert_eq!(for_capacity(Mixed, gib, true), Some(ActionKind::VerifyCapacity));
        assert_eq!(for_capacity(Dropped, None, true), Some(ActionKind::VerifyCapacity));
        assert_eq!(for_capacity(Scattered, None, false), Some(ActionKind::BackUp));
        // All writes fail, but what it held may be read.
        assert_eq!(for_capacity(Errors, Some(Bytes::ZERO), false), Some(ActionKind::BackUp));
        assert_eq!(for_capacity(Errors, Some(Bytes::ZERO), true), Some(ActionKind::KeepNoData));
    }

    fn gain(likely: f64) -> Gain {
        Gain { low: likely / 1.1, likely, high: likely * 1.1 }
    }

    /// The new layout that is advised where small files cost merges, by these predictions.
    fn advised(aligned: Option<Gain>, ext4: Option<Gain>) -> Option<(ActionKind, f64)> {
        let evidence = DiagnosisEvidence::SmallWrites {
            request: Bytes::kib(4),
            latency_s: 0.1,
            bytes_per_s: 40e3,
            large_bytes_per_s: 8e6,
        };
        let cost = Cost { bottleneck: Bottleneck::SmallWrites, gain: gain(3.0), evidence };
        let of_flash = Diagnosis::new(Conclusion::Unknown {
            reason: DiagnosisReason::Finding(Reason::NoSignOfFlash),
            would_decide: Decider::LongStream,
        });
        let predicted = PredictedGains { aligned, ext4 };
        assert_eq!(new_layout(&of_flash, &predicted), None, "no bottleneck that a layout removes");
        let diagnosis = Diagnosis { small_files: Some(cost), ..of_flash };
        let action = new_layout(&diagnosis, &predicted)?;
        assert_eq!(action.scope, GainScope::SmallFiles);
        Some((action.kind, action.gain.unwrap().likely))
    }

    #[test]
    fn ext4_is_advised_only_where_it_gains_more_than_the_present_filesystem_aligned() {
        assert_eq!(advised(None, Some(gain(4.0))), Some((ActionKind::UseExt4, 4.0)));
        assert_eq!(advised(Some(gain(2.0)), Some(gain(2.5))), Some((ActionKind::UseExt4, 2.5)));
        assert_eq!(advised(Some(gain(2.0)), Some(gain(2.3))), Some((ActionKind::Realign, 2.0)));
        assert_eq!(advised(None, Some(gain(1.3))), Some((ActionKind::UseExt4, 1.3)), "just reported");
        assert_eq!(advised(Some(gain(1.1)), Some(gain(1.2))), None, "below what is reported");
        let unsure = Gain { low: 0.9, likely: 3.0, high: 10.0 };
        assert_eq!(advised(None, Some(unsure)), None);
        assert_eq!(advised(Some(gain(1.5)), Some(unsure)), Some((ActionKind::Realign, 1.5)));
    }

    #[test]
    fn stick_itself_is_to_be_named_where_a_disk_of_this_machine_was_measured() {
        let reason = DiagnosisReason::HostDisk { name: "vda".to_owned() };
        let diagnosis = Diagnosis::new(Conclusion::Unknown { reason, would_decide: Decider::Device });
        assert_eq!(measurement(&run(), &diagnosis), Some(ActionKind::NameStick));
    }

    #[test]
    fn erased_stick_that_fails_holds_nothing_to_back_up() {
        let failing = |is_erased| safety(&RunFile { failed_requests: 1, is_erased, ..run() });
        assert_eq!(failing(false), Some(ActionKind::BackUp));
        assert_eq!(failing(true), Some(ActionKind::KeepNoData));
        assert_eq!(safety(&RunFile { is_erased: true, ..run() }), None);
    }
}
