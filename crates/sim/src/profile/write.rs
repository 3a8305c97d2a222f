//! Parameters of writes that copy nothing. Times are in microseconds.

use flashscope_device::{Bytes, SECTOR};
use serde::{Deserialize, Serialize};

use super::bounds::{ensure, size, time};
use super::{Basis, Curve, ProfileError, quantity};

/// The latency of a write that copies nothing. Data transfer and programming overlap: the longer one counts.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WritePath {
    /// How these numbers were found.
    pub basis: Basis,
    /// Controller overhead per command, us.
    pub overhead_us: Option<f64>,
    /// Time to program a page that the command covers wholly, us.
    pub page_program_us: Option<f64>,
    /// Time to program a page that the command covers partly, us: a read-modify-write.
    pub partial_page_us: Option<f64>,
    /// Measured times by command size, instead of the three numbers above.
    pub curve: Option<WriteCurve>,
}

/// The time of a write command by its size, data transfer included, without copying. A command that both
/// switches and jumps takes the longer of the two times.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCurve {
    /// A sequential command, us. Extrapolated linearly beyond the largest size.
    pub append_us: Curve,
    /// A command that continues in another erase block than the last one, us. Default: `append_us`.
    pub switch_us: Option<Curve>,
    /// A random command inside an erase block, us. Default: `append_us`.
    pub jump_us: Option<Curve>,
}

/// A separate path for small non-sequential commands.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SmallWrites {
    /// How these numbers were found.
    pub basis: Basis,
    /// The largest command on this path.
    #[serde(with = "quantity")]
    pub up_to: Bytes,
    /// Time of a command without its data, us.
    pub write_us: f64,
    /// Extra time per KiB beside the link transfer, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
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
            (None, None) => ensure(false, key, "nothing", "a time in us, or a [write.curve] instead"),
            (Some(us), Some(_)) => ensure(false, key, us, "absent, as there is a [write.curve]"),
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
