//! `plan`.

use flashscope_layout::Plan;
use flashscope_layout::filesystem::Command;
use flashscope_layout::present::Present;
use schemars::JsonSchema;
use serde::Serialize;

use super::Body;

/// A plan: what goes where, why, and the commands. `apply` reads it. Offsets and sizes are bytes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanDocument {
    /// The plan itself.
    #[serde(flatten)]
    pub plan: Plan,
    /// The commands that carry it out; `apply` makes its own.
    pub commands: Vec<Command>,
    /// What is on the target now.
    pub present: Present,
}

impl Body for PlanDocument {
    const NAME: &'static str = "plan";
    const COMMANDS: &'static str = "plan --json, plan -o FILE.json";
}
