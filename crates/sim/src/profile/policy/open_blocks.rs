//! The numbers of open erase blocks.

use flashscope_device::Bytes;
use serde::Deserialize;

use crate::profile::bounds::{ensure, number, size, time};
use crate::profile::{Basis, Curve, Ftl, ProfileError, quantity};

// A controller's memory bounds its open blocks; the most that was seen is "64 and more".
const OPEN_UNITS_MAX: u32 = 1024;

/// Which open unit has to go when another is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Victim {
    /// The one that was not written for the longest time: one unit too many, and every request merges.
    Lru,
    /// Any: with one unit too many, some requests merge and most do not.
    Random,
}

/// A part of the stick where writing an erase block anew has a price of its own: old data moves away first, or a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Where it begins.
    #[serde(deserialize_with = "quantity::bytes")]
    pub start: Bytes,
    /// How long it is.
    #[serde(deserialize_with = "quantity::bytes")]
    pub length: Bytes,
    /// What writing an erase block anew takes there beside its data, us.
    pub open_us: f64,
}

// Each erase block that is begun looks through all of them.
const OPENINGS_MAX: usize = 64;

/// A few erase blocks are open at a time; closing one that is not wholly rewritten costs a merge.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenBlocks {
    /// How these numbers were found.
    pub basis: Basis,
    /// How many erase blocks may be open at a time.
    pub open_units_linear: u32,
    /// How many of them may be open for writes in any order; 0: each write out of order costs a merge.
    pub open_units_random: u32,
    /// Which one has to go.
    pub victim: Victim,
    /// Copying a whole erase block and erasing the old one, us: a number, or points by how much the unit took since it was
    /// opened. A controller that copies only what it holds, or that gathers small writes in a page, takes less for less.
    pub merge_us: Curve,
    /// The same for a unit that was written out of order. Default: `merge_us` times `random_merge_copies`.
    pub random_merge_us: Option<Curve>,
    /// What writing an erase block anew takes beside its data, us, if it is none of the `open_units_linear` that were last
    /// begun.
    #[serde(default)]
    pub open_us: f64,
    /// Where that differs: it is paid each time there.
    #[serde(default)]
    pub opening: Vec<Opening>,
    /// How many such copies closing a unit costs that was written out of order.
    #[serde(default = "quantity::one")]
    pub random_merge_copies: f64,
    /// Whether a run from a unit's start that is broken off is completed from the old block at once. If not, it goes to the
    /// unit's log like every other.
    #[serde(default = "quantity::yes")]
    pub completes_broken_runs: bool,
    /// How much of out-of-order data a unit's log takes before it must be merged; default: an erase block.
    #[serde(default, deserialize_with = "quantity::optional_bytes")]
    pub random_log: Option<Bytes>,
}

impl OpenBlocks {
    pub(super) fn check(&self, ftl: &Ftl) -> Result<(), ProfileError> {
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

    fn check_openings(&self, ftl: &Ftl) -> Result<(), ProfileError> {
        let count = self.opening.len();
        ensure(
            count <= OPENINGS_MAX,
            "policy.open_blocks.opening",
            count,
            format!("at most {OPENINGS_MAX}"),
        )?;
        let whole = |size: Bytes| size.is_multiple_of(ftl.erase_block);
        let allowed = || format!("a multiple of erase_block ({})", ftl.erase_block);
        self.opening.iter().try_for_each(|opening| {
            let Opening { start, length, open_us } = *opening;
            ensure(whole(start), "policy.open_blocks.opening.start", start, allowed())?;
            let some = whole(length) && !length.is_zero();
            ensure(some, "policy.open_blocks.opening.length", length, allowed())?;
            time("policy.open_blocks.opening.open_us", open_us)
        })
    }
}
