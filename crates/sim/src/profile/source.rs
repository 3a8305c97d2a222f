//! Where the numbers of a profile come from, and how they were found.

use serde::{Deserialize, Serialize};

/// Where the numbers of a profile come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What the source states.
    pub what: String,
    /// Where it was published.
    pub r#where: String,
}

/// How the numbers of a section were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Read off a measurement.
    Measured,
    /// Chosen so that the model reproduces a measurement.
    Fitted,
    /// Typical of its kind, without a measurement of this stick.
    Assumed,
}

impl Basis {
    /// All of them, best first.
    pub const ALL: [Self; 3] = [Self::Measured, Self::Fitted, Self::Assumed];

    /// Its name in profiles.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        }
    }
}
