//! What was typed. Help, reference pages and errors all come from these definitions.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValue};
use clap::{Args, Parser, Subcommand, ValueEnum};
use flashscope_device::Bytes;
use flashscope_device::layer::FaultSpec;
use flashscope_infer::streams::sustained::SAMPLES_MIN;
use flashscope_measure::experiment::{EXPERIMENTS, Registration};
use flashscope_measure::workload::file_sizes::FileProfile;
use flashscope_record::observation::Order;

use crate::duration;

/// Says why a USB stick or SD card is slow: how its controller manages flash, how sure that is, and what it means.
#[derive(Debug, Parser)]
#[command(name = "flashscope", version, propagate_version = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  flashscope check sim:patriot-xt-16g           everything, on a virtual stick
  sudo flashscope check /dev/sdX                reads only; nothing on the stick changes
  sudo flashscope check /dev/sdX --erase        all tests; what is on the stick is lost
  flashscope bench sim:samsung-fit-plus         how fast it really is
  flashscope import flashbench.log              infer from a log that somebody published

A TARGET is a disk or partition (/dev/sdX), an image file, or a virtual stick (sim:NAME, sim:stick.toml, with
?seed=7 and other keys behind it).

Exit codes: 0 fine; 1 a problem was found with the stick; 2 wrong usage or target; 3 the measurement failed;
4 refused for safety; 130 interrupted.";

/// What holds for every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON document on standard output.
    #[arg(long, global = true)]
    pub json: bool,
    /// No progress and no remarks; only results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: single failed requests, how each log line was taken.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour. `auto`: on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
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

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what a stick is, how sure that is, and what it means.
    ///
    /// Identifies the target, measures what is allowed, infers and explains. A real device is only read. With --erase
    /// the writing tests run too, and what is on it is lost; on a virtual stick everything runs.
    Check(Check),
    /// Measure how fast it really is: rows of equal requests, with the spread of their times.
    ///
    /// With a TARGET alone: writes, if they are allowed, and reads. Each row of requests goes on until its speed is clear; what it
    /// takes at most is said beforehand.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Bench(Bench),
    /// Run one experiment, with parameters of your own.
    Measure(Measure),
    /// Infer from a published flashbench log.
    ///
    /// Reads any of flashbench's tables (-a, --open-au, --find-fat), as mailing lists, wikis and terminals left them,
    /// and infers what `check` would. With --brief, one line for each of many logs.
    Import(Import),
    /// Show the virtual sticks.
    #[command(subcommand)]
    Sim(Sim),
    /// Show a stored run again, or write it as a page; or compare several.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Report(Report),
    /// List sticks, cards and readers: what they are, how they are plugged in, what is on them.
    ///
    /// Says for each what its link does now and what it could do, its driver, write cache and request limits, what is mounted,
    /// and how partitions lie. Needs no root; with it, and where a disk may be read, the clusters of filesystems and the bus
    /// mode of cards are seen too.
    #[command(after_help = LIST_EXAMPLES)]
    List(List),
    /// Show what a stick is doing: speed, what still waits in memory for it, and when it may be unplugged.
    ///
    /// Data that a program has written waits in memory first; the stick gets it later. Shows live how much waits and how long
    /// it will take, speed, requests, latency and queue, who has files open, and stalls with their cause. Without DEVICE,
    /// every stick and card. Reads /proc and /sys, never the stick. Needs no root; with it, what waits is known for each disk
    /// (debugfs), and the processes of others are seen. Without a terminal it prints a line for each interval.
    #[command(after_help = WATCH_EXAMPLES)]
    Watch(Watch),
}

const LIST_EXAMPLES: &str = "\
Examples:
  flashscope list                          what is plugged in
  flashscope list --watch                  and what comes and goes, until Ctrl-C
  flashscope list --all --json             every disk, for scripts
  flashscope list --sysfs copy-of-a-machine";

/// `flashscope list`
#[derive(Debug, Args)]
pub struct List {
    /// Every disk: also those of the machine, optical drives, loop devices.
    #[arg(long)]
    pub all: bool,
    /// Go on, and say what is plugged in, taken out or mounted, until Ctrl-C. With --json, one document a line.
    #[arg(long)]
    pub watch: bool,
    /// Where to look.
    #[command(flatten)]
    pub source: Source,
}

