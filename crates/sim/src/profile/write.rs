//! The numbers of writes that copy nothing. Times are in microseconds.

use flashscope_device::{Bytes, SECTOR};
use serde::Deserialize;

use super::bounds::{ensure, size, time};
use super::{Basis, Curve, ProfileError, quantity};

/// How a write takes its time when nothing has to be copied. Data and programming overlap: the longer counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePath {
    /// How these numbers were found.
    pub basis: Basis,
    /// What the controller needs per command, us.
    pub overhead_us: Option<f64>,
    /// Programming a page that the command covers wholly, us.
    pub page_program_us: Option<f64>,
    /// Programming a page of which the command brings only a part, us: the rest is read first.
    pub partial_page_us: Option<f64>,
    /// The time of a command by its size as it was measured, in place of the three numbers above.
    pub curve: Option<WriteCurve>,
}

/// The time of a write command by its size, its data's way included, where nothing has to be copied. A command that both
/// switches and jumps takes the longer of the two times.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCurve {
    /// Going on where the last command ended, us; beyond the largest size as the last line leads.
    pub append_us: Curve,
    /// Going on in an erase block after a write to another one, us. Default: as `append_us`.
    pub switch_us: Option<Curve>,
    /// Out of order inside an erase block, us. Default: as `append_us`.
    pub jump_us: Option<Curve>,
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
        let pages = [
            ("write.overhead_us", self.overhead_us),
            ("write.page_program_us", self.page_program_us),
            ("write.partial_page_us", self.partial_page_us),
        ];
        pages.into_iter().try_for_each(|(key, us)| match (us, &self.curve) {
            (Some(us), None) => time(key, us),
            (None, None) => ensure(false, key, "nothing", "a time in us, or a [write.curve] in its place"),
            (Some(us), Some(_)) => ensure(false, key, us, "left out where there is a [write.curve]"),
            (None, Some(_)) => Ok(()),
        })?;
        self.curve.as_ref().map_or(Ok(()), WriteCurve::check)
    }
}

impl WriteCurve {
    fn check(&self) -> Result<(), ProfileError> {
        self.append_us.check("write.curve.append_us")?;
        self.switch_us.as_ref().map_or(Ok(()), |curve| curve.check("write.curve.switch_us"))?;
        self.jump_us.as_ref().map_or(Ok(()), |curve| curve.check("write.curve.jump_us"))
    }
}

impl SmallWrites {
    pub(super) fn check(&self, erase_block: Bytes) -> Result<(), ProfileError> {
        size("small_writes.up_to", self.up_to, SECTOR, erase_block)?;
        time("small_writes.write_us", self.write_us)?;
        time("small_writes.per_kib_us", self.per_kib_us)
    }
}
