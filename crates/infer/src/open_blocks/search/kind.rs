//! Kinds of translation layers, as the search for open units separates them.

use flashscope_device::Bytes;

/// The kind of translation layer by the tests beside the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerKind {
    /// Erase blocks that are open or closed.
    Blocks,
    /// A log that maps less than an erase block at once.
    Log,
    /// One sequential run; other writes go to logs.
    OneRun,
    /// Pages go to any free space; garbage collection comes once per fixed number of bytes.
    Collected(Collection),
}

impl LayerKind {
    /// Whether it is a log: random writes cost more there, into any number of blocks.
    pub const fn is_log(self) -> bool {
        matches!(self, Self::Log)
    }
}

/// Garbage collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Collection {
    /// Bytes written from one to the next.
    pub every: Bytes,
    /// How long one takes, seconds.
    pub seconds: f64,
}
