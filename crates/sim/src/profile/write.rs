//! The numbers of writes that copy nothing. Times are in microseconds.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{size, time};
use super::{Basis, ProfileError, quantity};

/// How a write takes its time when nothing has to be copied. Data and programming overlap: the longer counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePath {
    /// How these numbers were found.
    pub basis: Basis,
    /// What the controller needs per command, us.
    pub overhead_us: f64,
    /// Programming a page that the command covers wholly, us.
    pub page_program_us: f64,
    /// Programming a page of which the command brings only a part, us: the rest is read first.
    pub partial_page_us: f64,
}

/// Small commands that do not continue the previous one go to a log of their own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallWrites {
    /// How these numbers were found.
    pub basis: Basis,
    /// The largest command that goes there.
    #[serde(deserialize_with = "quantity::bytes")]
    pub up_to: Bytes,
    /// What one takes apart from its data, us.
    pub write_us: f64,
    /// What each KiB of it takes beside the link, us.
    #[serde(default)]
    pub per_kib_us: f64,
}

impl WritePath {
    pub(super) fn check(&self) -> Result<(), ProfileError> {
        time("write.overhead_us", self.overhead_us)?;
        time("write.page_program_us", self.page_program_us)?;
        time("write.partial_page_us", self.partial_page_us)
    }
}

impl SmallWrites {
    pub(super) fn check(&self, erase_block: Bytes) -> Result<(), ProfileError> {
        size("small_writes.up_to", self.up_to, SECTOR, erase_block)?;
        time("small_writes.write_us", self.write_us)?;
        time("small_writes.per_kib_us", self.per_kib_us)
    }
}
