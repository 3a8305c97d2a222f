//! Rule *small writes*: the gain of writing the same bytes in large requests.

use flashscope_record::diagnosis::{Bottleneck, DiagnosisEvidence, DiagnosisReason, Untested};

use crate::diagnosis::gain::{Counterfactual, RUN_FACTOR, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::partial_pages::misalignment;
use crate::diagnosis::workload::{CopyPart, Workload};

pub fn counterfactual(inputs: &Inputs<'_>, workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let request = CopyPart::Small.request();
    if inputs.sweep.starts_above(request) {
        return Err(Untested { bottleneck: Bottleneck::SmallWrites, reason: DiagnosisReason::NoSizeSweep });
    }
    if inputs.sweep.is_absorbed_by_write_buffer(request) {
        return Err(Untested { bottleneck: Bottleneck::SmallWrites, reason: DiagnosisReason::WriteBuffer });
    }
    let large = inputs.sweep.time_per_byte(CopyPart::Large.request());
    let misalignment = misalignment(inputs);
    // Large requests have fewer partial pages, a gain that alignment would give as well.
    let in_large_requests = |part: CopyPart| {
        let visible = |part| misalignment.as_ref().map_or(0.0, |extra| extra.visible(part));
        let (few, many) = (visible(CopyPart::Large), visible(part));
        let time_per_byte = |partial_pages: f64| large + workload.stalls + partial_pages;
        let (low, high) = (time_per_byte(few.min(many)), time_per_byte(few.max(many)));
        Some(Range { low: low / RUN_FACTOR, likely: (low * high).sqrt(), high: high * RUN_FACTOR })
    };
    let small = workload.time_per_byte(CopyPart::Small).seconds;
    let evidence = DiagnosisEvidence::SmallWrites {
        request,
        latency_s: small * request.as_f64(),
        bytes_per_s: 1.0 / small,
        large_bytes_per_s: 1.0 / large,
    };
    let without = [None, in_large_requests(CopyPart::Medium), in_large_requests(CopyPart::Small), None];
    Ok(Some(Counterfactual { bottleneck: Bottleneck::SmallWrites, without, evidence }))
}
