//! The document of `bench methods`.

use flashscope_infer::diagnose;
use flashscope_infer::files::comparison::Spread;
use flashscope_infer::files::write_methods::{MethodSpeed, cached, method_speeds, truth};
use flashscope_record::observation::{Ended, Instead, Observations};
use flashscope_record::observation::{MethodsData, WriteMethod};
use flashscope_record::run_file::RunFile;
use flashscope_report::words;
use flashscope_report::write_methods::reasons;
use schemars::JsonSchema;
use serde::Serialize;

use super::backing::LinkLimitDocument;
use super::body::Body;
use super::bottleneck::BottleneckDocument;
use super::ended::EndedDocument;
use super::spread::SpreadDocument;

/// The same bytes written with several methods: the speed each claims, and the speed at which the data
/// became durable.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BenchMethodsDocument {
    /// The target as it was typed.
    pub target: String,
    /// When it was measured (UTC, RFC 3339).
    pub measured_at: String,
    /// The true write speed, bytes per second; null without a round.
    pub true_bytes_per_s: Option<f64>,
    /// The same with its interval.
    #[serde(rename = "true")]
    pub truth: Option<SpreadDocument>,
    /// The speed limit of the path to the device; null if unknown.
    pub link: Option<LinkLimitDocument>,
    /// What was measured instead of a removable device; empty for a removable device.
    pub instead: Vec<Instead>,
    /// What limits the device.
    pub bottleneck: BottleneckDocument,
    /// The methods.
    #[serde(rename = "ways")]
    pub methods: Vec<MethodDocument>,
    /// How the measurement ended.
    pub ended: [EndedDocument; 1],
}

/// The result of one write method.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MethodDocument {
    /// The method.
    #[serde(rename = "way")]
    pub method: WriteMethod,
    /// The command that people type for it.
    pub command: &'static str,
    /// How many rounds were completed.
    pub rounds: usize,
    /// How many bytes it writes in a round.
    pub bytes: Option<u64>,
    /// The time until the command ends, the median.
    pub claimed_seconds: f64,
    /// The speed the command claims, the median, bytes per second.
    pub claimed_bytes_per_s: f64,
    /// The same with its interval.
    pub claimed: SpreadDocument,
    /// The time until the data was durable, the median.
    pub durable_seconds: f64,
    /// The speed until the data was durable, the median, bytes per second.
    pub durable_bytes_per_s: f64,
    /// The same with its interval.
    pub durable: SpreadDocument,
    /// The speed of the data source alone, bytes per second; null if it takes no time.
    pub source_bytes_per_s: Option<f64>,
    /// The claimed speed divided by the durable speed.
    pub times_really: SpreadDocument,
    /// The claimed speed divided by the true write speed; null if that is unknown.
    pub times_truth: Option<f64>,
    /// Why even the durable speed is a cache's; null if it is not.
    pub cached: Option<String>,
    /// Why the claim differs from the truth, one sentence each.
    pub why: Vec<String>,
}

impl Body for BenchMethodsDocument {
    const NAME: &'static str = "bench-methods";
    const COMMANDS: &'static str = "bench methods, and report for its run files";
}

impl BenchMethodsDocument {
    /// The document of `data`, which `seen` holds.
    pub fn new(run: &RunFile, seen: &Observations, data: &MethodsData) -> Self {
        let (truth, methods) = (truth(data), method_speeds(data));
        let ended: &Ended = &seen.ended;
        Self {
            target: run.target.clone(),
            measured_at: run.measured_at.clone(),
            true_bytes_per_s: truth.map(|truth| truth.median),
            truth: truth.map(SpreadDocument::from),
            link: data.link.as_ref().map(LinkLimitDocument::from),
            instead: data.instead.clone(),
            bottleneck: BottleneckDocument::from(&diagnose(&run.observations, &[], &run.attachment)),
            methods: methods
                .iter()
                .map(|method| MethodDocument::new(method, &methods, truth, data))
                .collect(),
            ended: [EndedDocument::from(ended)],
        }
    }
}

impl MethodDocument {
    fn new(method: &MethodSpeed, all: &[MethodSpeed], truth: Option<Spread>, data: &MethodsData) -> Self {
        let timing = data.timings.iter().find(|timing| timing.method == method.method);
        let why = truth.map(|truth| reasons(all, method, &truth)).unwrap_or_default();
        Self {
            method: method.method,
            command: method.method.command(),
            rounds: method.rounds,
            bytes: timing.map(|timing| timing.bytes.get()),
            claimed_seconds: method.reported_s,
            claimed_bytes_per_s: method.reported.median,
            claimed: method.reported.into(),
            durable_seconds: method.durable_s,
            durable_bytes_per_s: method.durable.median,
            durable: method.durable.into(),
            source_bytes_per_s: method.source.map(|source| source.median),
            times_really: method.reported_ratio.into(),
            times_truth: truth.map(|truth| method.reported.median / truth.median),
            cached: cached(data, method).as_ref().map(words::cached),
            why: why.iter().map(ToString::to_string).collect(),
        }
    }
}
