//! `verify --full`.

use flashscope_record::full_capacity::FullVerdict;
use flashscope_report::full_capacity::{Scope, headline};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Body, Identity};

/// Whether every sector of a device, or of the free space of a filesystem, keeps its data. Offsets and sizes
/// are bytes, times nanoseconds, counts of bad places sectors of 512 bytes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyFullDocument {
    /// The target as it was typed.
    pub target: String,
    /// What it is.
    pub device: Identity,
    /// When it was verified (UTC, RFC 3339).
    pub verified_at: String,
    /// The answer in one line.
    pub headline: String,
    /// What part was tested; null for a whole device. Offsets in the verdict are then those in the files that
    /// filled the free space, one after another.
    pub free_space: Option<FreeSpaceDocument>,
    /// The verdict.
    pub verdict: FullVerdict,
}

/// The part of a stick that was tested through its filesystem.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FreeSpaceDocument {
    /// The bytes that were written and read back.
    pub tested_bytes: u64,
    /// The capacity of the stick, or of the filesystem if the stick is unknown.
    pub stick_bytes: u64,
    /// Whether reads went through the page cache, because the filesystem refuses direct I/O.
    pub is_buffered: bool,
}

impl Body for VerifyFullDocument {
    const NAME: &'static str = "verify-full";
    const COMMANDS: &'static str = "verify --full";
}

impl VerifyFullDocument {
    /// The document of a verdict.
    pub fn new(
        target: &str,
        device: Identity,
        free_space: Option<FreeSpaceDocument>,
        scope: Scope,
        verdict: &FullVerdict,
    ) -> Self {
        Self {
            target: target.to_owned(),
            device,
            verified_at: crate::wall_clock::now(),
            headline: headline(verdict, scope),
            free_space,
            verdict: verdict.clone(),
        }
    }
}
