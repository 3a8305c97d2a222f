//! One finding.

use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use flashscope_report::words;
use schemars::JsonSchema;
use serde::Serialize;

/// One finding about a device: a value with its interval and confidence, or why the value is unknown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingDocument {
    /// What the finding is about.
    #[schemars(extend("enum" = FindingId::ALL.map(FindingId::as_str)))]
    pub id: &'static str,
    /// The unit of `value`, `low` and `high`.
    pub unit: &'static str,
    /// Whether the value is known.
    pub status: FindingStatus,
    /// The value; null if unknown.
    pub value: Option<FindingValue>,
    /// The lower end of the interval; null if unknown.
    pub low: Option<FindingValue>,
    /// The upper end of the interval; null if unknown.
    pub high: Option<FindingValue>,
    /// The probability that the true value lies in the interval, from 0 to 0.999; null if unknown.
    pub confidence: Option<f64>,
    /// The value as text, with its unit. Only if the value is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why the value is unknown. Only if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What would decide it; empty if nothing would. Only if the value is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<String>,
    /// The measured figures behind the value, in one sentence.
    pub evidence: String,
    /// What may make the value wrong, one sentence each.
    pub caveats: Vec<String>,
}

/// Whether a value is known.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// It is known.
    Found,
    /// It is unknown.
    Unknown,
}

impl FindingStatus {
    /// `Found` if there is a value.
    pub const fn of<T>(value: Option<&T>) -> Self {
        if value.is_some() { Self::Found } else { Self::Unknown }
    }
}

/// The value of a finding, in the unit of the finding.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FindingValue {
    /// A size in bytes, or a count.
    Integer(u64),
    /// A time or a speed.
    Number(f64),
    /// A class, or `yes` or `no`.
    Text(&'static str),
}

impl From<Value> for FindingValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Bytes(bytes) => Self::Integer(bytes.get()),
            Value::Count(count) => Self::Integer(count.into()),
            Value::Class { class, .. } => Self::Text(class.as_str()),
            Value::Seconds(seconds) => Self::Number(seconds),
            Value::BytesPerSecond(rate) => Self::Number(rate.round()),
            Value::Shows(None) => Self::Text("no"),
            Value::Shows(Some(_)) => Self::Text("yes"),
        }
    }
}

impl From<&Finding> for FindingDocument {
    fn from(finding: &Finding) -> Self {
        let unknown = Self {
            id: finding.id.as_str(),
            unit: finding.id.unit(),
            status: FindingStatus::Unknown,
            value: None,
            low: None,
            high: None,
            confidence: None,
            text: None,
            reason: None,
            would_decide: None,
            evidence: finding.evidence.as_ref().map(words::evidence).unwrap_or_default(),
            caveats: finding.caveats.iter().map(words::caveat).collect(),
        };
        match &finding.outcome {
            Outcome::Found { value, low, high, confidence } => Self {
                status: FindingStatus::Found,
                value: Some((*value).into()),
                low: Some((*low).into()),
                high: Some((*high).into()),
                confidence: Some(confidence.get()),
                text: Some(flashscope_report::value_text(*value)),
                ..unknown
            },
            Outcome::Unknown { reason, would_decide } => Self {
                reason: Some(words::reason(reason)),
                would_decide: Some(words::would_decide(would_decide)),
                ..unknown
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_record::finding::{
        Boundary, Confidence, Evidence, FindingId, FtlClass, ReadEvidence, ReadPenalty,
    };

    use super::*;

    #[test]
    fn a_document_has_the_value_and_both_ends_of_its_interval() {
        let evidence = || Evidence::Reads(ReadEvidence::Alike { read_s: 1e-3, noise_s: 1e-6 });
        let document = |[low, value, high]: [Value; 3]| {
            let id = FindingId::PageBytes;
            let finding = Finding::exact(id, value, Confidence::new(0.9), evidence()).within(low, high);
            let json = serde_json::to_value(FindingDocument::from(&finding)).unwrap();
            ["low", "value", "high", "confidence"].map(|name| json[name].to_string())
        };
        let bytes = [6144, 8192, 16384].map(|size| Value::Bytes(Bytes::new(size)));
        assert_eq!(document(bytes), ["6144", "8192", "16384", "0.9"]);
        assert_eq!(document([3, 5, 8].map(Value::Count)), ["3", "5", "8", "0.9"]);
        assert_eq!(document([0.5, 1.5, 2.5].map(Value::Seconds)), ["0.5", "1.5", "2.5", "0.9"]);
        let rates = [1.4, 2.6, 3.2].map(Value::BytesPerSecond);
        assert_eq!(document(rates), ["1.0", "3.0", "3.0", "0.9"]);
    }

    #[test]
    fn a_class_and_whether_reads_take_longer_are_words() {
        let word = |id, value| {
            let evidence = Evidence::Reads(ReadEvidence::Alike { read_s: 1e-3, noise_s: 1e-6 });
            let finding = Finding::exact(id, value, Confidence::new(0.9), evidence);
            serde_json::to_value(FindingDocument::from(&finding)).unwrap()["value"].clone()
        };
        let signal = |penalty| word(FindingId::ReadBoundarySignal, Value::Shows(penalty));
        assert_eq!(signal(Some(ReadPenalty { extra_s: 2e-4, boundary: Boundary::Page })), "yes");
        assert_eq!(signal(None), "no");
        let class = Value::Class { class: FtlClass::PageMapped, above: None };
        assert_eq!(word(FindingId::FtlClass, class), "page-mapped");
    }
}
