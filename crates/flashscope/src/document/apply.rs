//! `apply`.

use schemars::JsonSchema;
use serde::Serialize;

use super::Body;

/// A plan that was applied and read back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApplyDocument {
    /// The target.
    pub target: String,
    /// The undo file; `null` if the plan was applied already, so that nothing was written.
    pub undo_file: Option<String>,
    /// How much was written.
    pub bytes_written: u64,
    /// What the tools printed, in their order.
    pub messages: Vec<String>,
    /// Lines for /etc/fstab, one for each partition.
    pub fstab: Vec<String>,
}

impl Body for ApplyDocument {
    const NAME: &'static str = "apply";
    const COMMANDS: &'static str = "apply --json";
}
