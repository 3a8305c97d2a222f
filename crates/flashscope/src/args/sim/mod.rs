//! `flashscope sim` and its subcommands.

mod fit;
mod replay;
mod serve;

use clap::Subcommand;

pub use fit::SimFit;
pub use replay::SimReplay;
pub use serve::SimServe;

/// `flashscope sim`
#[derive(Debug, Subcommand)]
pub enum Sim {
    /// List the built-in virtual sticks.
    List,
    /// Print a profile with its sources.
    Show {
        /// The name of a built-in profile, or a path to a .toml file.
        profile: String,
    },
    /// Serve a virtual stick as a file and, with --loop, as a block device.
    ///
    /// Prints the path of the file, then of the block device, and serves until Ctrl-C or SIGTERM. Each
    /// request takes as long as on the stick. With --json, prints one document a line: one when it is
    /// ready, one at the end.
    #[command(after_help = serve::EXAMPLES)]
    Serve(SimServe),
    /// Replay an I/O trace on a virtual stick.
    ///
    /// Compares times, latencies, merges and write amplification with the recording. Requests are sent in
    /// the recorded order, with the recorded queue depth and idle times, in virtual time.
    Replay(SimReplay),
    /// Fit a profile to a flashbench log or a run file.
    ///
    /// Holds out a share of the log's cells and reports the errors on both shares. With -v, prints every
    /// cell. Without -o, prints the profile. The same log and seed give the same profile, byte for byte.
    Fit(SimFit),
}
