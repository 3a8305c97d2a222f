//! A stored run: every observation and its conditions, enough to infer and report again.

mod check;

use flashscope_device::Bytes;
use flashscope_device::layer::Cost;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attachment::Attachment;
use crate::capacity::CapacityVerdict;
pub use crate::limits::Impossible;
use crate::observation::{Observations, ReadBack};

/// The format number of run files. Format 1 stored durations as seconds and nanoseconds, and reasons as
/// sentences; it is still read.
pub const FORMAT: u32 = 2;

/// What was measured on one target in one run. Stored as `*.flashscope.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// The format of the file, [`FORMAT`].
    pub format: u32,
    /// The version of flashscope that wrote it.
    pub flashscope: String,
    /// The target as it was given, e.g. `/dev/sdb`, `sim:patriot-xt-16g?seed=7`, or the name of an imported
    /// log.
    pub target: String,
    /// The name of the device, one line; empty if unknown.
    #[serde(default)]
    pub device_name: String,
    /// Its connection and partitions, as far as the host knows.
    #[serde(default)]
    pub attachment: Attachment,
    /// When it was measured, RFC 3339; empty if unknown.
    #[serde(default)]
    pub measured_at: String,
    /// The observations, in the order of measurement.
    pub observations: Vec<Observations>,
    /// The cost: requests, bytes and time.
    #[serde(default)]
    pub cost: Cost,
    /// The number of failed requests.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failed_requests: u64,
    /// Whether it was written and its old data is lost: with `--erase`, or a virtual stick without
    /// `--scratch`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_erased: bool,
    /// Whether the device stores what it announces; null if that was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityVerdict>,
    /// Remarks on the measurement ("the image's filesystem refuses direct I/O").
    #[serde(default)]
    pub remarks: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks with")]
const fn is_none(failed: &u64) -> bool {
    *failed == 0
}

/// If 1 request in 100 fails, the times of the others are those of retries and relocated sectors, not of the
/// flash. Guess.
const FAILS_OFTEN: u64 = 100;

/// Targets that begin with this are virtual sticks.
const VIRTUAL: &str = "sim:";

/// A run file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// Not the JSON of a run file.
    #[error("this is not a flashscope run file")]
    NotARun(#[from] serde_json::Error),
    /// Of a format that no version wrote.
    #[error("this run file has format 0, which no flashscope ever wrote: it was damaged, or made up")]
    NoFormat,
    /// Written by a later version.
    #[error(
        "this run file has format {found}, this flashscope reads format {FORMAT}; use a newer flashscope"
    )]
    NewerFormat {
        /// The file's format.
        found: u32,
    },
    /// A number that no measurement gives: damaged, or made up.
    #[error(transparent)]
    Impossible(#[from] Impossible),
}

impl RunFile {
    /// Whether it was measured in virtual time.
    #[must_use]
    pub fn is_of_a_virtual_stick(&self) -> bool {
        self.target.starts_with(VIRTUAL)
    }

