//! A finding: what it is about, its value or why that is unknown, and what it rests on.

use flashscope_device::Bytes;

use super::{Caveat, Confidence, Evidence, FindingId, Reason, Value, WouldDecide};

/// The result of a finding.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A value, with the interval that holds the truth with the given confidence.
    Found {
        /// The best value.
        value: Value,
        /// The interval's lower end; of a class, the class itself.
        low: Value,
        /// The interval's upper end.
        high: Value,
        /// How sure.
        confidence: Confidence,
    },
    /// Not known.
    Unknown {
        /// Why it is not known.
        reason: Reason,
        /// What would decide it: any one of these; empty if nothing we can do.
        would_decide: Vec<WouldDecide>,
    },
}

/// One conclusion. Every value has an interval and a confidence, every unknown its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub id: FindingId,
    /// Its value, or why that is unknown.
    pub outcome: Outcome,
    /// The measured figures behind it.
    pub evidence: Option<Evidence>,
    /// What may make it wrong.
    pub caveats: Vec<Caveat>,
}

impl Finding {
    /// A finding whose interval is the value itself.
    #[must_use]
    pub fn exact(id: FindingId, value: Value, confidence: Confidence, evidence: Evidence) -> Self {
        let outcome = Outcome::Found { value, low: value, high: value, confidence };
        Self { id, outcome, evidence: Some(evidence), caveats: Vec::new() }
    }

    /// An unknown.
    #[must_use]
    pub fn unknown(id: FindingId, reason: Reason, would_decide: impl Into<Vec<WouldDecide>>) -> Self {
        let outcome = Outcome::Unknown { reason, would_decide: would_decide.into() };
        Self { id, outcome, evidence: None, caveats: Vec::new() }
    }

    /// The same finding with this interval.
    #[must_use]
    pub fn within(mut self, low: Value, high: Value) -> Self {
        if let Outcome::Found { low: l, high: h, .. } = &mut self.outcome {
            (*l, *h) = (low, high);
        }
        self
    }

    /// The same finding with one more caveat.
    #[must_use]
    pub fn with_caveat(mut self, caveat: Caveat) -> Self {
        self.caveats.push(caveat);
        self
    }

    /// The value, if found.
    #[must_use]
    pub const fn value(&self) -> Option<Value> {
        match self.outcome {
            Outcome::Found { value, .. } => Some(value),
            Outcome::Unknown { .. } => None,
        }
    }

    /// The size, if one was found.
    #[must_use]
    pub const fn bytes(&self) -> Option<Bytes> {
        match self.value() {
            Some(Value::Bytes(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The number, if one was found.
    #[must_use]
    pub const fn count(&self) -> Option<u32> {
        match self.value() {
            Some(Value::Count(count)) => Some(count),
            _ => None,
        }
    }

    /// The confidence; zero for an unknown.
    #[must_use]
    pub const fn confidence(&self) -> Confidence {
        match self.outcome {
            Outcome::Found { confidence, .. } => confidence,
            Outcome::Unknown { .. } => Confidence::new(0.0),
        }
    }

    /// Why it is unknown; `None` if a value was found.
    #[must_use]
    pub const fn reason(&self) -> Option<&Reason> {
        match &self.outcome {
            Outcome::Found { .. } => None,
            Outcome::Unknown { reason, .. } => Some(reason),
        }
    }
}