/// Where disks are looked for.
#[derive(Debug, Args)]
pub struct Source {
    /// Read DIR instead of this machine: a copy of /sys, or a folder with sys, and maybe proc, run and dev, in it.
    #[arg(long, value_name = "DIR", env = "FLASHSCOPE_SYSFS")]
    pub sysfs: Option<PathBuf>,
    /// Read mounts from FILE, in the form of /proc/self/mountinfo or /proc/mounts.
    #[arg(long, value_name = "FILE")]
    pub mounts: Option<PathBuf>,
}

const WATCH_EXAMPLES: &str = "\
Examples:
  flashscope watch                         every stick and card, until q or Ctrl-C
  sudo flashscope watch /dev/sdX           one disk, with what waits for it alone
  flashscope watch /media/stick --once     one look, over one second
  flashscope watch --once --json           the same for scripts";

/// `flashscope watch`
#[derive(Debug, Args)]
pub struct Watch {
    /// A disk, one of its partitions, or the folder where it is mounted.
    pub device: Option<PathBuf>,
    /// Look once, after one interval, and end.
    #[arg(long)]
    pub once: bool,
    /// Look each time so much has passed: seconds, or a time such as 500ms, from 0.1 s to a minute.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration::interval)]
    pub interval: Duration,
    /// Where to look.
    #[command(flatten)]
    pub source: Source,
}

/// Where results go besides the screen.
#[derive(Debug, Args)]
pub struct Output {
    /// Also write FILE: a page if it ends in .html, a run file (every observation) if it ends in .json. May be repeated.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = output_file)]
    pub files: Vec<PathBuf>,
}

/// Permission to write.
#[derive(Debug, Args)]
pub struct Erase {
    /// Run tests that write. What the stick, card or image file holds is lost; asks first. Other disks, and what is in use, are refused.
    #[arg(long)]
    pub erase: bool,
    /// Do not ask before erasing. Of a disk, only with its name in /dev/disk/by-id, which no other one gets.
    #[arg(long, requires = "erase")]
    pub yes: bool,
}

/// `flashscope check`
#[derive(Debug, Args)]
pub struct Check {
    /// A disk, an image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Seed of every random choice of the measurement; the same seed repeats the same requests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Also fill the caches, to find what they hold and how fast writing is behind them: one stream of writes over a third of
    /// the stick or more, for minutes to hours. It comes first.
    #[arg(long)]
    pub sustained: bool,
    /// What it may cost.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// What a measurement may cost.
#[derive(Debug, Args)]
pub struct Budgets {
    /// Write at most so much in all. Without it: 2 GiB, and what filling the caches or a row of large writes takes.
    #[arg(long, value_name = "SIZE")]
    pub write_budget: Option<Bytes>,
    /// Measure at most so long, in device time: seconds, or a time such as 90s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", value_parser = duration::budget)]
    pub time_budget: Option<Duration>,
}

/// `flashscope bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// One part alone.
    #[command(subcommand)]
    pub part: Option<BenchPart>,
    /// A disk, an image file, a folder on the mounted stick, or sim:NAME.
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// What is asked for.
    #[command(flatten)]
    pub rows: Rows,
    /// How far writes go.
    #[command(flatten)]
    pub extent: Extent,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
}

/// The parts of `flashscope bench`.
#[derive(Debug, Subcommand)]
pub enum BenchPart {
    /// Reads in order and here and there, of several sizes, with one or several in flight.
    ///
    /// In a folder it reads a file of its own, which it fills first. That file has no name and is gone whatever happens.
    Read(BenchRead),
    /// Writes in order and here and there, of several sizes, with one or several in flight.
    ///
    /// Each row goes on for 10 s at least, and the first one of writes in order for 64 MiB, so that stalls are part of its speed; where its writes are
    /// large, for a minute or an eighth of the target, so that caches are spent, and for ten minutes at most. Others take four minutes at most. What comes only every few GiB does not show in that, but with --thorough. In a folder it writes a file of its own, which has no name and is gone whatever happens; that needs no --erase.
    Write(BenchWrite),
    /// One long stream of writes, until caches are spent and the speed that lasts is known.
    ///
    /// Finds what a cache takes, the speed behind it, the period of stalls, and what pauses give back. It writes a third of the
    /// target or more where no cache is found, and waits for six minutes in pauses where one is. In a folder it writes a file of its
    /// own, which has no name and is gone whatever happens; that needs no --erase.
    Sustained(BenchSustained),
    /// The same writes as people do them, side by side: what each way claims, and when the data is really there.
    ///
    /// Through the page cache with zeros and with random bytes, with a flush at the end, with one behind every write, and past the
    /// cache; in several rounds, so that a single stall is not taken for the speed. In a directory it writes a file of its own, which has no name and is gone whatever happens.
    Methods(BenchMethods),
    /// What hdparm -T, -t and -W show, told apart: memory, the page cache, the device, the drive's own cache.
    ///
    /// Reads only. Each figure is named for what it is, and what did not come from the device is marked as cached.
    Cache(BenchCache),
    /// Many small files against one large file of the same bytes, in a folder on the mounted stick.
    ///
    /// Times making them until the data is really there, reads them back cold, and says what they take in space and why they take as
    /// long as they do. It makes files in a new folder of its own inside DIR and removes it, also after Ctrl-C. Needs no root; with it,
    /// folders and tables are read back cold too.
    #[command(after_help = FILES_EXAMPLES)]
    Files(BenchFiles),
}

