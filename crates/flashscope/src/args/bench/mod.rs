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

/// `flashscope bench`
#[derive(Debug, Args)]
pub struct Bench {
    /// The subcommand, if any.
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// A disk, a partition, an image file, a directory on the mounted stick, or sim:NAME.
    #[arg(required = true, value_parser = NonEmptyStringValueParser::new())]
    pub target: Option<String>,
    /// The tests.
    #[command(flatten)]
    pub tests: SpeedTests,
    /// How long write tests take.
    #[command(flatten)]
    pub thorough: Thorough,
    /// Permission to write.
    #[command(flatten)]
    pub erase: Erase,
}

/// The subcommands of `flashscope bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Read tests: sequential and random, several block sizes and queue depths.
    ///
    /// In a directory, first fills a file of its own and reads that. The file has no name and is always
    /// removed.
    Read(BenchRead),
    /// Write tests: sequential and random, several block sizes and queue depths.
    ///
    /// A test takes at least 10 s and at most 4 minutes. Tests with large writes run until the SLC cache is
    /// exhausted: for 1 minute or 1/8 of the target, at most 10 minutes. Stalls that come only every few
    /// GiB need --thorough.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    Write(BenchWrite),
    /// Write one long stream until the sustained write speed is known.
    ///
    /// Finds the size of the SLC cache, the speed after it, regular stalls, and how much of the cache a
    /// pause frees. Writes at least a third of the target if there is no cache. Pauses for 6 minutes in all
    /// if there is one.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    Sustained(BenchSustained),
    /// Compare write methods: the speed each claims, and when the data is durable.
    ///
    /// Writes the same amount through the page cache with zeros and with random bytes, with one flush at
    /// the end, with a flush after each write, and without the page cache. Repeats this in rounds, so that
    /// one stall does not decide the result.
    ///
    /// In a directory, writes a file of its own, which needs no --erase. The file has no name and is always
    /// removed.
    Methods(BenchMethods),
    /// Compare memory, page cache and device: what hdparm -T, -t and -W show.
    ///
    /// Reads only. A speed that is not the device's is marked as cached.
    Cache(BenchCache),
    /// Compare many small files with one large file of the same total size.
    ///
    /// Measures the time until the data is durable, the time to read it back with cold caches, and the
    /// space it takes, and explains the difference. Works in a new directory inside DIR and always removes
    /// it. Needs no root. With root, metadata is read back with cold caches too.
    #[command(after_help = files::EXAMPLES)]
    Files(BenchFiles),
}
