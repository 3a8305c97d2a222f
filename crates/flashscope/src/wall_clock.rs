//! The date, for people. No measurement uses it.

/// Now: UTC, RFC 3339, to the second.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}