/// `flashscope bench cache`
#[derive(Debug, Args)]
pub struct BenchCache {
    /// A disk, a partition or an image file.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// How long each layer is read in a round: from 1 to 60, or 1s to 1m.
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = duration::reading)]
    pub seconds: Duration,
    /// How many rounds, from 1 to 100.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Also switch the drive's own write cache on and off (SCSI disks, as root), read with both, and put it back.
    #[arg(long)]
    pub switch_cache: bool,
}

const FILES_EXAMPLES: &str = "\
Examples:
  flashscope bench files /media/me/STICK
  flashscope bench files /media/me/STICK --profile photos
  flashscope bench files /media/me/STICK --like ~/website --flush each";

/// `flashscope bench files`
#[derive(Debug, Args)]
pub struct BenchFiles {
    /// A folder on the mounted stick.
    #[arg(value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    pub folder: String,
    /// How many files there are and how large they are.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ProfileName::HelpPages, conflicts_with = "like")]
    pub profile: ProfileName,
    /// Files as large as those in and below FOLDER, and as many (2000 at most, unless --count says more). Nothing in it is copied.
    #[arg(long, value_name = "FOLDER")]
    pub like: Option<PathBuf>,
    /// How many files, from 1 to 1000000. Without it: 2000 (photos: 40), or fewer where the stick is too slow for the time budget.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: Option<u32>,
    /// When data is sent to the stick.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = FlushName::End)]
    pub flush: FlushName,
    /// How often all of it is done, from 1 to 100. Without it 3 to 9 times, until the rounds agree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Begin no round that would end later than so long after the first began: seconds, or a time such as 90s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::budget)]
    pub time_budget: Duration,
    /// Seed of sizes and data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// Kinds of folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// Pages of a manual: most under 2 KB, 8 KiB on average.
    HelpPages,
    /// Notes, settings and icons: none above 2 KiB, 0.8 KiB on average.
    Snippets,
    /// A source tree: half below 5 KiB, 15 KiB on average.
    KernelSource,
    /// Photographs of some 4 MiB.
    Photos,
}

impl ProfileName {
    /// Its sizes.
    pub const fn profile(self) -> FileProfile {
        match self {
            Self::HelpPages => FileProfile::HelpPages,
            Self::Snippets => FileProfile::Snippets,
            Self::KernelSource => FileProfile::KernelSource,
            Self::Photos => FileProfile::Photos,
        }
    }
}

/// When data is sent to the stick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlushName {
    /// Once, behind all files (syncfs): as a copy does it, and then ejecting the stick.
    End,
    /// Behind every file too (fsync): close to mounts with the options sync or flush.
    Each,
}

