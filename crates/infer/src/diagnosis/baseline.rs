//! The everyday copy on the device as it is.

use flashscope_record::diagnosis::{Bottleneck, DiagnosisReason, Untested};

use crate::diagnosis::block_switch;
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::long_stream;
use crate::diagnosis::partial_pages::misalignment;
use crate::diagnosis::workload::{CopyPart, TimePerByte, Workload};

/// The everyday copy from the measurements, and the bottlenecks that they leave untested.
pub fn baseline(inputs: &Inputs<'_>) -> (Workload, Vec<Untested>) {
    let mut untested = Vec::new();
    let mut measured_or =
        |bottleneck, measured: Result<TimePerByte, DiagnosisReason>, otherwise: TimePerByte| {
            measured.unwrap_or_else(|reason| {
                untested.push(Untested { bottleneck, reason });
                otherwise
            })
        };
    let of_sweep = |part: CopyPart| TimePerByte::of_one_run(inputs.sweep.time_per_byte(part.request()));
    let large =
        measured_or(Bottleneck::SlcCache, long_stream::time_per_byte(inputs), of_sweep(CopyPart::Large));
    let interleaved = measured_or(
        Bottleneck::OpenUnits,
        block_switch::time_per_byte(inputs),
        of_sweep(CopyPart::Interleaved),
    );
    let parts = [large, of_sweep(CopyPart::Medium), of_sweep(CopyPart::Small), interleaved];
    let misalignment = misalignment(inputs);
    let stalls = long_stream::stall_time_per_byte(inputs);
    let with_extra = |part: CopyPart| {
        let aligned = parts[part as usize];
        // The long stream includes its stalls. The other parts come from single writes, without stalled ones.
        let stalls = if part == CopyPart::Large { 0.0 } else { stalls };
        let partial_pages = misalignment.as_ref().map_or(0.0, |misalignment| misalignment.visible(part));
        TimePerByte { seconds: aligned.seconds + partial_pages + stalls, ..aligned }
    };
    (Workload { parts: CopyPart::ALL.map(with_extra), stalls }, untested)
}
