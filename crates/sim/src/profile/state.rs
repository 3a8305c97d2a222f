//! What a stick has been through before its first request.

use serde::Deserialize;

/// What a stick holds when it is made. Its contents are blank in every state, as after writing zeros.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing: never written.
    #[default]
    New,
    /// Every page was written once, in order.
    Full,
    /// Every page was overwritten in random order, endlessly.
    Steady,
    /// Every page was written once, then all were discarded.
    Trimmed,
}

impl State {
    /// All states, as they are written.
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
