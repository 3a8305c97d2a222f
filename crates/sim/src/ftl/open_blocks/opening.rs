//! What it costs to write an erase block anew: nothing for the few that were begun last, and in some places always something.

use crate::link::nanoseconds;
use crate::profile;

/// The price, and which erase blocks were begun last.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    open_ns: u64,
    kept_max: usize,
    places: Vec<Place>,
    /// The units that were begun last, the latest at the end; kept only where others have a price.
    begun: Vec<u64>,
}

/// Units from `first` to before `end`.
#[derive(Debug, Clone, Copy)]
struct Place {
    first: u64,
    end: u64,
    open_ns: u64,
}

impl Opening {
    pub(super) fn new(ftl: &profile::Ftl, policy: &profile::OpenBlocks) -> Self {
        let place = |opening: &profile::Opening| Place {
            first: opening.start / ftl.erase_block,
            end: (opening.start / ftl.erase_block).saturating_add(opening.length / ftl.erase_block),
            open_ns: nanoseconds(opening.open_us),
        };
        Self {
            open_ns: nanoseconds(policy.open_us),
            kept_max: policy.open_units_linear as usize,
            places: policy.opening.iter().map(place).collect(),
            begun: Vec::new(),
        }
    }

    /// A unit is written from its start.
    pub(super) fn begin_ns(&mut self, unit: u64) -> u64 {
        if let Some(place) = self.places.iter().find(|place| (place.first..place.end).contains(&unit)) {
            return place.open_ns;
        }
        if self.open_ns == 0 {
            return 0;
        }
        let known = self.begun.iter().position(|begun| *begun == unit);
        if known.is_some() || self.begun.len() == self.kept_max {
            self.begun.remove(known.unwrap_or(0));
        }
        self.begun.push(unit);
        if known.is_some() { 0 } else { self.open_ns }
    }
}
