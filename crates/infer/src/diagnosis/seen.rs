//! What a rule of the diagnosis sees.

use flashscope_device::Bytes;
use flashscope_record::attachment::Attachment;
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::observation::{Data, Observations};

use crate::diagnosis::size_sweep::Ladder;

/// What was seen, concluded from it, and known of how the device is plugged in.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub observations: &'a [Observations],
    pub findings: &'a [Finding],
    pub attachment: &'a Attachment,
    pub ladder: &'a Ladder,
}

impl Seen<'_> {
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// The effective page, if it is known.
    pub fn page(&self) -> Option<Bytes> {
        self.finding(FindingId::PageBytes).and_then(Finding::bytes).filter(|page| !page.is_zero())
    }

    /// What the controller takes into memory; nothing where none was found.
    pub fn buffer(&self) -> Bytes {
        self.finding(FindingId::WriteBufferBytes).and_then(Finding::bytes).unwrap_or_default()
    }

    /// Where the host cuts requests, if it does and that is known.
    pub fn cut(&self) -> Option<Bytes> {
        self.attachment.request_max.filter(|cut| !cut.is_zero())
    }
}

/// The last data of one kind.
pub fn last<'a, T>(
    observations: &'a [Observations],
    of: impl Fn(&'a Data) -> Option<&'a T>,
) -> Option<&'a T> {
    observations.iter().rev().find_map(|seen| of(&seen.data))
}
