//! `flashscope fs` and its subcommands.

mod compare;
mod factor;

use clap::Subcommand;

pub use compare::FsCompare;
pub use factor::FactorChoice;

pub(super) const EXAMPLES: &str = "\
Examples:
  flashscope fs compare sim:generic-2g         filesystems on a virtual stick
  sudo flashscope fs compare /dev/sdX          on a real one; all data is lost";

/// `flashscope fs`
#[derive(Debug, Subcommand)]
pub enum Fs {
    /// Find the fastest filesystem and options for a stick.
    ///
    /// On a virtual stick, replays recordings of a real kernel that writes files and reads them back on each
    /// filesystem, in virtual time: docs/methods/filesystems.md. The same answer every time.
    ///
    /// On a disk, makes each filesystem, writes files and reads them back, in rounds. All data on it is
    /// lost; it asks before. Needs root.
    #[command(after_long_help = compare::EXAMPLES)]
    Compare(FsCompare),
}

impl Fs {
    /// The target, which may be a virtual stick.
    pub const fn target_mut(&mut self) -> &mut String {
        match self {
            Self::Compare(compare) => &mut compare.target,
        }
    }
}
