//! Parameters of open erase blocks.

use flashscope_device::Bytes;
use serde::{Deserialize, Serialize};

use super::section::{OpenUnits, PolicySection};
use crate::profile::bounds::{ensure, number, size, time};
use crate::profile::{Basis, Class, Curve, Ftl, ProfileError, quantity};

// The controller's memory limits the open blocks. The most reported is "64 and more"; this is 16 times that.
const OPEN_UNITS_MAX: u32 = 1024;

/// Which open erase block is evicted when another one needs its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Victim {
    /// The least recently written one: with one erase block too many in round-robin order, every request
    /// merges.
    Lru,
    /// A random one: with one erase block too many, only part of the requests merge.
    Random,
    /// The one that was opened first, however recently it was written.
    Fifo,
    /// The one that was opened first. A block written since it was opened or spared is spared once more.
    Clock,
}

/// A range of the stick where opening an erase block has a cost of its own.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningCost {
    /// The first byte of the range.
    #[serde(with = "quantity")]
    pub start: Bytes,
    /// The length of the range.
    #[serde(with = "quantity")]
    pub length: Bytes,
    /// Extra time to open an erase block there, us.
    pub open_us: f64,
}

// Opening an erase block searches all ranges.
const OPENINGS_MAX: usize = 64;

/// A limited number of erase blocks is open at a time; closing one that is not wholly rewritten costs a
/// merge.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBlocks {
    /// How these numbers were found.
    pub basis: Basis,
    /// The number of erase blocks that can be open at a time.
    pub open_units_linear: u32,
    /// How many of them can be open for random writes; 0: each random write costs a merge.
    pub open_units_random: u32,
    /// Which open erase block is evicted.
    pub victim: Victim,
    /// Time of a merge, us: a constant, or points by the bytes written to the unit since it was opened.
    pub merge_us: Curve,
    /// The same for a unit with random writes. Default: `merge_us` times `random_merge_copies`.
    pub random_merge_us: Option<Curve>,
    /// Extra time to open an erase block that is not among the last `open_units_linear` opened, us.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub open_us: f64,
    /// Ranges where opening an erase block has another cost, which applies every time.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub opening: Vec<OpeningCost>,
    /// The number of erase-block copies to close a unit with random writes.
    #[serde(default = "quantity::one", skip_serializing_if = "quantity::is_one")]
    pub random_merge_copies: f64,
    /// Whether a broken sequential run is completed from the old block at once. If not, the run goes to the
    /// unit's log.
    #[serde(default = "quantity::yes")]
    pub completes_broken_runs: bool,
    /// Whether a write beyond the end of a sequential run continues it: the skipped part is copied from the
    /// old block. Only for units without random mode.
    #[serde(default, skip_serializing_if = "quantity::is_default")]
    pub fills_gaps: bool,
    /// The random data that a unit's log holds before it must be merged; default: one erase block.
    #[serde(default, with = "quantity::optional")]
    pub random_log: Option<Bytes>,
}

impl PolicySection for OpenBlocks {
    fn key(&self) -> &'static str {
        "policy.open_blocks"
    }

    fn basis(&self) -> Basis {
        self.basis
    }

    fn check(&self, ftl: &Ftl, _capacity: Bytes) -> Result<(), ProfileError> {
        let (linear, random) = (self.open_units_linear, self.open_units_random);
        let units = 1..=OPEN_UNITS_MAX;
        ensure(
            units.contains(&linear),
            "policy.open_blocks.open_units_linear",
            linear,
            format!("1 to {OPEN_UNITS_MAX}"),
        )?;
        let allowed = format!("0 to open_units_linear ({linear})");
        ensure(random <= linear, "policy.open_blocks.open_units_random", random, allowed)?;
        let fills = self.fills_gaps;
        let is_possible = !fills || random == 0;
        ensure(
            is_possible,
            "policy.open_blocks.fills_gaps",
            fills,
            "false if open_units_random is not 0".to_owned(),
        )?;
        number("policy.open_blocks.random_merge_copies", self.random_merge_copies, 0.0, 10.0)?;
        self.merge_us.check("policy.open_blocks.merge_us")?;
        self.random_merge_us
            .as_ref()
            .map_or(Ok(()), |curve| curve.check("policy.open_blocks.random_merge_us"))?;
        time("policy.open_blocks.open_us", self.open_us)?;
        self.check_openings(ftl)?;
        self.random_log
            .map_or(Ok(()), |log| size("policy.open_blocks.random_log", log, ftl.page, ftl.erase_block * 64))
    }

    fn open_units(&self, _ftl: &Ftl) -> OpenUnits {
        OpenUnits { linear: Some(self.open_units_linear), random: Some(self.open_units_random) }
    }

    fn class(&self) -> Class {
        match (self.open_units_random, self.victim) {
            (0, _) => Class::LinearOnly,
            (_, Victim::Lru | Victim::Fifo | Victim::Clock) => Class::OpenBlock,
            (_, Victim::Random) => Class::LogStructured,
        }
    }

    fn allows_small_write_path(&self) -> bool {
        true
    }
}

impl OpenBlocks {
    fn check_openings(&self, ftl: &Ftl) -> Result<(), ProfileError> {
        let count = self.opening.len();
        ensure(
            count <= OPENINGS_MAX,
            "policy.open_blocks.opening",
            count,
            format!("at most {OPENINGS_MAX}"),
        )?;
        let is_whole = |size: Bytes| size.is_multiple_of(ftl.erase_block);
        let allowed = || format!("a multiple of erase_block ({})", ftl.erase_block);
        self.opening.iter().try_for_each(|opening| {
            let OpeningCost { start, length, open_us } = *opening;
            ensure(is_whole(start), "policy.open_blocks.opening.start", start, allowed())?;
            let is_good = is_whole(length) && !length.is_zero();
            ensure(is_good, "policy.open_blocks.opening.length", length, allowed())?;
            time("policy.open_blocks.opening.open_us", open_us)
        })
    }
}
