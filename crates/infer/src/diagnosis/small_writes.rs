//! Small writes: what requests below the write unit take beside the same bytes in large ones.

use flashscope_record::diagnosis::{Layer, Unweighed};
use flashscope_record::figure::{speed, time};

use crate::diagnosis::alignment;
use crate::diagnosis::gain::{Cure, Range};
use crate::diagnosis::seen::Seen;
use crate::diagnosis::workload::{Part, Workload};

/// What large requests take is known to this factor.
const FACTOR: f64 = 1.06;

pub fn cure(seen: &Seen<'_>, workload: &Workload) -> Result<Option<Cure>, Unweighed> {
    let request = Part::Small.request();
    if seen.ladder.is_memorys(request) {
        let reason = "memory of the controller takes small writes at once, so that they do not tell what they cost the flash".into();
        return Err(Unweighed { layer: Layer::SmallWrites, reason });
    }
    let large = seen.ladder.seconds_per_byte(Part::Long.request());
    let extra = alignment::extra(seen);
    // In large writes less data lies at the edges of pages, which alignment would give as well.
    let packed = |part: Part| {
        let [few, many] =
            extra.as_ref().map_or([0.0; 2], |extra| [extra.likely(Part::Long), extra.likely(part)]);
        let takes = |extra: f64| large + workload.stalls + extra;
        let (low, high) = (takes(few.min(many)), takes(few.max(many)));
        Some(Range { low: low / FACTOR, likely: (low * high).sqrt(), high: high * FACTOR })
    };
    let small = workload.pace(Part::Small).seconds;
    let evidence = format!(
        "a write of {request} takes {}, which is {}; large ones reach {}",
        time(small * request.as_f64()),
        speed(1.0 / small),
        speed(1.0 / large)
    );
    Ok(Some(Cure {
        layer: Layer::SmallWrites,
        after: [None, packed(Part::Medium), packed(Part::Small), None],
        evidence,
    }))
}
