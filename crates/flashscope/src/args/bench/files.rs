//! `flashscope bench files`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use flashscope_measure::workload::file_sizes::FileProfile;

use crate::args::shared::{Output, heading};
use crate::duration;

pub(in crate::args) const EXAMPLES: &str = "\
Examples:
  flashscope bench files /media/me/STICK
  flashscope bench files /media/me/STICK --profile photos
  flashscope bench files /media/me/STICK --like ~/website --flush each";

/// `flashscope bench files`
#[derive(Debug, Args)]
pub struct BenchFiles {
    /// A directory on the mounted stick.
    #[arg(value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    pub directory: String,
    /// The number of files and their sizes.
    #[arg(help_heading = heading::MEASURED, long, value_enum, value_name = "NAME", default_value_t = ProfileName::HelpPages, conflicts_with = "like")]
    pub profile: ProfileName,
    /// Use the sizes and number of the files below DIR.
    ///
    /// At most 2000 unless --count is given. Their content is not copied.
    #[arg(help_heading = heading::MEASURED, long, value_name = "DIR")]
    pub like: Option<PathBuf>,
    /// The number of files.
    ///
    /// From 1 to 1000000. Default: 2000 (photos: 40), fewer if the time budget is too short.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: Option<u32>,
    /// When to flush.
    #[arg(help_heading = heading::MEASURED, long, value_enum, value_name = "WHEN", default_value_t = FlushName::End)]
    pub flush: FlushName,
    /// The number of rounds.
    ///
    /// From 1 to 100. Default: 3 to 9, until they agree.
    #[arg(help_heading = heading::MEASURED, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Start no round that would end later.
    ///
    /// Seconds, or a time such as 90s, 5m or 1h30m. The first round always runs.
    #[arg(help_heading = heading::LIMITS, long, value_name = "TIME", default_value = "10m", value_parser = duration::budget)]
    pub time_budget: Duration,
    /// Random seed of sizes and data.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}

/// Sizes of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Manual pages: most below 2 KB, 8 KiB on average.
    HelpPages,
    /// Notes, settings and icons: at most 2 KiB, 0.8 KiB on average.
    Snippets,
    /// A source tree: half below 5 KiB, 13 KiB on average.
    KernelSource,
    /// Photos of about 4 MiB.
    Photos,
}

impl ProfileName {
    /// The profile.
    pub const fn profile(self) -> FileProfile {
        match self {
            Self::HelpPages => FileProfile::HelpPages,
            Self::Snippets => FileProfile::Snippets,
            Self::KernelSource => FileProfile::KernelSource,
            Self::Photos => FileProfile::Photos,
        }
    }
}

/// When data is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlushName {
    /// Once, after the last file (syncfs): like copying and then ejecting.
    End,
    /// After each file as well (fsync): close to a mount with sync or flush.
    Each,
}
