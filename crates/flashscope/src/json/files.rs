//! The document of `bench files`.

use flashscope_infer::files::comparison::{FilesCause, FilesSpeed, Spread, files_verdict};
use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{FilesData, FilesPart, FilesRound};
use flashscope_record::run_file::RunFile;
use flashscope_report::files::{conditions, headline, reasons, speeds};
use flashscope_report::words;
use serde_json::{Value, json};

/// Many small files beside one large file: figures over all rounds, and why.
pub fn files(run: &RunFile, seed: u64, data: &FilesData) -> Value {
    let verdict = files_verdict(data);
    let [small, large] = speeds(data);
    super::document(json!({
        "target": run.target,
        "measured_at": run.measured_at,
        "seed": seed,
        "profile": data.profile,
        "filesystem": data.filesystem,
        "cluster_bytes": data.cluster,
        "flush": data.flush,
        "cold": data.cold,
        "instead": data.instead,
        "link": data.link,
        "rounds": data.rounds.len(),
        "verdict": headline(data),
        "cause": verdict.as_ref().map(|verdict| cause(&verdict.cause)),
        "ratio": verdict.as_ref().map(|verdict| spread(verdict.ratio)),
        "why": reasons(data),
        "how": conditions(data),
        "small": part(data, small.as_ref(), |round| &round.small),
        "large": part(data, large.as_ref(), |round| &round.large),
    }))
}

const fn cause(cause: &FilesCause) -> &'static str {
    match cause {
        FilesCause::None => "none",
        FilesCause::SmallWrites { .. } => "small_writes",
        FilesCause::Tables { .. } => "filesystem",
        FilesCause::Host { .. } => "host",
        FilesCause::Cached { .. } => "cached",
        FilesCause::Unknown { .. } => "unknown",
    }
}

fn spread(spread: Spread) -> Value {
    json!({ "median": spread.median, "low": spread.low, "high": spread.high })
}

fn part(data: &FilesData, speed: Option<&FilesSpeed>, of: fn(&FilesRound) -> &FilesPart) -> Value {
    let (Some(speed), Some(first)) = (speed, data.rounds.first().map(of)) else { return Value::Null };
    let over = |figure: fn(&FilesPart) -> f64| data.rounds.iter().map(of).map(figure).collect::<Vec<f64>>();
    json!({
        "files": first.files,
        "bytes": first.bytes,
        "allocated_bytes": first.allocated,
        "bloat": speed.bloat,
        "durable_seconds": spread(speed.durable_s),
        "closed_seconds": over(|part| part.made_s),
        "flush_seconds": over(|part| part.flush_s),
        "read_seconds": over(|part| part.read_s),
        "removed_seconds": over(|part| part.removed_s),
        "files_per_s": spread(speed.files_per_s),
        "bytes_per_s": spread(speed.bytes_per_s),
        "read_bytes_per_s": spread(speed.read_bytes_per_s),
        "read_files_per_s": spread(speed.read_files_per_s),
        "cached": speed.read_cached.as_ref().map(words::cached),
        "write_cached": speed.write_cached.as_ref().map(words::cached),
        "each_closed_s": percentiles(data, of, |part| &part.each_made_ns),
        "each_read_s": percentiles(data, of, |part| &part.each_read_ns),
        "warm": data.rounds.iter().map(of).map(|part| part.warm).collect::<Vec<_>>(),
        "writes": data.rounds.iter().map(of).map(|part| part.writes).collect::<Vec<_>>(),
        "reads": data.rounds.iter().map(of).map(|part| part.reads).collect::<Vec<_>>(),
        "wrong_files": data.rounds.iter().map(of).map(|part| part.wrong).sum::<u32>(),
    })
}

/// Of the times of single files, over all rounds; null without any.
fn percentiles(
    data: &FilesData,
    of: fn(&FilesRound) -> &FilesPart,
    times: fn(&FilesPart) -> &Vec<u64>,
) -> Value {
    let all = data.rounds.iter().map(of).flat_map(times);
    let seconds: Vec<f64> = all.map(|each| *each as f64 / 1e9).collect();
    let at = |share| quantile(&seconds, share);
    match at(0.5) {
        Some(p50) => json!({ "p50": p50, "p90": at(0.9), "p99": at(0.99), "max": at(1.0) }),
        None => Value::Null,
    }
}
