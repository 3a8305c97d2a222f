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

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_device::layer::Cost;
    use flashscope_record::attachment::Attachment;
    use flashscope_record::finding::{Confidence, Evidence, FindingId, ReadEvidence, Value};
    use flashscope_record::observation::{AlignData, Conditions, Ended, Source, SpeedData};
    use flashscope_record::run_file::FORMAT;
    use flashscope_record::verdict::MeasuredSpeed;

    use super::*;

    fn run(data: &[Data]) -> RunFile {
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        let seen = data.iter().map(|data| Observations {
            data: data.clone(),
            conditions: conditions.clone(),
            ended: Ended::Complete,
        });
        RunFile {
            format: FORMAT,
            flashscope: String::new(),
            target: "/dev/sdb".to_owned(),
            device_name: String::new(),
            attachment: Attachment::default(),
            measured_at: String::new(),
            observations: seen.collect(),
            cost: Cost::default(),
            failed_requests: 0,
            is_erased: false,
            capacity: None,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn only_a_run_of_geometry_and_speeds_has_a_verdict() {
        let has_verdict = |data: &[Data]| verdict_of(&run(data), &[], &PredictedGains::default()).is_some();
        let (geometry, speeds) = (Data::Align(AlignData::default()), Data::Speed(SpeedData::default()));
        assert!(has_verdict(&[geometry.clone(), speeds.clone()]));
        assert!(!has_verdict(&[geometry]), "no speed was measured");
        assert!(!has_verdict(&[speeds]), "bench measures speeds alone");
        assert!(!has_verdict(&[]));
    }

    #[test]
    fn the_sequential_write_speed_is_that_of_a_long_copy() {
        let found = |id, value: Value| {
            let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 1e-3, noise_s: 1e-6 });
            Finding::exact(id, value, Confidence::new(0.97), evidence)
        };
        let cache = found(FindingId::SlcCacheBytes, Value::Bytes(Bytes::ZERO));
        let [low, steady, high] = [19e6, 20e6, 22e6];
        let sustained = found(FindingId::SustainedWriteBytesPerS, Value::BytesPerSecond(steady))
            .within(Value::BytesPerSecond(low), Value::BytesPerSecond(high));
        let speeds = numbers::numbers(&run(&[]), &[cache, sustained]).map(|number| number.speed);
        let copy = MeasuredSpeed { bytes_per_s: steady, low, high, is_cached: false };
        assert_eq!(speeds, [None, Some(copy), None, None]);
    }
}
