//! The diagnosis of a run: every rule gives a counterfactual, and the bottleneck is the one with the largest
//! gain.

use flashscope_record::attachment::Attachment;
use flashscope_record::diagnosis::{
    Conclusion, Cost, Decider, Diagnosis, DiagnosisEvidence, DiagnosisReason, GAIN_REPORTED_MIN, Untested,
};
use flashscope_record::finding::{Finding, Reason};
use flashscope_record::observation::Observations;
use flashscope_record::run_file::RunFile;

use crate::diagnosis::baseline::baseline;
use crate::diagnosis::gain::Counterfactual;
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::long_stream;
use crate::diagnosis::rules::RULES;
use crate::diagnosis::size_sweep::SizeSweep;
use crate::diagnosis::time_shares::{archive_gain, time_shares};
use crate::diagnosis::workload::{CopyPart, EVERYDAY, SMALL_FILES, Shares, Workload};
use crate::diagnosis::write_methods;
use crate::sanity::{self, objection_to};

/// The diagnosis of a run. No rule is applied if too many requests failed ([`RunFile::fails_often`]).
#[must_use]
pub fn diagnose_run(run: &RunFile, findings: &[Finding]) -> Diagnosis {
    if run.fails_often() {
        let (failed, requests) = (run.failed_requests, run.requests());
        return unknown(DiagnosisReason::RequestsFailed { failed, requests }, Decider::AnotherPort);
    }
    let mut diagnosis = diagnose(&run.observations, findings, &run.attachment);
    if let Conclusion::Unknown { would_decide, .. } = &mut diagnosis.conclusion
        && *would_decide == Decider::WriteTestsOnQuietMachine
        && run.is_of_a_virtual_stick()
    {
        *would_decide = Decider::WriteTestsWithAnotherSeed;
    }
    diagnosis
}

/// The diagnosis of a device from its observations, its findings, and how it is attached.
#[must_use]
pub fn diagnose(observations: &[Observations], findings: &[Finding], attachment: &Attachment) -> Diagnosis {
    let of_methods = || write_methods::diagnosis(observations);
    if let Some(name) = attachment.host_disk.clone().filter(|_| of_methods().is_none()) {
        return unknown(DiagnosisReason::HostDisk { name }, Decider::Device);
    }
    if let Some(objection) = objection_to(observations, findings) {
        let decider = Decider::Finding(vec![sanity::would_decide(&objection)]);
        return unknown(DiagnosisReason::Finding(Reason::Objection(objection)), decider);
    }
    let Some(sweep) = SizeSweep::of(observations) else {
        let nothing_written = || unknown(DiagnosisReason::NoSizeSweep, Decider::WriteTests);
        return of_methods().unwrap_or_else(nothing_written);
    };
    if attachment.in_memory {
        return unknown(DiagnosisReason::InMemory, Decider::Device);
    }
    let inputs = Inputs { observations, findings, attachment, sweep: &sweep };
    let sweep = long_stream::bounded_sweep(&inputs);
    of_inputs(&Inputs { sweep: &sweep, ..inputs })
}

fn of_inputs(inputs: &Inputs<'_>) -> Diagnosis {
    let (workload, mut untested) = baseline(inputs);
    let mut counterfactuals = Vec::new();
    for rule in RULES {
        match (rule.counterfactual)(inputs, &workload) {
            Ok(counterfactual) => counterfactuals.extend(counterfactual),
            Err(reason) => untested.push(reason),
        }
    }
    let costs = costs_of(&counterfactuals, &workload, &EVERYDAY);
    untested.sort_by_key(|untested| untested.bottleneck);
    untested.dedup_by_key(|untested| untested.bottleneck);
    let conclusion = conclusion(inputs, &workload, &costs, &untested);
    let small_files = costs_of(&counterfactuals, &workload, &SMALL_FILES);
    let small_files = small_files.into_iter().next().filter(|first| first.gain.likely >= GAIN_REPORTED_MIN);
    Diagnosis {
        costs,
        small_files,
        untested,
        copy_max: long_stream::copy_max(inputs),
        time_shares: time_shares(&counterfactuals, &workload),
        archive: archive_gain(&workload),
        ..Diagnosis::new(conclusion)
    }
}

/// The cost of every bottleneck for a copy with these shares, in descending order of gain.
fn costs_of(counterfactuals: &[Counterfactual], workload: &Workload, shares: &Shares) -> Vec<Cost> {
    let costs = counterfactuals.iter().filter_map(|each| each.cost(workload, shares));
    let mut costs: Vec<Cost> = costs.collect();
    costs.sort_by(|a, b| b.gain.likely.total_cmp(&a.gain.likely));
    costs
}

/// A diagnosis without any rule applied.
const fn unknown(reason: DiagnosisReason, would_decide: Decider) -> Diagnosis {
    Diagnosis::new(Conclusion::Unknown { reason, would_decide })
}

/// The bottleneck with the largest gain, if that is reportable; otherwise the flash, if every rule that is
/// needed for it was applied.
fn conclusion(inputs: &Inputs<'_>, workload: &Workload, costs: &[Cost], untested: &[Untested]) -> Conclusion {
    if let Some(first) = costs.first().filter(|first| first.gain.likely >= GAIN_REPORTED_MIN) {
        return Conclusion::Bottleneck(first.clone());
    }
    let needed = RULES.into_iter().rev().find_map(|rule| {
        let untested = untested.iter().find(|untested| untested.bottleneck == rule.bottleneck)?;
        Some((untested, rule.would_decide?))
    });
    match needed {
        Some((Untested { bottleneck, reason }, would_decide)) => Conclusion::Unknown {
            reason: DiagnosisReason::NotTested { bottleneck: *bottleneck, reason: Box::new(reason.clone()) },
            would_decide: would_decide(inputs),
        },
        None => Conclusion::Flash(DiagnosisEvidence::Flash {
            single_bytes_per_s: 1.0 / inputs.sweep.time_per_byte(CopyPart::Large.request()),
            long_bytes_per_s: 1.0 / workload.time_per_byte(CopyPart::Large).seconds,
        }),
    }
}
