//! The title of a finding, and the words for how sure it is.

use flashscope_record::finding::{Confidence, FindingId};

/// The title of a finding.
#[must_use]
pub const fn finding_title(id: FindingId) -> &'static str {
    match id {
        FindingId::EraseBlockBytes => "erase block",
        FindingId::PageBytes => "effective page",
        FindingId::WriteUnitBytes => "write unit",
        FindingId::OpenUnitsLinear => "open units, linear",
        FindingId::OpenUnitsRandom => "open units, random",
        FindingId::FatAreaBytes => "FAT area",
        FindingId::FtlClass => "flash translation layer",
        FindingId::MergeSeconds => "merge",
        FindingId::ReadBoundarySignal => "boundaries in reads",
        FindingId::SlcCacheBytes => "SLC cache",
        FindingId::SustainedWriteBytesPerS => "sustained writing",
        FindingId::WriteBufferBytes => "write buffer",
    }
}

/// The words for a confidence, surest first.
pub const LEVELS: [&str; 4] = ["very sure", "sure", "fairly sure", "likely"];

/// How sure: `very sure` from 0.99, `sure` from 0.95, `fairly sure` from 0.8, `likely` below.
#[must_use]
pub const fn confidence(confidence: Confidence) -> &'static str {
    match confidence.get() {
        p if p >= 0.99 => LEVELS[0],
        p if p >= 0.95 => LEVELS[1],
        p if p >= 0.8 => LEVELS[2],
        _ => LEVELS[3],
    }
}
