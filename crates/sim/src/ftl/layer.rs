//! The contract of a translation layer: what the controller asks of every policy.

use std::fmt::Debug;

use super::inconsistency::Inconsistency;

/// A flash translation layer of one policy. Bytes are counted from the start of the stick, times are in
/// nanoseconds.
///
/// The defaults suit a layer that keeps no account of single pages and does no work of its own.
pub(crate) trait TranslationLayer: CloneLayer + Debug + Send + Sync {
    /// Writes the bytes from `start` to `end`.
    fn write(&mut self, start: u64, end: u64) -> Placement;

    /// The counters since the start.
    fn counts(&self) -> Counts;

    /// Small writes took another path: the data that they replace need never be merged.
    fn supersede(&mut self, _start: u64, _end: u64) {}

    /// Discards the bytes from `start` to `end`: pages wholly inside need not be copied any more.
    fn discard(&mut self, _start: u64, _end: u64) {}

    /// Programs the page in the buffer, so that the next write cannot continue in it. Returns the time of
    /// copies.
    fn flush(&mut self) -> u64 {
        0
    }

    /// Collects garbage for at most `ns` and returns the time that it took. The last block may exceed `ns`: a
    /// request that arrives then waits for its end.
    fn idle(&mut self, _ns: u64) -> u64 {
        0
    }

    /// Whether the layer holds data for the byte at `offset`; `None` if it keeps no account of single pages.
    fn holds(&self, _offset: u64) -> Option<bool> {
        None
    }

    /// Checks every invariant. Walks over the whole map.
    fn audit(&self) -> Result<(), Inconsistency>;
}

/// Clones a layer behind its trait object.
pub(crate) trait CloneLayer {
    fn clone_layer(&self) -> Box<dyn TranslationLayer>;
}

impl<L: TranslationLayer + Clone + 'static> CloneLayer for L {
    fn clone_layer(&self) -> Box<dyn TranslationLayer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn TranslationLayer> {
    fn clone(&self) -> Self {
        (**self).clone_layer()
    }
}

/// Counters of work inside the flash.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) merges: u64,
    pub(crate) erases: u64,
    pub(crate) pages_copied: u64,
}

/// Where a write went relative to the writes before it, and its copying time.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The last write went to another erase block.
    pub(crate) switched: bool,
    /// The write neither continues the last one in its erase block nor begins at the block's start.
    pub(crate) jumped: bool,
    /// The time of copies and erases for this write.
    pub(crate) copying_ns: u64,
}
