//! A stored run: every observation and its conditions, enough to infer and report again.

use std::time::Duration;

use flashscope_device::layer::Cost;
use serde::{Deserialize, Serialize};

use crate::observation::{AlignSample, Data, Observations, Times};

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
    /// A number that no measurement gives.
    #[error(
        "observation {position} of this run file says {what}, which no measurement gives; was it edited?"
    )]
    Impossible {
        /// Which observation, counted from 1.
        position: usize,
        /// What it says.
        what: &'static str,
    },
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
        let run: Self = serde_json::from_str(text)?;
        for (index, seen) in run.observations.iter().enumerate() {
            if let Some(what) = impossible(&seen.data) {
                return Err(RunFileError::Impossible { position: index + 1, what });
            }
        }
        Ok(run)
    }

    /// The text of this run file.
    ///
    /// # Errors
    /// If a value has no form in JSON; the types here all have one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// The longest time that is believed: eleven days for one request.
const SECONDS_MAX: u64 = 1_000_000;

/// What in these data no measurement can have given, if anything.
fn impossible(data: &Data) -> Option<&'static str> {
    let too_long = |time: &Duration| time.as_secs() >= SECONDS_MAX;
    let times_too_long = |times: &Times| match times {
        Times::Each(each) => each.iter().any(too_long),
        Times::Mean { per_request, .. } => too_long(per_request),
    };
    let (times_are_too_long, is_empty) = match data {
        Data::Align(data) => {
            let times = |sample: &AlignSample| [sample.before, sample.across, sample.after];
            (data.samples.iter().flat_map(times).any(|time| too_long(&time)), false)
        }
        Data::OpenUnits(data) => {
            let mut cells = data.cells.iter().chain(&data.settled);
            let is_empty = cells.clone().any(|cell| cell.open_units == 0 || cell.request.is_zero());
            (
                cells.any(|cell| times_too_long(&cell.times)) || data.controls.iter().any(times_too_long),
                is_empty,
            )
        }
        Data::WriteSize(data) => (
            data.cells.iter().any(|cell| times_too_long(&cell.times)),
            data.cells.iter().any(|cell| cell.request.is_zero()),
        ),
        Data::FatArea(data) => (
            data.cells.iter().map(|cell| &cell.times).chain(&data.baseline).any(times_too_long),
            data.cells.iter().any(|cell| cell.request.is_zero()),
        ),
    };
    match (times_are_too_long, is_empty) {
        (true, _) => Some("that a request took eleven days"),
        (false, true) => Some("that nothing was written at a time, or into no block"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(data: &str) -> Result<RunFile, RunFileError> {
        let conditions = r#"{"source": "measured", "capacity": null, "region": null, "seed": 1}"#;
        let seen = format!(r#"{{"data": {data}, "conditions": {conditions}, "ended": "complete"}}"#);
        RunFile::parse(&format!(
            r#"{{"format": 1, "flashscope": "0", "target": "t", "observations": [{seen}]}}"#
        ))
    }

    fn open_units(open_units: u32, seconds: u64) -> String {
        let times = format!(r#"{{"each": [{{"secs": {seconds}, "nanos": 0}}]}}"#);
        let cell = format!(
            r#"{{"order": "linear", "open_units": {open_units}, "request": 4096, "times": {times}}}"#
        );
        format!(r#"{{"experiment": "open-units", "erase_block": 4194304, "cells": [{cell}]}}"#)
    }

    #[test]
    fn numbers_that_no_measurement_gives_are_refused() {
        assert!(parse(&open_units(2, 1)).is_ok());
        for data in [open_units(0, 1), open_units(2, u64::MAX)] {
            assert!(matches!(parse(&data), Err(RunFileError::Impossible { position: 1, .. })), "{data}");
        }
    }
}
