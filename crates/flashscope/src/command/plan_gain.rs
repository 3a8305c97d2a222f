//! What a plan gains over what is on the stick: the cost of its misaligned partitions, and a prediction on
//! the virtual twin of a run.

use flashscope_infer::diagnosis::diagnose_run;
use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_layout::Plan;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::plan::{GainInterval, PredictedGain};
use flashscope_record::diagnosis::Bottleneck;
use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_recording::{RecordingError, Recordings, Wish};
use flashscope_twin::whatif::{Layouts, StickTwin, present};

/// The cost of misaligned partitions, if it was measured.
pub fn of_alignment(run: &RunFile, findings: &[Finding]) -> Option<GainInterval> {
    let diagnosis = diagnose_run(run, findings);
    let of = |bottleneck| diagnosis.cost(bottleneck).map(|cost| cost.gain);
    let gain = of(Bottleneck::Alignment).or_else(|| of(Bottleneck::Filesystem))?;
    Some(GainInterval { low: gain.low, likely: gain.likely, high: gain.high })
}

/// How much faster the plan writes many files than what was on the stick of the run. `None` if the run has no
/// twin, or if one of the two filesystems is not known or was not recorded.
pub fn predicted(run: &RunFile, plan: &Plan) -> Option<PredictedGain> {
    let baseline = present(run)?;
    let placement = &plan.partitions.iter().max_by_key(|each| each.placement.size)?.placement;
    let planned = Layout { variant: variant(placement.filesystem).to_owned(), start: placement.start };
    let twin = StickTwin::of(run).ok()?;
    let recordings = Recordings::embedded().ok()?;
    let mut starts = vec![baseline.start, planned.start];
    starts.sort_unstable();
    starts.dedup();
    let wish = Wish {
        variants: vec![baseline.variant.clone(), planned.variant.clone()],
        workloads: vec![TrialWorkload::Tree],
        rounds: None,
    };
    let layouts = Layouts {
        recordings: &recordings,
        wish,
        starts,
        erase_block: twin.profile.ftl.erase_block,
        request_max: twin.request_max,
        capacity: twin.profile.capacity,
        seed: SEED,
    };
    let tried = layouts.tried(|seed| Ok::<_, RecordingError>(twin.device(seed)), || true).ok()?;
    let forecast = Forecast::of(&tried.trials, &baseline, twin.model);
    let gain = forecast.prediction(&planned, TrialWorkload::Tree, TrialOperation::Write)?.gain?;
    Some(PredictedGain {
        now: baseline.variant,
        now_start: baseline.start,
        gain: GainInterval { low: gain.low, likely: gain.ratio, high: gain.high },
    })
}

/// The seed of the twin. Any does: with the same one the answer is the same.
const SEED: u64 = 1;

/// The name in recordings of a filesystem as plans make it.
const fn variant(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Ext4 => "ext4-stripe",
        _ => kind.as_str(),
    }
}
