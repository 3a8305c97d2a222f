//! The trials of a target, before any statistics.

use flashscope_record::Trial;

use crate::exit::Exit;

/// What was tried on one target.
#[derive(Debug)]
pub struct Compared {
    /// The device in one line.
    pub device: String,
    /// The trials that succeeded.
    pub trials: Vec<Trial>,
    /// One sentence for each kind of failure.
    pub failures: Vec<String>,
    /// What a reader should know about the conditions.
    pub notes: Vec<String>,
    /// How the command ends.
    pub exit: Exit,
}
