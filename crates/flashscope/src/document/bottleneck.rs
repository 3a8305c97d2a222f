//! What limits a device.

use flashscope_record::diagnosis::{
    Bottleneck, CachedSpeed, Conclusion, Cost, Diagnosis, DiagnosisEvidence, Gain, Untested,
};
use flashscope_report::words::diagnosis::{decider_text, evidence_text, reason_text};
use schemars::JsonSchema;
use serde::Serialize;

use super::finding::FindingStatus;

/// What limits the device in the everyday copy of `docs/diagnosis.md`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BottleneckDocument {
    /// Whether the bottleneck is known.
    pub status: FindingStatus,
    /// The bottleneck: `link`, `reader`, `driver`, `small_writes`, `alignment`, `filesystem`, `open_units`,
    /// `slc_cache`, `data_source`, `page_cache` or `flash`; null if unknown.
    pub layer: Option<&'static str>,
    /// How many times faster the copy is without it; null for the flash itself, and if unknown.
    pub gain: Option<GainDocument>,
    /// The measured figures behind it, in one sentence. Only if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Why it is unknown. Only if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What would decide it. Only if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<String>,
    /// Everything that costs time, the largest gain first.
    pub costs: Vec<CostDocument>,
    /// What limits a copy of small files alone; null if nothing costs much.
    pub small_files: Option<CostDocument>,
    /// Claimed speeds that are not the device's. Only if there are any.
    #[serde(rename = "illusions", skip_serializing_if = "Vec::is_empty")]
    pub cached_speeds: Vec<CachedSpeedDocument>,
    /// What was not tested, and why.
    pub unweighed: Vec<UntestedDocument>,
}

/// Something that costs time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostDocument {
    /// Its id, as in `bottleneck.layer`.
    pub layer: &'static str,
    /// How many times faster the copy is without it.
    pub gain: GainDocument,
    /// The measured figures behind it, in one sentence.
    pub evidence: String,
}

/// How many times faster a copy gets.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct GainDocument {
    /// The lower end of the interval; 1 is no gain.
    pub low: f64,
    /// The most likely value.
    pub likely: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// A claimed speed that is not the device's.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CachedSpeedDocument {
    /// What makes it, as in `bottleneck.layer`.
    pub layer: &'static str,
    /// The claimed speed divided by the speed at which the same data became durable.
    pub times: f64,
    /// The measured figures behind it, in one sentence.
    pub evidence: String,
}

/// A possible bottleneck that was not tested.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UntestedDocument {
    /// Its id, as in `bottleneck.layer`.
    pub layer: &'static str,
    /// Why, in one sentence.
    pub reason: String,
}

impl From<&Diagnosis> for BottleneckDocument {
    fn from(diagnosis: &Diagnosis) -> Self {
        let unknown = Self {
            status: FindingStatus::Unknown,
            layer: None,
            gain: None,
            evidence: None,
            reason: None,
            would_decide: None,
            costs: diagnosis.costs.iter().map(CostDocument::from).collect(),
            small_files: diagnosis.small_files.as_ref().map(CostDocument::from),
            cached_speeds: diagnosis.cached_speeds.iter().map(CachedSpeedDocument::from).collect(),
            unweighed: diagnosis.untested.iter().map(UntestedDocument::from).collect(),
        };
        let found = |bottleneck: Bottleneck, gain: Option<Gain>, evidence: &DiagnosisEvidence| {
            (
                FindingStatus::Found,
                Some(bottleneck.as_str()),
                gain.map(GainDocument::from),
                Some(evidence_text(evidence)),
            )
        };
        let (status, layer, gain, evidence) = match &diagnosis.conclusion {
            Conclusion::Bottleneck(Cost { bottleneck, gain, evidence }) => {
                found(*bottleneck, Some(*gain), evidence)
            }
            Conclusion::Flash(evidence) => found(Bottleneck::Flash, None, evidence),
            Conclusion::Unknown { reason, would_decide } => {
                return Self {
                    reason: Some(reason_text(reason)),
                    would_decide: Some(decider_text(would_decide)),
                    ..unknown
                };
            }
        };
        Self { status, layer, gain, evidence, ..unknown }
    }
}

impl From<&Cost> for CostDocument {
    fn from(cost: &Cost) -> Self {
        Self {
            layer: cost.bottleneck.as_str(),
            gain: cost.gain.into(),
            evidence: evidence_text(&cost.evidence),
        }
    }
}

impl From<Gain> for GainDocument {
    fn from(gain: Gain) -> Self {
        Self { low: gain.low, likely: gain.likely, high: gain.high }
    }
}

impl From<&CachedSpeed> for CachedSpeedDocument {
    fn from(speed: &CachedSpeed) -> Self {
        Self {
            layer: speed.bottleneck.as_str(),
            times: speed.ratio,
            evidence: evidence_text(&speed.evidence),
        }
    }
}

impl From<&Untested> for UntestedDocument {
    fn from(untested: &Untested) -> Self {
        Self { layer: untested.bottleneck.as_str(), reason: reason_text(&untested.reason) }
    }
}
