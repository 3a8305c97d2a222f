//! `restore`.

use schemars::JsonSchema;
use serde::Serialize;

use super::Body;

/// Data that an interrupted `--scratch` measurement had overwritten, and that is back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestoreDocument {
    /// The target; `null` if there was no journal.
    pub target: Option<String>,
    /// The journal, which is removed.
    pub journal: Option<String>,
    /// Bytes that were written back and compared.
    pub bytes_restored: u64,
    /// How many places outside the restored data changed after the measurement. They keep what they hold now.
    pub places_changed_since: usize,
    /// How many places were compared.
    pub places: usize,
}

impl Body for RestoreDocument {
    const NAME: &'static str = "restore";
    const COMMANDS: &'static str = "restore --json";
}
