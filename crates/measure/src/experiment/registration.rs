//! What an experiment says of itself, for the table of all experiments.

use flashscope_device::Bytes;

use flashscope_record::finding::FindingId;
use flashscope_record::observation::Merges;

use crate::contract::Experiment;

/// The entry of an experiment in the table of all experiments.
#[derive(Debug)]
pub struct Registration {
    /// Its name on the command line, e.g. `open-units`.
    pub name: &'static str,
    /// What it measures, in a few words.
    pub question: &'static str,
    /// What the device must permit.
    pub access: Access,
    /// The options that have an effect on it.
    pub options: &'static [RequestOption],
    /// The findings that it is run for.
    pub findings: &'static [FindingId],
    /// Makes the experiment.
    pub new: fn(&Request) -> Box<dyn Experiment>,
}

impl Registration {
    /// Whether an option has an effect.
    #[must_use]
    pub fn has_option(&self, option: RequestOption) -> bool {
        self.options.contains(&option)
    }
}

/// What an experiment does to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads.
    Reads,
    /// It writes, within the default budget.
    Writes,
    /// It writes as much as it estimates: gigabytes.
    WritesEstimate,
}

/// What may be chosen for an experiment, beside the random seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOption {
    /// [`Request::erase_block`].
    EraseBlock,
    /// [`Request::request`].
    RequestSize,
    /// [`Request::units_max`].
    UnitsMax,
}

/// What is chosen for an experiment, or known before.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Request {
    /// The random seed.
    pub seed: u64,
    /// The erase block, if known.
    pub erase_block: Option<Bytes>,
    /// The size of each request, if chosen.
    pub request: Option<Bytes>,
    /// The number of erase blocks at which a search ends, if chosen.
    pub units_max: Option<u32>,
    /// The merges, if known.
    pub merges: Option<Merges>,
}

impl Request {
    /// The erase block, or the one that is assumed without it.
    #[must_use]
    pub fn erase_block_or_assumed(&self) -> Bytes {
        self.erase_block.unwrap_or(ASSUMED_ERASE_BLOCK)
    }
}

/// The erase block that writing experiments assume if reads do not show it: 4 MiB, that of most cards since
/// 2010 (A. Bergmann, flashbench; docs/methods/align.md).
pub const ASSUMED_ERASE_BLOCK: Bytes = Bytes::mib(4);
