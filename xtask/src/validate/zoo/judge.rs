//! Compares a finding with the truth.

use flashscope_record::finding::{Finding, Outcome, Value};
use flashscope_zoo::{Fact, Truth};
use serde::Serialize;

/// The result of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The value equals the truth, or for a rate or time is within 5 % of it.
    Exact,
    /// The value differs from the truth, but the interval holds it.
    Within,
    /// The finding is unknown although the truth has a visible effect.
    Unknown,
    /// Value and interval miss the truth.
    Wrong,
    /// The finding is correctly unknown: the truth has no visible effect, or there is none.
    Declined,
}

/// Rates, times and cache sizes count as exact within 5 %. Guess: the noise of a real measurement.
const EXACT_SHARE: f64 = 0.05;

impl Verdict {
    /// The verdict on `finding`; `None` if its truth is unknown.
    pub fn of(finding: &Finding, truth: &Truth) -> Option<Self> {
        let id = finding.id.as_str();
        let fact = truth.fact(id)?;
        Some(match &finding.outcome {
            Outcome::Unknown { .. } if fact == Fact::Absent || truth.hidden(id).is_some() => Self::Declined,
            Outcome::Unknown { .. } => Self::Unknown,
            Outcome::Found { value, .. } if is_exact(*value, fact) => Self::Exact,
            Outcome::Found { low, high, .. } if holds(*low, *high, fact) => Self::Within,
            Outcome::Found { .. } => Self::Wrong,
        })
    }

    /// Whether the truth lies in the finding's interval.
    pub const fn is_covered(self) -> bool {
        matches!(self, Self::Exact | Self::Within)
    }

    /// Whether the finding has a value.
    pub const fn is_found(self) -> bool {
        matches!(self, Self::Exact | Self::Within | Self::Wrong)
    }
}

/// Whether the interval of a finding holds the truth; `None` if the truth is unknown, or if both ends of the
/// interval are equal.
pub fn interval_holds(finding: &Finding, truth: &Truth) -> Option<bool> {
    let fact = truth.fact(finding.id.as_str())?;
    match &finding.outcome {
        Outcome::Found { low, high, .. } if low != high => Some(holds(*low, *high, fact)),
        _ => None,
    }
}

fn is_exact(value: Value, fact: Fact) -> bool {
    match (value, fact) {
        (Value::Bytes(bytes), Fact::Bytes { low, high }) => (low..=high).contains(&bytes),
        (Value::Bytes(bytes), Fact::Number(number)) => is_near(bytes.as_f64(), number),
        (Value::Seconds(value) | Value::BytesPerSecond(value), Fact::Number(number)) => {
            is_near(value, number)
        }
        (Value::Shows(extra), Fact::OneOf(words)) => {
            words.contains(&if extra.is_some() { "yes" } else { "no" })
        }
        (Value::Count(count), Fact::Count(truth)) => count == truth,
        (Value::Count(count), Fact::CountOf(truths)) => truths.contains(&count),
        (Value::Class { class, .. }, Fact::OneOf(words)) => words.contains(&class.as_str()),
        _ => false,
    }
}

fn is_near(value: f64, truth: f64) -> bool {
    (value - truth).abs() <= EXACT_SHARE * truth
}

fn holds(low: Value, high: Value, fact: Fact) -> bool {
    match (low, high, fact) {
        (Value::Bytes(from), Value::Bytes(to), Fact::Bytes { low, high }) => from <= high && low <= to,
        (Value::Bytes(from), Value::Bytes(to), Fact::Number(number)) => {
            (from.as_f64()..=to.as_f64()).contains(&number)
        }
        (Value::Seconds(from), Value::Seconds(to), Fact::Number(number))
        | (Value::BytesPerSecond(from), Value::BytesPerSecond(to), Fact::Number(number)) => {
            (from..=to).contains(&number)
        }
        (Value::Count(from), Value::Count(to), Fact::Count(truth)) => (from..=to).contains(&truth),
        (Value::Count(from), Value::Count(to), Fact::CountOf(truths)) => {
            truths.iter().any(|truth| (from..=to).contains(truth))
        }
        _ => false,
    }
}
