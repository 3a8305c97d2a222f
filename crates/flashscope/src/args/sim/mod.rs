//! `flashscope sim` and its subcommands.

mod fit;
mod replay;
mod serve;

use clap::Subcommand;

pub use fit::SimFit;
pub use replay::SimReplay;
pub use serve::SimServe;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope sim list                          the built-in virtual sticks
  flashscope sim show patriot-xt-16g           one of them, with its sources
  flashscope check sim:patriot-xt-16g          a check of it";

const LIST_EXAMPLES: &str = "\
Examples:
  flashscope sim list
  flashscope sim list --json                   for scripts";

const SHOW_EXAMPLES: &str = "\
Examples:
  flashscope sim show generic-2g
  flashscope sim show generic-2g > my-stick.toml    a profile to change";

/// `flashscope sim`
#[derive(Debug, Subcommand)]
pub enum Sim {
    /// List the built-in virtual sticks.
    #[command(after_long_help = LIST_EXAMPLES)]
    List,
    /// Print a profile with its sources.
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show {
        /// The name of a built-in profile, or a path to a .toml file.
        profile: String,
    },
    /// Serve a virtual stick as a file and, with --loop, as a block device.
    ///
    /// Prints the path of the file, then of the block device, and serves until Ctrl-C or SIGTERM. Each
    /// request takes as long as on the stick. With --json, prints one document a line: one when it is
    /// ready, one at the end.
    #[command(after_long_help = serve::EXAMPLES)]
    Serve(SimServe),
    /// Replay an I/O trace on a virtual stick.
    ///
    /// Compares times, latencies, merges and write amplification with the recording. Requests are sent in
    /// the recorded order, with the recorded queue depth and idle times, in virtual time.
    #[command(after_long_help = replay::EXAMPLES)]
    Replay(SimReplay),
    /// Fit a profile to a flashbench log or a run file.
    ///
    /// Holds out a share of the log's cells and reports the errors on both shares. With -v, prints every
    /// cell. Without -o, prints the profile. The same log and seed give the same profile, byte for byte.
    #[command(after_long_help = fit::EXAMPLES)]
    Fit(SimFit),
}