/// `flashscope bench methods`
#[derive(Debug, Args)]
pub struct BenchMethods {
    /// A directory on the stick, a disk, or an image file.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// How much each way writes in a round, from 1 MiB to 64 GiB. Without it 64 MiB, and less where three rounds of that would take longer
    /// than --time-budget.
    #[arg(long, value_name = "SIZE", value_parser = amount)]
    pub size: Option<Bytes>,
    /// How many rounds of all ways at most, from 1 to 100. Without it as many as write 2 GiB: 3 to 9, fewer where five agree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Behind the first round, begin none that would end later than so long after the start: seconds, or a time such as 90s, 5m or 1h30m.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration::budget)]
    pub time_budget: Duration,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// `flashscope bench sustained`
#[derive(Debug, Args)]
pub struct BenchSustained {
    /// A disk, an image file, a folder on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Samples of this number and size spread over the target, each with a flush, as GNOME Disks writes them; such as
    /// 1000x10MiB.
    #[arg(long, value_name = "COUNTxSIZE", value_parser = samples)]
    pub samples: Option<(u32, Bytes)>,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Seed of the data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What it may cost.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// `flashscope bench read`
#[derive(Debug, Args)]
pub struct BenchRead {
    /// A disk, an image file, a folder on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// What is asked for.
    #[command(flatten)]
    pub rows: Rows,
}

/// `flashscope bench write`
#[derive(Debug, Args)]
pub struct BenchWrite {
    /// A disk, an image file, a folder on the mounted stick, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// What is asked for.
    #[command(flatten)]
    pub rows: Rows,
    /// How far writes go.
    #[command(flatten)]
    pub extent: Extent,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
}

/// How far rows of writes go.
#[derive(Debug, Args)]
pub struct Extent {
    /// Let rows of writes go on until stalls that come every few GiB, and what a spent cache owes, are a part of their speed: half an
    /// hour for most sticks, unless the writes are small and lie here and there, of which few pass in an hour. A row takes an hour at most, and writes 48 GiB or twice what the target holds at most. Not in a folder.
    #[arg(long)]
    pub thorough: bool,
}

/// Rows of equal requests.
#[derive(Debug, Args)]
pub struct Rows {
    /// The order of the requests; both without it. May be repeated.
    #[arg(long = "order", value_enum, value_name = "ORDER")]
    pub orders: Vec<OrderName>,
    /// The size of each request, from 512 bytes to 64 MiB; 1 MiB, 64 KiB and 4 KiB without it. May be repeated.
    #[arg(long = "size", value_name = "SIZE", value_parser = request_size)]
    pub sizes: Vec<Bytes>,
    /// How many requests are in flight at a time, from 1 to 32; without it one, and 8 and 32 of 4 KiB here and there where no
    /// --size is given. May be repeated.
    #[arg(long = "queue-depth", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub queue_depths: Vec<u32>,
    /// Seed of places and data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What it may cost.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// Orders of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// One behind the other.
    Sequential,
    /// Here and there over the whole target.
    Random,
}

impl OrderName {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sequential, Self::Random];
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Sequential => Self::Linear,
            OrderName::Random => Self::Random,
        }
    }
}

/// `flashscope measure`
#[derive(Debug, Args)]
pub struct Measure {
    /// Which experiment.
    #[arg(value_enum)]
    pub experiment: ExperimentName,
    /// A disk, an image file, or sim:NAME.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub target: String,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// Form of the result. `flashbench` runs flashbench's own procedure and prints its table.
    #[arg(long, value_enum, default_value_t = Format::Flashscope)]
    pub format: Format,
    /// The erase block, from 16 KiB to 1 GiB. Without it, flashscope measures it first; flashbench's procedure takes
    /// 4 MiB.
    #[arg(long, value_name = "SIZE", value_parser = erase_block)]
    pub erase_block: Option<Bytes>,
    /// open-units: the number of erase blocks written in turn (flashbench; default 2), or where the search ends
    /// (flashscope; default 129). fat-area with flashbench: how many of the first erase blocks (default 6).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub open_units: Option<u32>,
    /// The size of each read (align: a power of two), the smallest write (flashbench's tables), or the size of each write (open-units,
    /// fat-area: from 4 KiB to a sixteenth of the erase block).
    #[arg(long, value_name = "SIZE", value_parser = block_size)]
    pub block_size: Option<Bytes>,
    /// flashbench's tables: shuffled order inside each erase block.
    #[arg(long)]
    pub random: bool,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What it may cost.
    #[command(flatten)]
    pub budgets: Budgets,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// An experiment that can be run alone.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentName(pub &'static Registration);

impl PartialEq<&str> for ExperimentName {
    fn eq(&self, name: &&str) -> bool {
        self.0.name == *name
    }
}

impl ValueEnum for ExperimentName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ExperimentName; EXPERIMENTS.len()] = {
            let mut all = [ExperimentName(EXPERIMENTS[0]); EXPERIMENTS.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = ExperimentName(EXPERIMENTS[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.question))
    }
}

impl ExperimentName {
    /// Whether flashbench has a table of it.
    pub fn is_of_flashbench(self) -> bool {
        ["align", "open-units", "fat-area"].contains(&self.0.name)
    }
}

