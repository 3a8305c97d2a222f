//! The trials of a target, before any statistics.

use flashscope_device::Bytes;
use flashscope_record::Trial;
use flashscope_report::filesystems::{Fewer, TrialSource};

use crate::exit::Exit;
use crate::printer::Printer;

/// What was tried on one target.
#[derive(Debug)]
pub struct Compared {
    /// The device in one line.
    pub device: String,
    /// The first byte of each filesystem.
    pub start: Bytes,
    /// The random seed.
    pub seed: u64,
    /// Where the times come from.
    pub source: TrialSource,
    /// The trials that succeeded.
    pub trials: Vec<Trial>,
    /// Where time or space was short.
    pub fewer: Vec<Fewer>,
    /// One sentence for each failure.
    pub failures: Vec<String>,
    /// What a reader should know about the conditions.
    pub notes: Vec<String>,
    /// How the command ends.
    pub exit: Exit,
}

impl Compared {
    /// Says that the comparison is of a part, if the person interrupted it.
    pub fn remark_if_interrupted(&self, printer: &Printer) {
        if self.exit == Exit::Interrupted {
            printer.remark("interrupted: only what was tried until then is compared");
        }
    }
}
