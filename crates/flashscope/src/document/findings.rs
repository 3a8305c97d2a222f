//! The document of a check, a measurement, an import or a stored run.

use flashscope_device::layer::Cost;
use flashscope_infer::classes_of;
use flashscope_infer::streams::sustained::so_far;
use flashscope_infer::streams::throughput_profile::throughput_profile;
use flashscope_record::CapacityVerdict;
use flashscope_record::observation::ReadBack;
use flashscope_report::first_screen::first_screen;
use flashscope_report::{Advice, Report, advice};
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;
use super::bottleneck::{BottleneckDocument, GainDocument};
use super::classes::MarksDocument;
use super::ended::EndedDocument;
use super::finding::FindingDocument;
use super::identity::Identity;
use super::layout::VolumeDocument;
use super::published_speed::PublishedSpeedDocument;
use super::results::ResultsDocument;
use super::speed::SpeedDocument;
use super::throughput::ThroughputDocument;
use super::verdict::VerdictDocument;

/// What was found about a device, what limits it, and what to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingsDocument {
    /// The target as it was typed, or the file that was imported.
    pub target: String,
    /// What the target is; null for a stored run.
    pub identity: Option<Identity>,
    /// When it was measured (UTC, RFC 3339); empty for an imported log.
    pub measured_at: String,
    /// The verdict of a check; null for anything else.
    pub verdict: Option<VerdictDocument>,
    /// Whether the device stores what it announces. Only if it was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityDocument>,
    /// The findings.
    pub findings: Vec<FindingDocument>,
    /// What limits the device.
    pub bottleneck: BottleneckDocument,
    /// The partitions and filesystems on it. Only if they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layout: Vec<VolumeDocument>,
    /// The speed classes: those that are claimed, and those that are reached. Only if any could be tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<MarksDocument>,
    /// What to do, the most useful first.
    pub advice: Vec<AdviceDocument>,
    /// The speed over one long stream of writes. Only if one was measured.
    #[serde(rename = "course", skip_serializing_if = "Option::is_none")]
    pub throughput_profile: Option<ThroughputDocument>,
    /// The results of experiments without findings. Only if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<ResultsDocument>,
    /// The result of each speed test. Only if there were any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<SpeedDocument>,
    /// The speeds that another program measured. Only if such output was imported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub published_speeds: Vec<PublishedSpeedDocument>,
    /// What was read back of the data that speed tests wrote. Only if anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    /// What the measurement cost.
    pub cost: CostDocument,
    /// How each experiment ended.
    pub ended: Vec<EndedDocument>,
    /// What to know about the target and how it was opened.
    pub remarks: Vec<String>,
}

/// Whether a device stores what it announces.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CapacityDocument {
    /// The answer in one line.
    pub headline: String,
    /// The verdict.
    pub verdict: CapacityVerdict,
}

/// Something to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdviceDocument {
    /// A short name that does not change between versions.
    pub id: &'static str,
    /// What to do.
    pub text: String,
    /// The finding behind it, and how sure it is.
    pub because: String,
    /// How many times faster the everyday copy gets; null if not measured.
    pub gain: Option<GainDocument>,
}

/// What a measurement cost.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostDocument {
    /// How many reads.
    pub reads: u64,
    /// How many writes.
    pub writes: u64,
    /// How many bytes were read.
    pub bytes_read: u64,
    /// How many bytes were written.
    pub bytes_written: u64,
    /// How long it took on the device's clock.
    pub device_seconds: f64,
}

impl Body for FindingsDocument {
    const NAME: &'static str = "findings";
    const COMMANDS: &'static str =
        "check, measure, import, report, bench, bench read, bench write, bench sustained";
}

impl FindingsDocument {
    /// The document of a run.
    pub fn new(report: &Report<'_>, identity: Option<Identity>) -> Self {
        let report = report.without_memory_findings();
        let run = report.run;
        let speeds = flashscope_report::speeds(run);
        let diagnosis = report.diagnosis();
        let volumes = flashscope_report::layout::judged(&report, &diagnosis);
        Self {
            target: run.target.clone(),
            identity,
            measured_at: run.measured_at.clone(),
            verdict: first_screen(&report).as_ref().map(VerdictDocument::from),
            capacity: run.capacity.as_ref().map(CapacityDocument::from),
            findings: report.findings.iter().map(FindingDocument::from).collect(),
            bottleneck: BottleneckDocument::from(&diagnosis),
            layout: volumes.iter().map(VolumeDocument::from).collect(),
            classes: flashscope_report::classes::section(run).map(|_| MarksDocument::from(&classes_of(run))),
            advice: advice(&report).iter().map(AdviceDocument::from).collect(),
            throughput_profile: flashscope_report::sustained_write(&report)
                .map(|stream| ThroughputDocument::new(&throughput_profile(stream), so_far(stream))),
            results: run.observations.iter().filter_map(ResultsDocument::new).collect(),
            speeds: speeds.iter().map(|(case, speed)| SpeedDocument::new(*case, speed.as_ref())).collect(),
            published_speeds: flashscope_report::published_speeds(run)
                .map(PublishedSpeedDocument::from)
                .collect(),
            read_back: Some(run.read_back()).filter(|seen| seen.places > 0),
            cost: CostDocument::from(&run.cost),
            ended: run.observations.iter().map(|seen| EndedDocument::from(&seen.ended)).collect(),
            remarks: run.remarks.clone(),
        }
    }
}

impl From<&CapacityVerdict> for CapacityDocument {
    fn from(verdict: &CapacityVerdict) -> Self {
        Self { headline: flashscope_report::capacity::headline(verdict), verdict: verdict.clone() }
    }
}

impl From<&Advice> for AdviceDocument {
    fn from(advice: &Advice) -> Self {
        Self {
            id: advice.id,
            text: advice.text.as_str().to_owned(),
            because: advice.reason.as_str().to_owned(),
            gain: advice.gain.map(GainDocument::from),
        }
    }
}

impl From<&Cost> for CostDocument {
    fn from(cost: &Cost) -> Self {
        Self {
            reads: cost.reads,
            writes: cost.writes,
            bytes_read: cost.bytes_read.get(),
            bytes_written: cost.bytes_written.get(),
            device_seconds: cost.device_time.as_secs_f64(),
        }
    }
}
