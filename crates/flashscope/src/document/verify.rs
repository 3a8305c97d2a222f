//! `verify`.

use flashscope_record::CapacityVerdict;
use flashscope_report::capacity::headline;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Body, Identity};
use crate::target::Target;

/// Whether a device stores what it announces. Offsets and sizes are bytes, times nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyDocument {
    /// The target as it was typed.
    pub target: String,
    /// What it is.
    pub device: Identity,
    /// When it was verified (UTC, RFC 3339).
    pub verified_at: String,
    /// The answer in one line.
    pub headline: String,
    /// The verdict.
    pub verdict: CapacityVerdict,
}

impl Body for VerifyDocument {
    const NAME: &'static str = "verify";
    const COMMANDS: &'static str = "verify";
}

impl VerifyDocument {
    /// The document of a verdict.
    pub fn new(target: &Target, verdict: &CapacityVerdict) -> Self {
        Self {
            target: target.text.clone(),
            device: target.identity.clone(),
            verified_at: crate::wall_clock::now(),
            headline: headline(verdict),
            verdict: verdict.clone(),
        }
    }
}
