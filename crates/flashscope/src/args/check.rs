//! `flashscope check`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use flashscope_record::SpeedMark;

use super::shared::{Budgets, Erase, Output, heading};

pub(super) const EXAMPLES: &str = "\
Examples:
  sudo flashscope check /dev/sdX                read only; the data stays
  sudo flashscope check /dev/sdX --scratch      all tests; all data is put back
  flashscope check /media/me/STICK              tests in a file of its own; no root
  flashscope check sim:patriot-xt-16g           all tests on a virtual stick
  flashscope check sim:generic-2g --details     with evidence and charts
  flashscope check sim:cheap-usb3-32g -o report.html
  flashscope check sim:cheap-usb3-32g --sustained --time-budget 10m";

/// `flashscope check`
#[derive(Debug, Args)]
pub struct Check {
    /// A disk, partition, image file, sim:NAME, or directory on a stick.
    ///
    /// In a directory, a file of its own is measured, without root; nothing is erased.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Random seed; the same seed repeats the same requests.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Also measure SLC cache and sustained write speed.
    ///
    /// Writes one sequential stream over at least a third of the device first, which takes minutes to hours.
    #[arg(help_heading = heading::MEASURED, long)]
    pub sustained: bool,
    /// Test the speed classes alone, against --claimed.
    ///
    /// The speed class, U, V and A of the SD Association, compared with the marks that the registers of a
    /// card or --claimed claim; without any, prints which classes are reached. Writes only if a claim is
    /// about writing. Exit code 0: all claims that could be tested pass; 1: one fails; 5: none can be tested
    /// here.
    #[arg(help_heading = heading::MEASURED, long, conflicts_with_all = ["sustained", "details"])]
    pub class: bool,
    /// What is printed on the card or stick, such as U3,A1.
    ///
    /// Marks, or the speed of "up to 90 MB/s" as 90 or 90MB/s. Several with commas, as in U3,A1,90MB/s. Exit
    /// code 1 if one of them, or of those in the registers of a card, fails; also without --class.
    #[arg(help_heading = heading::MEASURED, hide_short_help = true, long, value_name = "MARKS", value_delimiter = ',')]
    pub claimed: Vec<SpeedMark>,
    /// Limits.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Print all findings, evidence and charts.
    #[arg(help_heading = heading::OUTPUT, long)]
    pub details: bool,
    /// Where results are written.
    #[command(flatten)]
    pub output: Output,
}

impl Check {
    /// The check of a virtual stick with all tests and no output.
    pub fn of_virtual(target: &str, seed: u64) -> Self {
        Self {
            target: target.to_owned(),
            erase: Erase { erase: false, scratch: false, yes: None, force_image: false },
            seed,
            sustained: false,
            class: false,
            claimed: Vec::new(),
            budgets: Budgets { write_budget: None, time_budget: None },
            details: false,
            output: Output { files: Vec::new() },
        }
    }
}
