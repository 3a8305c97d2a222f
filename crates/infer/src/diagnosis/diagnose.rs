//! The diagnosis of a run: every rule is asked, and the largest gain names the bottleneck.

use flashscope_record::diagnosis::{Bottleneck, Cost, Diagnosis, LITTLE, Layer, Unweighed, Why};
use flashscope_record::figure::speed;
use flashscope_record::finding::{Finding, Reason, WouldDecide};
use flashscope_record::observation::Observations;
use flashscope_record::run_file::RunFile;

use crate::findings::on_a_virtual_stick;
use crate::sanity::{self, objection_to};

use crate::diagnosis::gain::Cure;
use crate::diagnosis::seen::Seen;
use crate::diagnosis::size_sweep::Ladder;
use crate::diagnosis::workload::{EVERYDAY, Part, SMALL_FILES, Shares, Workload};
use crate::diagnosis::{alignment, claims, driver, link, open_units, slc_cache, small_writes, workload};
use flashscope_record::attachment::Attachment;

/// Of what no time tells anything of a stick.
pub const IN_MEMORY: &str = "lies in memory (tmpfs), where no time tells anything of a stick";

/// The diagnosis of a run: none where so many requests failed that times tell nothing.
#[must_use]
pub fn diagnose_run(run: &RunFile, findings: &[Finding]) -> Diagnosis {
    if !run.fails_often() {
        let mut diagnosis = diagnose(&run.observations, findings, &run.attachment);
        if let Bottleneck::Unknown { would_decide, .. } = &mut diagnosis.bottleneck
            && run.is_of_a_virtual_stick()
        {
            on_a_virtual_stick(would_decide);
        }
        return diagnosis;
    }
    let (failed, all) = (run.failed_requests, run.requests());
    open(
        format!(
            "{failed} of {all} requests failed, and what the others took tells nothing of a sound device"
        ),
        WouldDecide::OtherPort,
    )
}

/// The diagnosis of a device from what was measured, what was concluded from it, and how it is plugged in.
#[must_use]
pub fn diagnose(observations: &[Observations], findings: &[Finding], attachment: &Attachment) -> Diagnosis {
    if let Some(objection) = objection_to(observations, findings) {
        let would_decide = sanity::would_decide(&objection);
        return open(Reason::Objection(objection), would_decide);
    }
    let Some(ladder) = Ladder::of(observations) else {
        return claims::diagnosis(observations).unwrap_or_else(nothing_written);
    };
    if attachment.in_memory {
        return open(format!("it {IN_MEMORY}"), WouldDecide::RealStick);
    }
    let seen = Seen { observations, findings, attachment, ladder: &ladder };
    let ladder = ladder.clone().behind_memory(slc_cache::behind_memory(&seen));
    let seen = Seen { ladder: &ladder, ..seen };
    let (workload, mut unweighed) = workload::measured(&seen);
    let cures = [
        link::cure(&seen, &workload),
        driver::cure(&seen, &workload),
        small_writes::cure(&seen, &workload),
        alignment::cure(&seen, &workload),
        open_units::cure(&seen, &workload),
        slc_cache::cure(&seen, &workload),
    ];
    let mut weighed = Vec::new();
    for cure in cures {
        match cure {
            Ok(cure) => weighed.extend(cure),
            Err(reason) => unweighed.push(reason),
        }
    }
    let costs = costs_of(&weighed, &workload, &EVERYDAY);
    unweighed.sort_by_key(|unweighed| unweighed.layer);
    unweighed.dedup_by_key(|unweighed| unweighed.layer);
    let bottleneck = bottleneck(&seen, &workload, &costs, &unweighed);
    let small_files = costs_of(&weighed, &workload, &SMALL_FILES);
    let small_files = small_files.into_iter().next().filter(|first| first.gain.likely >= LITTLE);
    Diagnosis { bottleneck, costs, small_files, unweighed, illusions: Vec::new() }
}

/// What each layer costs a copy of these parts, if it costs something, the largest gain first.
fn costs_of(cures: &[Cure], workload: &Workload, shares: &Shares) -> Vec<Cost> {
    let mut costs: Vec<Cost> = cures.iter().filter_map(|cure| cure.cost(workload, shares)).collect();
    costs.sort_by(|a, b| b.gain.likely.total_cmp(&a.gain.likely));
    costs
}

fn nothing_written() -> Diagnosis {
    open(
        "no writes of every size were measured, so that it is not known where the time goes",
        WouldDecide::WriteTests,
    )
}

/// Nothing was weighed.
fn open(reason: impl Into<Why>, would_decide: WouldDecide) -> Diagnosis {
    let bottleneck = Bottleneck::Unknown { reason: reason.into(), would_decide: vec![would_decide] };
    Diagnosis {
        bottleneck,
        costs: Vec::new(),
        small_files: None,
        unweighed: Vec::new(),
        illusions: Vec::new(),
    }
}

/// The largest cost, if it is worth a word; otherwise the flash, if everything was weighed that is usually larger.
fn bottleneck(seen: &Seen<'_>, workload: &Workload, costs: &[Cost], unweighed: &[Unweighed]) -> Bottleneck {
    if let Some(first) = costs.first().filter(|first| first.gain.likely >= LITTLE) {
        return Bottleneck::Layer(first.clone());
    }
    let open = |layer| unweighed.iter().find(|unweighed| unweighed.layer == layer);
    match [Layer::SlcCache, Layer::OpenUnits, Layer::Driver, Layer::Link].into_iter().find_map(open) {
        Some(unweighed) => Bottleneck::Unknown {
            reason: Why::NotWeighed(unweighed.layer, Box::new(unweighed.reason.clone())),
            would_decide: would_decide(seen, unweighed.layer),
        },
        None => Bottleneck::Flash { evidence: of_flash(seen, workload) },
    }
}

/// What would tell of a layer that could not be weighed.
fn would_decide(seen: &Seen<'_>, layer: Layer) -> Vec<WouldDecide> {
    match layer {
        Layer::SlcCache => slc_cache::would_decide(seen),
        Layer::OpenUnits => vec![WouldDecide::QuieterMachine],
        Layer::Driver => vec![WouldDecide::LargerCommands],
        _ => vec![WouldDecide::KnownLink],
    }
}

fn of_flash(seen: &Seen<'_>, workload: &Workload) -> String {
    let best = speed(1.0 / seen.ladder.seconds_per_byte(Part::Long.request()));
    let long = speed(1.0 / workload.pace(Part::Long).seconds);
    format!(
        "single large writes reach {best} and long copies {long}; nothing around the flash costs much of that"
    )
}
