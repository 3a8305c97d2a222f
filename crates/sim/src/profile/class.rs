//! The class of a flash translation layer.

/// The class of a flash translation layer, as a host can tell it from write times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Every non-sequential write costs a merge.
    LinearOnly,
    /// One erase block beyond the open slots costs a merge for every request.
    OpenBlock,
    /// Beyond the open slots the cost grows gradually.
    LogStructured,
    /// Log blocks take all writes and are merged with the data blocks.
    HybridLog,
    /// Every page is mapped on its own: cost depends on how full the stick is, not on order or offset.
    PageMapped,
}