    /// Reads a run file's text.
    ///
    /// # Errors
    /// [`RunFileError`] if the text is no run file, one of a later format, or one with numbers that cannot
    /// be: each `open_units` and each request is at least 1, requests and erase blocks have at most 1 TiB,
    /// other sizes lie below 2^60 bytes, times have at most 2^64 ns, as far as clocks count.
    pub fn parse(text: &str) -> Result<Self, RunFileError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_str(text)?;
        if head.format == 0 {
            return Err(RunFileError::NoFormat);
        }
        if head.format > FORMAT {
            return Err(RunFileError::NewerFormat { found: head.format });
        }
        let run: Self = serde_json::from_str(text)?;
        check::check(&run)?;
        // It is written again in the format of today.
        Ok(Self { format: FORMAT, ..run })
    }

    /// The verdict on its capacity, if that is false.
    #[must_use]
    pub fn false_capacity(&self) -> Option<&CapacityVerdict> {
        self.capacity.as_ref().filter(|verdict| verdict.kind.is_bad())
    }

    /// What was read back of the data that tests wrote, all together.
    #[must_use]
    pub fn read_back(&self) -> ReadBack {
        self.observations.iter().map(|seen| seen.data.facts().read_back()).sum()
    }

    /// The capacity that the device announced; `None` if the run does not have it.
    #[must_use]
    pub fn announced_capacity(&self) -> Option<Bytes> {
        let verdict = self.capacity.as_ref().map(|verdict| verdict.announced);
        verdict.or_else(|| self.observations.iter().find_map(|seen| seen.conditions.capacity))
    }

    /// Whether more data was lost than failed requests explain: a failed write leaves the old data.
    #[must_use]
    pub fn loses_data(&self) -> bool {
        u64::from(self.read_back().lost) > self.failed_requests
    }

    /// How many requests were made.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.cost.reads.saturating_add(self.cost.writes)
    }

    /// Whether at least 1 % of the requests failed, so that the times of the others are not those of flash.
    #[must_use]
    pub const fn fails_often(&self) -> bool {
        self.failed_requests > 0 && self.failed_requests.saturating_mul(FAILS_OFTEN) >= self.requests()
    }

    /// The text of this run file.
    ///
    /// # Errors
    /// If a value has no form in JSON; the types here all have one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::Bytes;
    use flashscope_device::layer::Limit;

    use super::*;
    use crate::finding::{Quantity, WouldDecide};
    use crate::observation::{Cause, Ended, Refusal, Room, StopReason};

    /// A run with one experiment of every kind.
    const RUN: &str = r#"{"format": 1, "flashscope": "0.1.0", "target": "t", "cost": {"reads": 3, "writes": 4,
        "bytes_read": 1024, "bytes_written": 2048, "device_time": {"secs": 1, "nanos": 0}}, "observations": [
        {"data": {"experiment": "align", "read": 1024, "samples": [{"candidate": 4096, "boundary": 12288,
            "before": {"secs": 0, "nanos": 7}, "across": {"secs": 0, "nanos": 8}, "after": {"secs": 0, "nanos": 9}}]},
         "conditions": {"source": "measured", "capacity": 65536, "region": {"offset": 0, "length": 65536}, "seed": 1},
         "ended": "complete"},
        {"data": {"experiment": "open-units", "erase_block": 32768,
            "cells": [{"order": "linear", "open_units": 2, "request": 8192, "times": {"each": [{"secs": 0, "nanos": 5}]}}]},
         "conditions": {"source": "measured", "capacity": null, "region": null, "seed": 1}, "ended": "complete"},
        {"data": {"experiment": "fat-area", "erase_block": 32768, "baseline": {"each": []},
            "cells": [{"unit": 6, "order": "random", "request": 16384,
                "times": {"mean": {"per_request": {"secs": 0, "nanos": 4}, "requests": 3}}}]},
         "conditions": {"source": "measured", "capacity": null, "region": null, "seed": 1}, "ended": "complete"}]}"#;

    fn refusal(from: &str, to: &str) -> String {
        assert_eq!(RUN.matches(from).count(), 1, "{from}");
        RunFile::parse(&RUN.replace(from, to)).unwrap_err().to_string()
    }

    #[test]
    fn a_run_reads_back_as_it_was_written() {
        let run = RunFile::parse(RUN).unwrap();
        assert_eq!(RunFile::parse(&run.to_json().unwrap()).unwrap(), run);
    }

    /// The run with this end of its first experiment.
    fn with_end(ended: &str) -> RunFile {
        let complete = "\"seed\": 1},\n         \"ended\": \"complete\"},";
        assert_eq!(RUN.matches(complete).count(), 1);
        let text = RUN.replace(complete, &complete.replace("\"complete\"", ended));
        RunFile::parse(&text).unwrap()
    }

    #[test]
    fn sentences_of_format_1_are_kept_as_recorded() {
        let sentence = "the budget is spent: 9 reads";
        let run = with_end(&format!("{{\"early\": {{\"reason\": \"{sentence}\"}}}}"));
        let recorded = StopReason::Recorded(sentence.to_owned());
        assert_eq!(run.observations[0].ended, Ended::Early { reason: recorded, cause: Cause::Unknown });
        assert_eq!(RunFile::parse(&run.to_json().unwrap()).unwrap(), run);
        let refused = |would_decide: &str| {
            let run = with_end(&format!(
                "{{\"not_started\": {{\"reason\": \"read-only\", \"would_decide\": \"{would_decide}\"}}}}"
            ));
            assert_eq!(RunFile::parse(&run.to_json().unwrap()).unwrap(), run);
            let Ended::NotStarted { reason, would_decide } = run.observations[0].ended.clone() else {
                panic!("it started")
            };
            assert_eq!(reason, Refusal::Recorded("read-only".to_owned()));
            would_decide
        };
        assert_eq!(refused(""), []);
        assert_eq!(refused("a larger device"), [WouldDecide::Recorded("a larger device".to_owned())]);
    }

    #[test]
    fn ends_of_format_2_read_back_as_they_were_written() {
        let budget = StopReason::Budget { limit: Limit::Reads(9) };
        let refusal = Refusal::TooSmall { capacity: Bytes::kib(4), room: Room::Blocks(3, Bytes::mib(1)) };
        let would_decide = vec![WouldDecide::Larger(Quantity::Device), WouldDecide::WriteTests];
        for ended in [
            Ended::Early { reason: budget, cause: Cause::Budget },
            Ended::Early { reason: StopReason::Interrupted { rounds: Some(2) }, cause: Cause::Interrupt },
            Ended::NotStarted { reason: refusal, would_decide },
            Ended::NotStarted { reason: Refusal::ReadOnly, would_decide: Vec::new() },
        ] {
            let mut run = RunFile::parse(RUN).unwrap();
            run.observations[0].ended = ended;
            assert_eq!(RunFile::parse(&run.to_json().unwrap()).unwrap(), run);
        }
    }

    #[test]
    fn durations_are_written_as_nanoseconds_and_read_in_both_forms() {
        let run = RunFile::parse(RUN).unwrap();
        assert_eq!((run.format, run.cost.device_time), (FORMAT, Duration::from_secs(1)));
        let text = run.to_json().unwrap();
        assert!(text.contains("\"device_time\": 1000000000") && text.contains("\"across\": 8"), "{text}");
        assert!(!text.contains("nanos"), "{text}");
        assert_eq!(RunFile::parse(&text).unwrap(), run);
    }

    #[test]
    fn format_0_is_refused() {
        let refused = RunFile::parse(&RUN.replace("\"format\": 1", "\"format\": 0"));
        assert!(refused.unwrap_err().to_string().contains("format 0"));
    }

    #[test]
    fn requests_fail_often_from_one_in_a_hundred_on() {
        let often = |failed: u64, reads: u64| {
            let mut run = RunFile::parse(RUN).unwrap();
            (run.failed_requests, run.cost.reads, run.cost.writes) = (failed, reads, 0);
            run.fails_often()
        };
        assert!(often(1, 1) && often(1, 100) && often(2, 101) && often(30, 3000));
        assert!(!often(0, 0) && !often(1, 101) && !often(1, 199) && !often(29, 3000));
    }

    #[test]
    fn impossible_numbers_are_refused_with_their_path() {
        let cells = "observations[1].data.cells[0]";
        for (from, to, place) in [
            ("\"open_units\": 2", "\"open_units\": 0", format!("{cells}.open_units is 0;")),
            ("\"open_units\": 2", "\"open_units\": 4294967295", format!("{cells}.open_units is 4294967295;")),
            ("\"request\": 8192", "\"request\": 0", format!("{cells}.request is 0 B;")),
            (
                "\"secs\": 0, \"nanos\": 5",
                "\"secs\": 18446744074, \"nanos\": 0",
                format!("{cells}.times.each[0] is"),
            ),
            (
                "\"candidate\": 4096",
                "\"candidate\": 0",
                "observations[0].data.samples[0].candidate".to_owned(),
            ),
            (
                "\"boundary\": 12288",
                "\"boundary\": 1152921504606846976",
                "samples[0].boundary is 1048576 TiB".to_owned(),
            ),
            ("\"length\": 65536", "\"length\": 18446744073709551615", "conditions.region.length".to_owned()),
            ("\"secs\": 0, \"nanos\": 4", "\"secs\": 0, \"nanos\": 0", "mean.per_request is 0 s".to_owned()),
            (
                "\"secs\": 0, \"nanos\": 4",
                "\"secs\": 18446744073709551615, \"nanos\": 4",
                "mean.per_request".to_owned(),
            ),
            (
                "\"secs\": 1, \"nanos\": 0",
                "\"secs\": 18446744074, \"nanos\": 0",
                "cost.device_time is 18446744074 s".to_owned(),
            ),
            ("\"unit\": 6", "\"unit\": 4294967295", "observations[2].data.cells[0].unit".to_owned()),
        ] {
            let refusal = refusal(from, to);
            assert!(refusal.contains(&place), "'{place}' is missing: {refusal}");
        }
    }
}
