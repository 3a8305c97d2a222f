//! The inputs of every rule.

use flashscope_device::Bytes;
use flashscope_record::attachment::{Attachment, Link};
use flashscope_record::finding::{Finding, FindingId, Outcome, Reason};
use flashscope_record::observation::{Data, Observations};

use crate::diagnosis::size_sweep::SizeSweep;

/// The inputs of every rule: the observations, the findings, and how the device is attached.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    pub observations: &'a [Observations],
    pub findings: &'a [Finding],
    pub attachment: &'a Attachment,
    pub sweep: &'a SizeSweep,
}

impl<'a> Inputs<'a> {
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }

    /// The effective page size, if it is known.
    pub fn page(&self) -> Option<Bytes> {
        self.finding(FindingId::PageBytes).and_then(Finding::bytes).filter(|page| !page.is_zero())
    }

    /// The size of the write buffer; 0 if none was found. A fast start that a buffer explains counts as one:
    /// it is too short to matter to an everyday copy, whatever it is.
    pub fn write_buffer(&self) -> Bytes {
        let found = self.finding(FindingId::WriteBufferBytes).and_then(Finding::bytes);
        found.or_else(|| self.short_fast_start()).unwrap_or_default()
    }

    /// The fast start of the long stream, if it may be a write buffer that was not found.
    pub fn short_fast_start(&self) -> Option<Bytes> {
        match &self.finding(FindingId::SlcCacheBytes)?.outcome {
            Outcome::Unknown { reason, .. } => match reason.apart_from_early_end() {
                Reason::MayBeMemory { fast, buffer: None, .. } => Some(*fast),
                _ => None,
            },
            Outcome::Found { .. } => None,
        }
    }

    /// The largest command of the host, if it is known. Larger requests are split.
    pub fn command_max(&self) -> Option<Bytes> {
        self.attachment.request_max.filter(|command_max| !command_max.is_zero())
    }

    /// The link, if it is known and its numbers are possible.
    pub fn link(&self) -> Option<&'a Link> {
        self.attachment.link.as_ref().filter(|link| link.is_valid())
    }
}

/// The last data of one experiment.
pub fn last_data<'a, T>(
    observations: &'a [Observations],
    of: impl Fn(&'a Data) -> Option<&'a T>,
) -> Option<&'a T> {
    observations.iter().rev().find_map(|each| of(&each.data))
}
