//! The command line: one file a command. Help, reference pages and usage errors come from these definitions.

mod apply;
mod bench;
mod check;
mod fs;
mod import;
mod list;
mod measure;
mod mistyped;
mod not_utf8;
mod plan;
mod report;
mod restore;
mod shared;
mod sim;
mod undo;
mod value;
mod verify;
mod watch;
mod whatif;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub use apply::Apply;
pub use bench::{
    Bench, BenchCache, BenchCommand, BenchFiles, BenchMethods, BenchSustained, FlushName, OrderName,
    SpeedTests, Thorough,
};
pub use check::Check;
pub use fs::{FactorChoice, Fs, FsCompare};
pub use import::Import;
pub use list::List;
pub use measure::{ExperimentName, Format, Measure};
pub use mistyped::mistyped_subcommand;
pub use not_utf8::naming_not_utf8;
pub use plan::Plan;
pub use report::{Report, ReportCommand, ReportCompare};
pub use restore::Restore;
use shared::heading;
pub use shared::{Budgets, Erase, Source, Yes};
pub use sim::{Sim, SimFit, SimReplay, SimServe};
pub use undo::Undo;
pub use verify::Verify;
pub use watch::Watch;
pub use whatif::Whatif;

/// Find out why a USB stick or SD card is slow.
#[derive(Debug, Parser)]
#[command(name = "flashscope", version, help_template = TEMPLATE, disable_help_flag = true, disable_version_flag = true, after_long_help = EXAMPLES)]
pub struct Arguments {
    /// The options of every command.
    #[command(flatten)]
    pub global: Global,
    /// Print the version.
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub version: Option<bool>,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Clap's own without the empty line above the usage, so that the commands fit one screen.
const TEMPLATE: &str = "{about}\n{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  flashscope list                               sticks, cards and readers
  sudo flashscope check /dev/sdX                read only; the data stays
  sudo flashscope check /dev/sdX --scratch      all tests; all data is put back
  sudo flashscope check /dev/sdX --erase        all tests; all data is lost
  sudo flashscope verify /dev/sdX --erase       is the capacity true? all data is lost
  flashscope bench /media/me/STICK              throughput, IOPS and latency; no root
  flashscope check sim:patriot-xt-16g           all tests on a virtual stick
  flashscope plan /dev/sdX --for linux-data     the right partition and filesystem
  flashscope import flashbench.log              findings from a published log

TARGET is one of:
  /dev/sdX, /dev/mmcblk0                        a disk or partition
  /media/me/STICK                               a directory on a mounted stick
  stick.img                                     an image file
  sim:NAME[?seed=7&...], sim:stick.toml         a virtual stick

Exit codes:
  0    no problem
  1    a problem was found with the stick
  2    wrong usage or target
  3    the measurement failed
  4    refused for safety
  5    no speed class can be tested here
  130  interrupted";

/// The options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON document.
    ///
    /// On standard output; docs/schema has the schemas.
    #[arg(long, global = true, help_heading = heading::OUTPUT)]
    pub json: bool,
    /// Print results and errors only.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = heading::OUTPUT, hide_short_help = true)]
    pub quiet: bool,
    /// Print details, such as each failed request.
    #[arg(short, long, global = true, help_heading = heading::OUTPUT, hide_short_help = true)]
    pub verbose: bool,
    /// When to use colour; `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN",
          help_heading = heading::OUTPUT, hide_short_help = true)]
    pub color: Color,
    /// Print help; --help prints all of it, with examples.
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = heading::OUTPUT)]
    pub help: Option<bool>,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find out why a stick or card is slow.
    ///
    /// Measures the target and reports findings, the bottleneck and what to do. A real device is only read.
    /// With --scratch the write tests run as well, and all data is put back. With --erase all data is lost.
    /// A virtual stick gets all tests.
    #[command(after_long_help = check::EXAMPLES)]
    Check(Check),
    /// Measure throughput, IOPS and latency.
    ///
    /// With a TARGET alone: runs write tests, if writing is allowed, then read tests. Each test ends when
    /// its speed is known. The longest possible time is printed first.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_long_help = bench::EXAMPLES)]
    Bench(Box<Bench>),
    /// Find out whether a stick or card stores what it says.
    ///
    /// Writes a sequential run at the end of the device and samples below it, and reads them back. Finds
    /// wrap-around of any period, dropped writes, errors beyond the true size, and scattered bad places.
    /// Sizes are exact. All data on the device is lost. Exit code 1 for a fake, bad or unsteady device.
    #[command(after_long_help = verify::EXAMPLES)]
    Verify(Verify),
    /// Plan the right partition and filesystem.
    ///
    /// Gives the reason of every number. Places partition and data area on erase blocks, and chooses the
    /// options of the filesystem. Only reads: nothing is written to the target. Prints the commands, a script
    /// (--script), or a plan file for `apply` (-o).
    #[command(after_long_help = plan::EXAMPLES)]
    Plan(Plan),
    /// Carry out a plan; all data on the target is lost.
    ///
    /// Writes the partition table and the filesystems. Saves everything that it overwrites to an undo file
    /// first, and reads back what it wrote. Asks before it writes. Needs sudo, or a desktop, which asks for a
    /// password (udisks2).
    #[command(after_long_help = apply::EXAMPLES)]
    Apply(Apply),
    /// Take back what `apply` did, bit for bit.
    ///
    /// Asks before it writes. Needs sudo, or a desktop, which asks for a password (udisks2).
    #[command(after_long_help = undo::EXAMPLES)]
    Undo(Undo),
    /// Put the data back after an interrupted --scratch.
    ///
    /// A measurement with --scratch saves what it overwrites in a journal on this computer. Recognises the
    /// stick, writes the data back, compares it, and removes the journal. May be interrupted and run again.
    #[command(after_long_help = restore::EXAMPLES)]
    Restore(Restore),
    /// Run one experiment with your own parameters.
    #[command(after_long_help = measure::EXAMPLES)]
    Measure(Measure),
    /// Infer from a published flashbench log.
    ///
    /// Reads flashbench's tables (-a, --open-au, --find-fat) as they are found in mailing lists, wikis and
    /// terminals, and infers what `check` would. With --brief, prints one line for each log.
    #[command(after_long_help = import::EXAMPLES)]
    Import(Import),
    /// Compare filesystems.
    #[command(subcommand, after_long_help = fs::EXAMPLES)]
    Fs(Fs),
    /// Predict what another partition or filesystem would gain on a stick.
    ///
    /// Fits a virtual twin to what `check` measured. On it, replays recordings of a real kernel for every
    /// layout: partition at sector 63, at 1 MiB and at the erase block, with every recorded filesystem.
    /// Writes
    /// nothing to the stick. The method: docs/methods/whatif.md.
    #[command(after_long_help = whatif::EXAMPLES)]
    Whatif(Whatif),
    /// Work with virtual sticks.
    #[command(subcommand, after_long_help = sim::EXAMPLES)]
    Sim(Sim),
    /// Print a stored run, write it as an HTML page, or compare runs.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_long_help = report::EXAMPLES)]
    Report(Report),
    /// List sticks, cards and readers.
    ///
    /// Prints for each: link speed and capability, driver, write cache, request limits, mounts and
    /// partition alignment. Needs no root. With root, also prints cluster sizes and the bus mode of cards.
    #[command(after_long_help = list::EXAMPLES)]
    List(List),
    /// Show live what a stick is doing and when it can be unplugged.
    ///
    /// Data that a program writes waits in memory before it reaches the stick. Shows how much data waits
    /// and for how long, throughput, IOPS, latency, queue depth, stalls with their cause, and the processes
    /// with open files. Without DEVICE, watches every stick and card. Without a terminal, prints one line
    /// an interval.
    ///
    /// Reads /proc and /sys, never the stick. Needs no root. With root, counts waiting data for each disk
    /// (debugfs) and sees the processes of all users.
    #[command(after_long_help = watch::EXAMPLES)]
    Watch(Watch),
    /// Print a man page or shell completion; without NAME, print the names.
    #[command(hide = true)]
    Generate {
        /// `bash`, `zsh`, `fish`, or a man page such as `flashscope-check.1`.
        name: Option<String>,
    },
    /// Print the JSON Schema of a document; without NAME, print the names.
    #[command(hide = true)]
    Schema {
        /// A file in docs/schema, without .json.
        name: Option<String>,
    },
}

