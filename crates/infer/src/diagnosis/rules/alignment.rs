//! Rule *alignment* or *filesystem*: the cost of data that begins inside a page.

use flashscope_record::diagnosis::{Bottleneck, DiagnosisEvidence, DiagnosisReason, Untested};

use crate::diagnosis::gain::{Counterfactual, LEFT_MIN, Range};
use crate::diagnosis::inputs::Inputs;
use crate::diagnosis::partial_pages::misalignment;
use crate::diagnosis::workload::{CopyPart, Workload};

/// The factor within which the time of partial pages is known: some controllers merge neighbours, others
/// first read the rest of the page. Guess.
const PARTIAL_PAGE_FACTOR: f64 = 1.3;

pub fn counterfactual(inputs: &Inputs<'_>, workload: &Workload) -> Result<Option<Counterfactual>, Untested> {
    let untested = |reason| Err(Untested { bottleneck: Bottleneck::Alignment, reason });
    if inputs.attachment.volumes.is_empty() {
        return untested(DiagnosisReason::NoPartition);
    }
    if inputs.page().is_none() {
        return untested(DiagnosisReason::NoPageSize);
    }
    let Some(misalignment) = misalignment(inputs) else { return Ok(None) };
    let without = |part: CopyPart| {
        let (now, added) = (workload.time_per_byte(part).seconds, misalignment.visible(part));
        (added > 0.0).then(|| Range::without(now, added, PARTIAL_PAGE_FACTOR, LEFT_MIN))
    };
    let is_partition_aligned = misalignment.volume.start.is_multiple_of(misalignment.page);
    let evidence = DiagnosisEvidence::Alignment {
        volume: misalignment.volume.name.clone(),
        data_start: misalignment.data_start(),
        page: misalignment.page,
        partial_page_s: misalignment.partial_page_s,
    };
    Ok(Some(Counterfactual {
        bottleneck: if is_partition_aligned { Bottleneck::Filesystem } else { Bottleneck::Alignment },
        without: CopyPart::ALL.map(without),
        evidence,
    }))
}
