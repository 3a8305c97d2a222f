//! `flashscope bench` and its subcommands.

mod cache;
mod files;
mod methods;
mod speed;
mod sustained;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

pub use cache::BenchCache;
pub use files::{BenchFiles, FlushName};
pub use methods::BenchMethods;
pub use speed::{BenchRead, BenchWrite, OrderName, SpeedTests, Thorough};
pub use sustained::BenchSustained;

use super::shared::Erase;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope bench /media/me/STICK                      in a file of its own; no root
  sudo flashscope bench /dev/sdX                        reads only
  sudo flashscope bench /dev/sdX --scratch              all data is put back
  flashscope bench sim:generic-2g --order sequential --size 1MiB
  flashscope bench sustained sim:cheap-usb3-32g         the speed of one long copy";

/// What `flashscope bench -h` shows besides the subcommands, which show the rest.
const SHOWN_IN_SHORT: [&str; 3] = ["target", "erase", "scratch"];

/// `flashscope bench`
#[derive(Debug, Args)]
#[command(mut_args(|arg| match SHOWN_IN_SHORT.contains(&arg.get_id().as_str()) {
    true => arg,
    false => arg.hide_short_help(true),
}))]
pub struct Bench {
    /// The subcommand, if any.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// A disk, partition, image file, sim:NAME, or directory on a stick.
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
    /// How long write tests take.
    #[command(flatten)]
    pub thorough: Thorough,
}

impl Bench {
    /// The target of the subcommand, or of all tests.
    pub fn target_mut(&mut self) -> Option<&mut String> {
        Some(match &mut self.command {
            None => return self.target.as_mut(),
            Some(BenchCommand::Read(read)) => &mut read.target,
            Some(BenchCommand::Write(write)) => &mut write.target,
            Some(BenchCommand::Sustained(sustained)) => &mut sustained.target,
            Some(BenchCommand::Methods(methods)) => &mut methods.target,
            Some(BenchCommand::Cache(cache)) => &mut cache.target,
            Some(BenchCommand::Files(files)) => &mut files.directory,
        })
    }
}

/// The subcommands of `flashscope bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Read tests: sequential and random.
    ///
    /// With several block sizes and queue depths.
    ///
    /// In a directory, first fills a file of its own and reads that. The file has no name and is always
    /// removed.
    #[command(after_long_help = speed::READ_EXAMPLES)]
    Read(BenchRead),
    /// Write tests: sequential and random.
    ///
    /// With several block sizes and queue depths. A test takes at least 10 s and at most 4 minutes. Tests
    /// with large writes run until the SLC cache is exhausted: for 1 minute or 1/8 of the target, at most 10
    /// minutes. Stalls that come only every few GiB need --thorough.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    #[command(after_long_help = speed::WRITE_EXAMPLES)]
    Write(BenchWrite),
    /// Write one long stream until the sustained write speed is known.
    ///
    /// Finds the size of the SLC cache, the speed after it, regular stalls, and how much of the cache a
    /// pause frees. Writes at least a third of the target if there is no cache. Pauses for 6 minutes in all
    /// if there is one.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    #[command(after_long_help = sustained::EXAMPLES)]
    Sustained(BenchSustained),
    /// Compare write methods: what is said and what is durable.
    ///
    /// Shows the speed that each method claims, and when the data is durable. Writes the same amount through
    /// the page cache with zeros and with random bytes, with one flush at the end, with a flush after each
    /// write, and without the page cache. Repeats this in rounds, so that one stall does not decide the
    /// result.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    #[command(after_long_help = methods::EXAMPLES)]
    Methods(BenchMethods),
    /// Compare memory, page cache and device, like hdparm.
    ///
    /// Shows what hdparm -T, -t and -W show. Reads only. A speed that is not the device's is marked as
    /// cached.
    #[command(after_long_help = cache::EXAMPLES)]
    Cache(BenchCache),
    /// Compare many small files with one large file.
    ///
    /// Both have the same total size. Measures the time until the data is durable, the time to read it back
    /// with cold caches, and the space it takes, and explains the difference. Works in a new directory inside
    /// DIR and always removes it. Needs no root. With root, metadata is read back with cold caches too.
    #[command(after_long_help = files::EXAMPLES)]
    Files(BenchFiles),
}
