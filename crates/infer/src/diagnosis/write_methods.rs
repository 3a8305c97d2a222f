//! The diagnosis of a run of *bench methods*: a source that is slower than the device, and speeds that only
//! the page cache has.
//!
//! The page cache limits no device: data in it is not durable yet.

use flashscope_record::diagnosis::{
    Bottleneck, CachedSpeed, Conclusion, Cost, Decider, Diagnosis, DiagnosisEvidence, DiagnosisReason,
    GAIN_REPORTED_MIN, Gain,
};
use flashscope_record::observation::{Data, Observations};

use crate::diagnosis::gain::DIFFERS;
use crate::diagnosis::inputs::last_data;
use crate::files::comparison::Spread;
use crate::files::write_methods::{MethodSpeed, method_speeds, truth};

/// The factor within which two runs of the same method agree. Guess.
const RUN_TO_RUN_FACTOR: f64 = 1.1;

/// The diagnosis, if write methods were measured.
pub fn diagnosis(observations: &[Observations]) -> Option<Diagnosis> {
    let data = last_data(observations, |data| match data {
        Data::Methods(data) => Some(data),
        _ => None,
    })?;
    let (methods, truth) = (method_speeds(data), truth(data));
    let costs: Vec<Cost> = truth.and_then(|truth| slowest_source(&methods, &truth)).into_iter().collect();
    let conclusion = match costs.first().filter(|cost| cost.gain.likely >= GAIN_REPORTED_MIN) {
        Some(cost) => Conclusion::Bottleneck(cost.clone()),
        None => Conclusion::Unknown {
            reason: DiagnosisReason::OnlyWriteMethods,
            would_decide: Decider::WriteTests,
        },
    };
    let cached_speeds = if truth.is_some() { cached_speeds(&methods) } else { Vec::new() };
    Some(Diagnosis { costs, cached_speeds, ..Diagnosis::new(conclusion) })
}

/// The slowest of the sources that limit a method: the source alone is slower than the device, and so is the
/// write. The intervals over all rounds must lie apart, so that a stall is not mistaken for a slow source.
fn slowest_source(methods: &[MethodSpeed], truth: &Spread) -> Option<Cost> {
    let limited = methods.iter().filter(|method| method.is_limited_by_its_source(truth));
    let method = limited.min_by(|a, b| a.durable.median.total_cmp(&b.durable.median))?;
    let likely = (truth.median / method.durable.median).max(1.0);
    let low = (truth.low / method.durable.high).min(likely / RUN_TO_RUN_FACTOR).max(1.0);
    let high = (truth.high / method.durable.low).max(likely * RUN_TO_RUN_FACTOR);
    let evidence = DiagnosisEvidence::DataSource {
        method: method.method,
        source_bytes_per_s: method.source.map_or(0.0, |source| source.median),
        durable_bytes_per_s: method.durable.median,
        other_bytes_per_s: truth.median,
    };
    Some(Cost { bottleneck: Bottleneck::DataSource, gain: Gain { low, likely, high }, evidence })
}

fn cached_speeds(methods: &[MethodSpeed]) -> Vec<CachedSpeed> {
    let through_page_cache = methods.iter().filter(|method| method.method.may_end_in_page_cache());
    let cached = through_page_cache.filter(|method| method.reported_ratio.low > DIFFERS);
    let speed = |method: &MethodSpeed| CachedSpeed {
        bottleneck: Bottleneck::PageCache,
        ratio: method.reported_ratio.median,
        evidence: DiagnosisEvidence::PageCache {
            method: method.method,
            reported_bytes_per_s: method.reported.median,
            durable_bytes_per_s: method.durable.median,
        },
    };
    cached.map(speed).collect()
}
