//! The value of a finding.

use flashscope_device::Bytes;

/// The class of a flash translation layer, as seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FtlClass {
    /// Takes sequential writes only: random order inside a block costs a merge per request.
    LinearOnly,
    /// Keeps some erase blocks open, in any order inside; one more costs a constant merge per request.
    OpenBlock,
    /// Maps whole erase blocks; one log takes a sequential run, other logs take anything.
    HybridLog,
    /// Writes into a log: the cost beyond its open blocks grows step by step.
    LogStructured,
    /// Maps single pages to any free space; garbage collection comes once per fixed number of bytes.
    PageMapped,
}

impl FtlClass {
    /// The class in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LinearOnly => "linear-only",
            Self::OpenBlock => "open-block",
            Self::HybridLog => "hybrid-log",
            Self::LogStructured => "log-structured",
            Self::PageMapped => "page-mapped",
        }
    }
}

/// The boundaries at which reads take longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boundary {
    /// Those of erase blocks of this size.
    EraseBlock(Bytes),
    /// Those of pages.
    Page,
    /// Several explanations fit: the kind is not known.
    Undecided,
}

/// The extra time of a read across a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadPenalty {
    /// The extra time, beyond that of all smaller boundaries at the same place, seconds.
    pub extra_s: f64,
    /// Where.
    pub boundary: Boundary,
}

/// The value of a finding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A size.
    Bytes(Bytes),
    /// A number of erase blocks.
    Count(u32),
    /// A class; smaller requests than the given size follow another rule ("log-structured above 16 KiB
    /// requests").
    Class {
        /// The class.
        class: FtlClass,
        /// The largest request that takes another path, if one does.
        above: Option<Bytes>,
    },
    /// A time, seconds.
    Seconds(f64),
    /// A speed, bytes per second.
    BytesPerSecond(f64),
    /// Whether reads across boundaries take longer; if they do, by how much and where.
    Shows(Option<ReadPenalty>),
}
