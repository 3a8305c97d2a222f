//! Filesystems compared on one stick: what to take, the times with their intervals, and what is in them.

mod charts;
mod page;
mod screen;
mod words;

use flashscope_device::Bytes;
use flashscope_infer::trials::summary::Summary;
use flashscope_record::TrialWorkload;

pub use page::html_page;
pub use screen::text;
pub use words::sentences;

/// A comparison of filesystems.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The target as it was typed.
    pub target: &'a str,
    /// The device in one line.
    pub device: &'a str,
    /// The first byte of each filesystem.
    pub start: Bytes,
    /// The times.
    pub summary: &'a Summary,
    /// Where the times come from.
    pub source: &'a TrialSource,
    /// Where time or space was short.
    pub fewer: &'a [Fewer],
    /// One sentence for each failure.
    pub failures: &'a [String],
    /// What a reader should know besides.
    pub notes: &'a [String],
}

/// Files of which fewer were written than there are, because time or space was short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fewer {
    /// The files.
    pub workload: TrialWorkload,
    /// The number that was written.
    pub written: u32,
    /// The number that there are.
    pub wanted: u32,
    /// The bytes that were written.
    pub bytes: Bytes,
}

/// Where the times of trials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialSource {
    /// From recordings of a real kernel, replayed on a virtual stick.
    Replayed {
        /// The kernels.
        kernels: Vec<String>,
        /// The memory of the recorded hosts.
        memories: Vec<Bytes>,
        /// The capacities of the recorded filesystems.
        capacities: Vec<Bytes>,
    },
    /// Measured on the stick.
    Measured {
        /// The kernel of this host.
        kernel: String,
    },
}