/// Forms of a measurement's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Findings, tables and charts.
    Flashscope,
    /// flashbench's table.
    Flashbench,
}

/// `flashscope import`
#[derive(Debug, Args)]
pub struct Import {
    /// The log; - for standard input. Several with --brief or --one-device.
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// One line a log: what was found and how sure that is, or why nothing was.
    #[arg(long, conflicts_with_all = ["json", "files"])]
    pub brief: bool,
    /// All logs are of the same device, such as several runs of one card: infer from them together.
    #[arg(long)]
    pub one_device: bool,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// `flashscope sim`
#[derive(Debug, Subcommand)]
pub enum Sim {
    /// The built-in virtual sticks.
    List,
    /// A profile with its sources, and what is true of it.
    Show {
        /// A built-in profile's name, or a path to a .toml file.
        profile: String,
    },
    /// Serve a virtual stick as a real disk: a file, and with --loop a block device.
    ///
    /// Prints the file's path, then the block device's, and serves until Ctrl-C or SIGTERM; every request takes as long as
    /// it would on the stick. With --json, one document a line: one when it is ready, one with the account at the end.
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(SimServe),
    /// Ask the requests of a trace of a virtual stick, in virtual time.
    ///
    /// Shows times, latencies, merges and write amplification beside what was recorded. Requests go out in the recorded order,
    /// with as many in flight and as much idle time between them as there was.
    Replay(SimReplay),
    /// Make a profile from a published flashbench log or a run file, and say how well it fits.
    ///
    /// A share of the log's cells is held out: the fit does not see them, and their errors say what the profile is worth.
    /// With -v, every cell. Without -o the profile is printed. Same log, same seed: the same profile, byte for byte.
    Fit(SimFit),
}

const SERVE_EXAMPLES: &str = "\
Examples:
  flashscope sim serve patriot-xt-16g                 a file of 16 GB, as slow as the stick
  sudo flashscope sim serve patriot-xt-16g --loop     also a block device, for mkfs and fio
  flashscope sim serve my-stick.toml --speed 10       ten times as fast";

/// `flashscope sim fit`
#[derive(Debug, Args)]
pub struct SimFit {
    /// The log, or a run file of `check -o`; - for standard input.
    pub log: PathBuf,
    /// Write the profile to FILE, which ends in .toml.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = profile_file)]
    pub output: Option<PathBuf>,
    /// The share of the cells of each table that the fit does not see, from 0 to 0.9.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub holdout: f64,
    /// Decides which cells those are.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// `flashscope sim serve`
#[derive(Debug, Args)]
pub struct SimServe {
    /// A built-in profile's name or a path to a .toml file, with ?seed=7 and other keys behind it.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Mount on DIR, an empty directory. Without it: one made for the purpose, and removed at the end.
    #[arg(long, value_name = "DIR")]
    pub mount: Option<PathBuf>,
    /// Also make a block device of it, with direct I/O. Needs root.
    #[arg(long = "loop")]
    pub block_device: bool,
    /// Answer X times as fast as the stick would, from 0.001 to 1000000.
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Answer at once.
    #[arg(long, conflicts_with = "speed")]
    pub instant: bool,
    /// Record every request in FILE, as `docs/trace.md` describes.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// What is wrong with the stick, such as unplug:after=1000 or wrap:real=2GiB (`docs/simulator.md` has them all). May
    /// be repeated.
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<FaultSpec>,
    /// Keep the contents in FILE, a sparse file as large as the stick; made if it is missing.
    #[arg(long, value_name = "FILE")]
    pub backing: Option<PathBuf>,
}

/// `flashscope sim replay`
#[derive(Debug, Args)]
pub struct SimReplay {
    /// The trace, as sim serve --trace writes it; - for standard input.
    pub trace: PathBuf,
    /// A built-in profile's name or a path to a .toml file, with ?capacity=32GiB and other keys behind it.
    #[arg(value_name = "PROFILE", value_parser = NonEmptyStringValueParser::new())]
    pub stick: String,
    /// Seed of the stick's chance.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Leave out the times in which the traced device was idle.
    #[arg(long)]
    pub as_fast_as_possible: bool,
    /// Keep up to N requests in flight, instead of as many as there were.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub queue_depth: Option<u32>,
    /// Write every request's latency, recorded and replayed, to FILE as comma-separated values.
    #[arg(long, value_name = "FILE")]
    pub latencies: Option<PathBuf>,
}

/// `flashscope report`
#[derive(Debug, Args)]
pub struct Report {
    /// Several runs.
    #[command(subcommand)]
    pub part: Option<ReportPart>,
    /// A run file, as check -o RUN.flashscope.json writes it.
    #[arg(required = true)]
    pub run: Option<PathBuf>,
    /// Write the page to FILE, which ends in .html; without it the report is printed.
    #[arg(long, value_name = "FILE", value_parser = page)]
    pub html: Option<PathBuf>,
    /// Where results go.
    #[command(flatten)]
    pub output: Output,
}

/// The parts of `flashscope report`.
#[derive(Debug, Subcommand)]
pub enum ReportPart {
    /// Lay the long streams of several runs over one another.
    ///
    /// Each run is one of `bench sustained`, or of `check --sustained`, kept with -o RUN.flashscope.json.
    Compare(ReportCompare),
}

/// `flashscope report compare`
#[derive(Debug, Args)]
pub struct ReportCompare {
    /// Run files, one per device.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<PathBuf>,
    /// Also write the page to FILE, which ends in .html. May be repeated.
    #[arg(short = 'o', long = "output", value_name = "FILE", value_parser = page)]
    pub output: Vec<PathBuf>,
    /// Write the page to FILE, which ends in .html; without it the comparison is printed.
    #[arg(long, value_name = "FILE", value_parser = page)]
    pub html: Option<PathBuf>,
}

/// How many times as fast as the stick. Beyond these bounds no clock tells the difference.
fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "a number is needed, such as 10 or 0.5".to_owned())?;
    if (1e-3..=1e6).contains(&speed) {
        Ok(speed)
    } else {
        Err("a speed from 0.001 to 1000000 is needed".to_owned())
    }
}

