//! What a plan gains over what is on the stick: the cost of its misaligned partitions, and a prediction on
//! the virtual twin of a run.

use flashscope_infer::diagnosis::diagnose_run;
use flashscope_infer::trials::forecast::Layout;
use flashscope_layout::Plan;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::plan::{GainInterval, PredictedGain};
use flashscope_record::diagnosis::{Bottleneck, Gain};
use flashscope_record::finding::Finding;
use flashscope_record::run_file::RunFile;
use flashscope_twin::whatif::{self, PLANNED_EXT4, present};

/// The cost of misaligned partitions, if it was measured.
pub fn of_alignment(run: &RunFile, findings: &[Finding]) -> Option<GainInterval> {
    let diagnosis = diagnose_run(run, findings);
    let of = |bottleneck| diagnosis.cost(bottleneck).map(|cost| cost.gain);
    let gain = of(Bottleneck::Alignment).or_else(|| of(Bottleneck::Filesystem))?;
    Some(interval(gain))
}

/// How much faster the plan writes many files than what was on the stick of the run. `None` if the run has no
/// twin, or if one of the two filesystems is not known or was not recorded.
pub fn predicted(run: &RunFile, plan: &Plan, goes_on: impl FnMut() -> bool) -> Option<PredictedGain> {
    let baseline = present(run)?;
    let placement = &plan.partitions.iter().max_by_key(|each| each.placement.size)?.placement;
    let planned = Layout { variant: variant(placement.filesystem).to_owned(), start: placement.start };
    let gain = whatif::gains(run, &[planned], goes_on)?.pop()??;
    Some(PredictedGain { now: baseline.variant, now_start: baseline.start, gain: interval(gain) })
}

const fn interval(gain: Gain) -> GainInterval {
    GainInterval { low: gain.low, likely: gain.likely, high: gain.high }
}

/// The name in recordings of a filesystem as plans make it.
const fn variant(kind: FilesystemKind) -> &'static str {
    match kind {
        FilesystemKind::Ext4 => PLANNED_EXT4,
        _ => kind.as_str(),
    }
}
