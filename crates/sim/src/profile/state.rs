//! The preconditioning state of a stick.

use serde::{Deserialize, Serialize};

/// What the translation layer of a new stick holds. The contents are blank in every state, as after writing
/// zeros.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing: never written.
    #[default]
    New,
    /// Every page was written once, sequentially.
    Full,
    /// Steady state: every page was overwritten in random order, endlessly.
    Steady,
    /// Every page was written once, then all were discarded.
    Trimmed,
}

impl State {
    /// All states with their names.
    pub const NAMES: [(&str, Self); 4] =
        [("new", Self::New), ("full", Self::Full), ("steady", Self::Steady), ("trimmed", Self::Trimmed)];
}

impl std::str::FromStr for State {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (_, state) = Self::NAMES.iter().find(|(name, _)| *name == text).ok_or(())?;
        Ok(*state)
    }
}
