//! The verdict of a check, from its run and findings.

mod actions;
mod numbers;
mod yardsticks;

use flashscope_record::diagnosis::{Conclusion, Diagnosis};
use flashscope_record::finding::Finding;
use flashscope_record::observation::{Data, Observations};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Mark, PredictedGains, SpeedNumber, Verdict, VerdictState};

pub use self::actions::COPY_MIN;
pub use self::numbers::rows_of;
use crate::diagnosis::diagnose_run;

/// The verdict of a run; `None` if it is not the run of a check, which measures geometry and speeds, or stops
/// where the capacity is false.
#[must_use]
pub fn verdict_of(run: &RunFile, findings: &[Finding], predicted: &PredictedGains) -> Option<Verdict> {
    let has = |is: fn(&Data) -> bool| run.observations.iter().any(|seen| is(&seen.data));
    let is_measured =
        has(|data| matches!(data, Data::Align(_))) && has(|data| matches!(data, Data::Speed(_)));
    if !is_measured && run.false_capacity().is_none() {
        return None;
    }
    let diagnosis = diagnose_run(run, findings);
    let numbers = numbers::numbers(run, findings);
    let state = state(run, &diagnosis, &numbers);
    let actions = actions::actions(run, findings, &diagnosis, predicted);
    Some(Verdict { state, numbers, diagnosis, actions })
}

/// Whether any write of the run was measured.
fn has_writes(run: &RunFile) -> bool {
    run.observations.iter().any(is_of_writes)
}

fn is_of_writes(seen: &Observations) -> bool {
    matches!(&seen.data, Data::WriteSize(data) if !data.cells.is_empty())
}

fn state(run: &RunFile, diagnosis: &Diagnosis, numbers: &[SpeedNumber; 4]) -> VerdictState {
    if run.false_capacity().is_some() {
        return VerdictState::FalseCapacity;
    }
    if run.loses_data() {
        return VerdictState::LosesData;
    }
    if run.failed_requests > 0 {
        return VerdictState::Failing;
    }
    // The yardsticks are those of sticks and cards.
    if run.attachment.host_disk.is_some() {
        return VerdictState::Unknown;
    }
    let [read, sequential, _, random] = numbers.each_ref().map(SpeedNumber::mark);
    let are_good = |numbers: &[SpeedNumber]| numbers.iter().all(|number| number.mark() == Some(Mark::Good));
    match &diagnosis.conclusion {
        _ if sequential == Some(Mark::Poor) => VerdictState::Slow,
        Conclusion::Bottleneck(_) if sequential != Some(Mark::Good) => VerdictState::Slow,
        _ if read == Some(Mark::Poor) => VerdictState::Slow,
        // Without a speed of large writes nothing says that those are fast.
        _ if random == Some(Mark::Poor) && sequential.is_none() => VerdictState::Slow,
        _ if random == Some(Mark::Poor) => VerdictState::SlowSmallWrites,
        Conclusion::Unknown { .. } => VerdictState::Unknown,
        Conclusion::Flash(_) if are_good(numbers) => VerdictState::Fast,
        Conclusion::Flash(_) | Conclusion::Bottleneck(_) => VerdictState::Usual,
    }
}