fn profile_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    if toml { Ok(path) } else { Err("the name must end in .toml".to_owned()) }
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=0.9).contains(share))
        .ok_or_else(|| "a share from 0 to 0.9 is needed".to_owned())
}

fn output_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm" | "json") => Ok(path),
        _ => Err("the name must end in .html (a page) or .json (a run file)".to_owned()),
    }
}

fn page(text: &str) -> Result<PathBuf, String> {
    output_file(text)
        .ok()
        .filter(|path| path.extension().is_some_and(|extension| extension != "json"))
        .ok_or_else(|| "the name must end in .html".to_owned())
}

/// NAND flash with pages of 512 bytes already erased 16 KiB at a time (data sheet of Samsung's K9F2808Q0B, page 9), and the
/// experiments write in multiples of 4 KiB.
fn erase_block(text: &str) -> Result<Bytes, String> {
    size(text, Bytes::kib(16), Bytes::kib(4))
}

/// A number from as many as tell a speed to 10000, and the size of a request.
fn samples(text: &str) -> Result<(u32, Bytes), String> {
    let needed = || format!("a number from {SAMPLES_MIN} to 10000 and a size are needed, such as 1000x10MiB");
    let (count, size) = text.split_once('x').ok_or_else(needed)?;
    let tells = |count: &u32| (SAMPLES_MIN..=10_000).contains(&u64::from(*count));
    let count = count.parse().ok().filter(tells).ok_or_else(needed)?;
    Ok((count, request_size(size)?))
}

/// Whole mebibytes, so that ways past the cache take them.
fn amount(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let fits = size >= Bytes::mib(1) && size <= Bytes::gib(64) && size.is_multiple_of(Bytes::mib(1));
    fits.then_some(size).ok_or_else(|| "whole MiB from 1 MiB to 64 GiB are needed".to_owned())
}

/// The largest is what a target takes in one piece.
fn request_size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size < Bytes::new(512) || size > Bytes::mib(64) || !size.is_multiple_of(Bytes::new(512)) {
        return Err("a multiple of 512 B from 512 B to 64 MiB is needed".to_owned());
    }
    Ok(size)
}

fn block_size(text: &str) -> Result<Bytes, String> {
    size(text, Bytes::new(512), Bytes::new(512))
}

/// A size from `least` to 1 GiB in whole `steps`.
fn size(text: &str, least: Bytes, step: Bytes) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if size < least || size > Bytes::gib(1) || !size.is_multiple_of(step) {
        return Err(format!("a multiple of {step} from {least} to 1 GiB is needed"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Arguments::command().debug_assert();
    }
}