impl Command {
    /// The target of a measurement or plan, which may be a virtual stick.
    pub fn target_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Check(check) => Some(&mut check.target),
            Self::Bench(bench) => bench.target_mut(),
            Self::Verify(verify) => Some(&mut verify.target),
            Self::Plan(plan) => Some(&mut plan.target),
            Self::Measure(measure) => Some(&mut measure.target),
            Self::Fs(fs) => Some(fs.target_mut()),
            Self::Whatif(whatif) => Some(&mut whatif.target),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    /// The examples of a command and of all below it, without comments.
    fn examples(command: &clap::Command) -> Vec<String> {
        let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let lines = text.lines().skip_while(|line| *line != "Examples:").skip(1);
        let own = lines.take_while(|line| line.starts_with("  ")).map(str::trim_start);
        own.map(|line| line.split_once("  ").map_or(line, |(command, _)| command).to_owned())
            .chain(command.get_subcommands().flat_map(examples))
            .collect()
    }

    #[test]
    fn every_example_of_the_help_is_valid() {
        let examples = examples(&Arguments::command());
        assert!(examples.len() > 60, "{}", examples.len());
        for example in examples {
            let words = example.split(" > ").next().unwrap_or_default().split_whitespace();
            let words = words.skip_while(|word| *word == "sudo");
            assert!(Arguments::try_parse_from(words).is_ok(), "{example}");
        }
    }
}
