//! Where numbers come from, and how they were found.

use serde::Deserialize;

/// Where a profile's numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it tells.
    pub what: String,
    /// Where it stands.
    pub r#where: String,
}

/// How a group's numbers were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Read off a measurement.
    Measured,
    /// Chosen so that the model reproduces a measurement.
    Fitted,
    /// Typical of its kind; nothing measured says otherwise.
    Assumed,
}
