//! The profile of each published log, and the location of the logs.

use std::path::PathBuf;

use anyhow::Context;
use flashscope_flashbench::parse::parse;
use flashscope_twin::Measured;

use crate::process::repository;

/// The random seed and the held-out share of every fit in the repository.
pub const SEED: u64 = 1;
pub const HOLDOUT: f64 = 0.5;

/// A profile and the log it was made from.
#[derive(Debug)]
pub struct Subject {
    /// The profile's name.
    pub profile: &'static str,
    /// The log's file name.
    pub log: &'static str,
    /// Where the log is stored.
    pub origin: Origin,
    /// Whether the profile was made by hand from all cells, so that none is held out.
    pub by_hand: bool,
}

/// Where a log is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// In `testdata/published`.
    Repository,
    /// In `../shared/corpus/wirenboard`, beside the repository; optional.
    Wirenboard,
}

const fn published(profile: &'static str, log: &'static str) -> Subject {
    Subject { profile, log, origin: Origin::Repository, by_hand: false }
}

const fn wirenboard(profile: &'static str, log: &'static str) -> Subject {
    Subject { profile, log, origin: Origin::Wirenboard, by_hand: false }
}

/// Every profile with a log. For a card with several logs, the log with the most tables.
pub const SUBJECTS: [Subject; 16] = [
    Subject { by_hand: true, ..published("patriot-xt-16g", "patriot-xporter-xt-boost-16gb.txt") },
    published("patriot-fitted", "patriot-xporter-xt-boost-16gb.txt"),
    published("readme-card", "readme-example-arnd.txt"),
    published("samsung-oem-sd", "samsung-1b-534d-johnlane.txt"),
    published("pqi-32g", "pqi-microsd-32gb-gentoo.txt"),
    published("olpc-high-perf", "olpc-high-perf-arnd.txt"),
    published("olpc-toshiba-4g", "olpc-toshiba-c4-4gb-B.txt"),
    wirenboard("wirenboard-01", "wirenboard-card01-result_1_2.txt"),
    wirenboard("wirenboard-03", "wirenboard-card03-result_3_3.txt"),
    wirenboard("wirenboard-06", "wirenboard-card06-result_6_2.txt"),
    wirenboard("wirenboard-08", "wirenboard-card08-result_8.txt"),
    wirenboard("wirenboard-13", "wirenboard-card13-result_13_2.txt"),
    wirenboard("wirenboard-14", "wirenboard-card14-result_14.txt"),
    wirenboard("wirenboard-18", "wirenboard-card18-result_18.txt"),
    wirenboard("wirenboard-22", "wirenboard-card22-result_22.txt"),
    wirenboard("wirenboard-31", "wirenboard-card31-result_31_1.txt"),
];

impl Subject {
    /// The share of cells that the profile was not fitted to.
    pub const fn holdout(&self) -> f64 {
        if self.by_hand { 0.0 } else { HOLDOUT }
    }

    /// The measurements of its log; `None` if an optional log is missing.
    pub fn measured(&self) -> anyhow::Result<Option<Measured>> {
        let path = self.path();
        if self.origin == Origin::Wirenboard && !path.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Some(Measured::from_log(self.log, &parse(&bytes, self.log)?, &bytes)))
    }

    fn path(&self) -> PathBuf {
        match self.origin {
            Origin::Repository => repository().join("testdata/published").join(self.log),
            Origin::Wirenboard => repository().join("../shared/corpus/wirenboard").join(self.log),
        }
    }
}
