//! The documents of `--json`. Every one begins with `format` and `flashscope`.

mod disk;
mod files;
mod findings;
mod methods;

pub use disk::{disk, idle};
use findings::EndedDocument;
pub use findings::FindingDocument;

use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::drift::Drift;
use flashscope_infer::streams::speed::{Speed, Unsettled};
use flashscope_infer::streams::sustained::{SoFar, so_far};
use flashscope_infer::streams::throughput_profile::{Recovered, ThroughputProfile, throughput_profile};
use flashscope_record::diagnosis::{Bottleneck, CachedSpeed, Conclusion, Cost, Diagnosis, Untested};
use flashscope_record::finding::Finding;
use flashscope_record::observation::{Data, NamedResult, Observations, ResultValue, SpeedCase};
use flashscope_record::run_file::RunFile;
use flashscope_report::words::diagnosis::{decider_text, evidence_text, reason_text};
use flashscope_report::{Report, advice, words};
use serde_json::{Map, Value, json};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The format number of `--json`.
const FORMAT: u32 = 1;

/// A document with these fields behind the common ones.
pub fn document(fields: Value) -> Value {
    let mut document = json!({ "format": FORMAT, "flashscope": VERSION });
    if let (Value::Object(document), Value::Object(fields)) = (&mut document, fields) {
        document.extend(fields);
    }
    document
}

/// The document of a run of `bench files` or `bench methods`; `None` for other runs.
pub fn bench(run: &RunFile) -> Option<Value> {
    run.observations.iter().rev().find_map(|seen| {
        let mut document = match &seen.data {
            Data::Files(data) => files::files(run, seen.conditions.seed, data),
            Data::Methods(data) => methods::methods(run, data),
            _ => return None,
        };
        document["ended"] = json!([EndedDocument::of(&seen.ended)]);
        Some(document)
    })
}

/// The document of a check, a measurement or an import.
pub fn findings(run: &RunFile, findings: &[Finding], identity: &Value) -> Value {
    let report = Report { run, findings }.without_memory_findings();
    let speeds = speeds(run);
    let ended: Vec<_> = run.observations.iter().map(|seen| EndedDocument::of(&seen.ended)).collect();
    let found: Vec<_> = report.findings.iter().map(FindingDocument::of).collect();
    let mut document = document(json!({
        "target": run.target,
        "identity": identity,
        "measured_at": run.measured_at,
        "findings": found,
        "bottleneck": bottleneck(&report.diagnosis()),
        "advice": advice(&report),
        "cost": {
            "reads": run.cost.reads,
            "writes": run.cost.writes,
            "bytes_read": run.cost.bytes_read,
            "bytes_written": run.cost.bytes_written,
            "device_seconds": run.cost.device_time.as_secs_f64(),
        },
        "ended": ended,
        "remarks": run.remarks,
    }));
    if let Some(stream) = flashscope_report::sustained_write(&report) {
        document["course"] = course_document(&throughput_profile(stream), so_far(stream));
    }
    let results = results(run);
    if !results.is_empty() {
        document["results"] = Value::Array(results);
    }
    if !speeds.is_empty() {
        document["speeds"] = Value::Array(speeds);
    }
    document
}

/// How fast a long stream of writes was in the end, whether or not that lasts.
pub fn so_far_document(so_far: Option<SoFar>) -> Value {
    so_far.map_or(Value::Null, |so_far| {
        json!({
            "bytes": so_far.bytes,
            "bytes_per_s": so_far.bytes_per_s,
            "low": so_far.bytes_per_s_low,
            "high": so_far.bytes_per_s_high,
        })
    })
}

/// Where a long stream of writes changes its speed, how fast it was in the end, what stalls it, what pauses give back.
fn course_document(course: &ThroughputProfile, so_far: Option<SoFar>) -> Value {
    let change = |change: &Change| {
        json!({
            "written_bytes": change.written,
            "before_bytes_per_s": change.before_bytes_per_s,
            "behind_bytes_per_s": change.behind_bytes_per_s,
        })
    };
    let stalls = course.stalls.map(|stalls| {
        json!({
            "period_bytes": stalls.period,
            "low": stalls.period_low,
            "high": stalls.period_high,
            "seen": stalls.seen,
            "seconds": stalls.seconds,
            "seconds_max": stalls.seconds_max,
            "share_of_time": stalls.share,
        })
    });
    let recovered = |recovered: &Recovered| {
        json!({
            "pause_s": recovered.pause.as_secs_f64(),
            "fast_bytes": recovered.bytes,
            "at_least": recovered.is_at_least,
        })
    };
    json!({
        "changes": course.changes.iter().map(change).collect::<Vec<_>>(),
        "so_far": so_far_document(so_far),
        "stalls": stalls,
        "recovered": course.recovered.iter().map(recovered).collect::<Vec<_>>(),
    })
}

