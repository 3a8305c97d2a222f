//! The document of `bench methods`.

use flashscope_infer::diagnose;
use flashscope_infer::files::comparison::Spread;
use flashscope_infer::files::write_methods::{WaySpeed, cached, truth, ways};
use flashscope_record::observation::MethodsData;
use flashscope_record::run_file::RunFile;
use flashscope_report::words;
use flashscope_report::write_methods::reasons;
use serde_json::{Value, json};

/// The same bytes written in several ways: what each claims, what is true, and why they differ.
pub fn methods(run: &RunFile, data: &MethodsData) -> Value {
    let (truth, ways) = (truth(data), ways(data));
    let way = |way: &WaySpeed| {
        json!({
            "way": way.way,
            "command": way.way.command(),
            "rounds": way.rounds,
            "bytes": data.claims.iter().find(|claim| claim.way == way.way).map(|claim| claim.bytes),
            "claimed_seconds": way.claimed_s,
            "claimed_bytes_per_s": way.claimed.median,
            "claimed": spread(&way.claimed),
            "durable_seconds": way.durable_s,
            "durable_bytes_per_s": way.durable.median,
            "durable": spread(&way.durable),
            "source_bytes_per_s": way.source.map(|source| source.median),
            "times_really": spread(&way.times),
            "times_truth": truth.map(|truth| way.claimed.median / truth.median),
            "cached": cached(data, way).as_ref().map(words::cached),
            "why": truth.map(|truth| reasons(&ways, way, &truth)).unwrap_or_default(),
        })
    };
    super::document(json!({
        "target": run.target,
        "measured_at": run.measured_at,
        "true_bytes_per_s": truth.map(|truth| truth.median),
        "true": truth.as_ref().map(spread),
        "link": data.link,
        "instead": data.instead,
        "bottleneck": super::bottleneck(&diagnose(&run.observations, &[], &run.attachment)),
        "ways": ways.iter().map(way).collect::<Vec<_>>(),
    }))
}

fn spread(spread: &Spread) -> Value {
    json!({ "median": spread.median, "low": spread.low, "high": spread.high })
}
