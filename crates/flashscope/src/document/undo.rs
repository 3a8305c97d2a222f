//! `undo`.

use schemars::JsonSchema;
use serde::Serialize;

use super::Body;

/// A layout that was restored and read back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoDocument {
    /// The target.
    pub target: String,
    /// How many saved ranges were written.
    pub ranges_written: usize,
    /// How many held their old bytes already.
    pub ranges_unchanged: usize,
    /// How many held something that was written after `apply`, and is lost now.
    pub ranges_changed_since: usize,
    /// How many untouched places were changed after `apply`. They keep what they hold now.
    pub places_changed_since: usize,
    /// How many untouched places were compared.
    pub places: usize,
}

impl Body for UndoDocument {
    const NAME: &'static str = "undo";
    const COMMANDS: &'static str = "undo --json";
}