/// One object per kind of request that was timed in rows.
fn speeds(run: &RunFile) -> Vec<Value> {
    let told = |(case, speed): (SpeedCase, Option<Speed>)| {
        let mut object = json!({
            "direction": case.direction,
            "order": case.order,
            "request_bytes": case.request,
            "queue_depth": case.queue_depth,
            "status": if speed.is_some() { "found" } else { "unknown" },
        });
        if let (Some(speed), Value::Object(object)) = (speed, &mut object) {
            object.extend(figures(&speed));
        }
        object
    };
    flashscope_report::speeds(run).into_iter().map(told).collect()
}

fn figures(speed: &Speed) -> Map<String, Value> {
    let latency = &speed.latency;
    let figures = json!({
        "bytes_per_s": speed.bytes_per_s,
        "low": speed.bytes_per_s_low,
        "high": speed.bytes_per_s_high,
        "confidence": speed.confidence,
        "requests_per_s": speed.requests_per_s(),
        "requests": speed.requests,
        "seconds": speed.seconds,
        "written_bytes": speed.written.map(|(from, to)| json!({ "from": from, "to": to })),
        "startup": speed.startup.map(|startup| json!({ "bytes": startup.bytes, "bytes_per_s": startup.bytes_per_s })),
        "latency_s": {
            "min": latency.min,
            "p50": latency.p50,
            "p90": latency.p90,
            "p99": latency.p99,
            "p999": latency.p999,
            "max": latency.max,
        },
        "unsettled": speed.unsettled.map(unsettled),
        "cached": speed.cached.as_ref().map(words::cached),
    });
    match figures {
        Value::Object(figures) => figures,
        _ => Map::new(),
    }
}

fn unsettled(why: Unsettled) -> Value {
    match why {
        Unsettled::Drifts(Drift::Faster) => json!({ "reason": "faster" }),
        Unsettled::Drifts(Drift::Slower) => json!({ "reason": "slower" }),
        Unsettled::BehindCache(cache) => json!({ "reason": "behind_cache", "cache_bytes": cache }),
    }
}

/// The bottleneck with the largest gain, all others with a gain, and those that were not tested.
fn bottleneck(diagnosis: &Diagnosis) -> Value {
    let mut document = match &diagnosis.conclusion {
        Conclusion::Bottleneck(first) => {
            let mut document = cost(first);
            document["status"] = json!("found");
            document
        }
        Conclusion::Flash(evidence) => json!({
            "status": "found",
            "layer": Bottleneck::Flash.as_str(),
            "gain": null,
            "evidence": evidence_text(evidence),
        }),
        Conclusion::Unknown { reason, would_decide } => json!({
            "status": "unknown",
            "layer": null,
            "reason": reason_text(reason),
            "would_decide": decider_text(would_decide),
        }),
    };
    document["costs"] = diagnosis.costs.iter().map(cost).collect();
    document["small_files"] = diagnosis.small_files.as_ref().map_or(Value::Null, cost);
    if !diagnosis.cached_speeds.is_empty() {
        document["illusions"] = diagnosis.cached_speeds.iter().map(cached_speed).collect();
    }
    let untested =
        |each: &Untested| json!({ "layer": each.bottleneck.as_str(), "reason": reason_text(&each.reason) });
    document["unweighed"] = diagnosis.untested.iter().map(untested).collect();
    document
}

fn cost(cost: &Cost) -> Value {
    json!({ "layer": cost.bottleneck.as_str(), "gain": cost.gain, "evidence": evidence_text(&cost.evidence) })
}

fn cached_speed(speed: &CachedSpeed) -> Value {
    json!({
        "layer": speed.bottleneck.as_str(),
        "times": speed.ratio,
        "evidence": evidence_text(&speed.evidence),
    })
}

/// One object for each experiment with results: they have no finding. Names end with the unit.
fn results(run: &RunFile) -> Vec<Value> {
    let object = |seen: &Observations| {
        let results = seen.data.facts().results();
        let fields = results.iter().map(|NamedResult { name, value }| match *value {
            ResultValue::Flag(flag) => ((*name).to_owned(), json!(flag)),
            ResultValue::Word(word) => ((*name).to_owned(), json!(word)),
            ResultValue::Count(count) => ((*name).to_owned(), json!(count)),
            ResultValue::Ratio(ratio) => ((*name).to_owned(), json!(ratio)),
            ResultValue::Bytes(bytes) => (format!("{name}_bytes"), json!(bytes)),
            ResultValue::Seconds(seconds) => (format!("{name}_s"), json!(seconds)),
        });
        let experiment = std::iter::once(("experiment".to_owned(), json!(seen.data.name())));
        (!results.is_empty()).then(|| Value::Object(experiment.chain(fields).collect()))
    };
    run.observations.iter().filter_map(object).collect()
}
