//! A stored run: every observation and its conditions, enough to infer and report again.

use flashscope_device::layer::Cost;
use serde::{Deserialize, Serialize};

use crate::observation::Observations;

/// The format number of run files and of `--json`.
pub const FORMAT: u32 = 1;

/// What was measured on one target in one run. Stored as `*.flashscope.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of flashscope that wrote it.
    pub flashscope: String,
    /// The target as it was given, e.g. `/dev/sdb`, `sim:patriot-xt-16g?seed=7`, or the name of an imported log.
    pub target: String,
    /// What the device is called, one line; empty if unknown.
    #[serde(default)]
    pub device_name: String,
    /// When it was measured, RFC 3339; empty if unknown.
    #[serde(default)]
    pub measured_at: String,
    /// What was seen, in the order it was measured.
    pub observations: Vec<Observations>,
    /// What it cost.
    #[serde(default)]
    pub cost: Cost,
    /// Remarks on how it was measured ("the image's filesystem refuses direct I/O").
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// A run file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// Not the JSON of a run file.
    #[error("this is not a flashscope run file: {0}")]
    NotARun(#[from] serde_json::Error),
    /// Written by a later version.
    #[error(
        "this run file has format {found}, this flashscope reads format {FORMAT}; use a newer flashscope"
    )]
    NewerFormat {
        /// The file's format.
        found: u32,
    },
}

impl RunFile {
    /// Reads a run file's text.
    ///
    /// # Errors
    /// [`RunFileError`] if the text is no run file, or one of a later format.
    pub fn parse(text: &str) -> Result<Self, RunFileError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.format > FORMAT {
            return Err(RunFileError::NewerFormat { found: head.format });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The text of this run file.
    ///
    /// # Errors
    /// If a value has no form in JSON; the types here all have one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}
