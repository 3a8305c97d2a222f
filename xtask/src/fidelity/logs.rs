//! Which profile stands for which log, and where the logs are.

use std::path::PathBuf;

use anyhow::Context;
use flashscope_flashbench::parse::parse;
use flashscope_twin::Measured;

use crate::repository;

/// The seed and share of every committed fit.
pub const SEED: u64 = 1;
pub const HOLDOUT: f64 = 0.5;

/// A profile and the log it was made from.
#[derive(Debug)]
pub struct Subject {
    /// The profile's name.
    pub profile: &'static str,
    /// The log's file name.
    pub log: &'static str,
    /// Whose log it is.
    pub origin: Origin,
    /// Made by hand from all cells, so that none is held out.
    pub by_hand: bool,
}

/// Where a log lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Carried in `testdata/published`.
    Carried,
    /// Read from beside the repository, `../shared/corpus/wirenboard`, if it is there.
    Wirenboard,
}

const fn carried(profile: &'static str, log: &'static str) -> Subject {
    Subject { profile, log, origin: Origin::Carried, by_hand: false }
}

const fn wirenboard(profile: &'static str, log: &'static str) -> Subject {
    Subject { profile, log, origin: Origin::Wirenboard, by_hand: false }
}

/// Every profile with a log. Of a card with several logs, the one with the most tables.
pub const SUBJECTS: [Subject; 16] = [
    Subject { by_hand: true, ..carried("patriot-xt-16g", "patriot-xporter-xt-boost-16gb.txt") },
    carried("patriot-fitted", "patriot-xporter-xt-boost-16gb.txt"),
    carried("readme-card", "readme-example-arnd.txt"),
    carried("samsung-oem-sd", "samsung-1b-534d-johnlane.txt"),
    carried("pqi-32g", "pqi-microsd-32gb-gentoo.txt"),
    carried("olpc-high-perf", "olpc-high-perf-arnd.txt"),
    carried("olpc-toshiba-4g", "olpc-toshiba-c4-4gb-B.txt"),
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
    /// The share of its cells that the profile has not seen.
    pub const fn holdout(&self) -> f64 {
        if self.by_hand { 0.0 } else { HOLDOUT }
    }

    /// What its log says; `None` where the log is not there and need not be.
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
            Origin::Carried => repository().join("testdata/published").join(self.log),
            Origin::Wirenboard => repository().join("../shared/corpus/wirenboard").join(self.log),
        }
    }
}
