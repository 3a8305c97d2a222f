//! The document of `bench methods`.

use flashscope_probe::RunFile;
use flashscope_probe::diagnosis::diagnose;
use flashscope_probe::inference::{cached, truth};
use flashscope_probe::observation::{Claim, MethodsData};
use flashscope_report::claims::reasons;
use serde_json::{Value, json};

/// The same bytes written in several ways: what each claims, what is true, and why they differ.
pub fn methods(run: &RunFile, data: &MethodsData) -> Value {
    let truth = truth(data);
    let way = |claim: &Claim| {
        json!({
            "way": claim.way,
            "command": claim.way.command(),
            "bytes": claim.bytes,
            "claimed_seconds": claim.claimed_s,
            "claimed_bytes_per_s": claim.claimed(),
            "durable_seconds": claim.durable_s,
            "durable_bytes_per_s": claim.durable(),
            "source_bytes_per_s": claim.source(),
            "times_truth": truth.map(|truth| claim.claimed() / truth),
            "cached": cached(data, claim),
            "why": truth.map(|truth| reasons(data, claim, truth)).unwrap_or_default(),
        })
    };
    super::document(json!({
        "target": run.target,
        "measured_at": run.measured_at,
        "true_bytes_per_s": truth,
        "link": data.link,
        "instead": data.instead,
        "bottleneck": super::bottleneck(&diagnose(&run.observations, &[], &run.attachment)),
        "ways": data.claims.iter().map(way).collect::<Vec<_>>(),
    }))
}
