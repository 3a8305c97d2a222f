//! Data that was read back after it was written.

use std::iter::Sum;
use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{Checked, permit};

/// Written offsets, read back at the end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// The number of offsets that were read.
    pub places: u32,
    /// The number of offsets with other data than this run wrote.
    pub lost: u32,
}

impl ReadBack {
    /// Whether nothing was read back.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.places == 0
    }

    /// More offsets are not lost than were read.
    pub(crate) fn check(self) -> Checked {
        permit(self.lost <= self.places, "lost", self.lost, "no more places are lost than were read back")
    }
}

impl Add for ReadBack {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { places: self.places.saturating_add(other.places), lost: self.lost.saturating_add(other.lost) }
    }
}

impl Sum for ReadBack {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::add)
    }
}
