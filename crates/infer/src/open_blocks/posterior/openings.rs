//! Whether openings of units are slow while slots are left.

use flashscope_record::observation::Order;

/// The share of openings that differ from the one before, while slots are left: the blocks that were open
/// before are still being evicted, or none is left to evict. Guess.
const DIFFERENT: f64 = 0.15;
/// In random order the share is learned, and [`DIFFERENT`] counts as this many openings. In sequential order
/// it is not: blocks that were open before hold slots, so that any opening may differ. Guess.
const DIFFERENT_OPENINGS: f64 = 2.0;

/// The number of openings, and how many of them differed from the one before in being slow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Openings {
    last_was_slow: Option<bool>,
    compared: u32,
    different: u32,
}

impl Openings {
    pub(super) fn take(&mut self, slow: bool) {
        if let Some(last) = self.last_was_slow.replace(slow) {
            self.compared += 1;
            self.different += u32::from(last != slow);
        }
    }

    /// The probability that the next opening is slow: mostly it is like the one before.
    pub(super) fn next_slow(self, order: Order) -> f64 {
        let different = match order {
            Order::Linear => DIFFERENT,
            Order::Random => {
                (DIFFERENT * DIFFERENT_OPENINGS + f64::from(self.different))
                    / (DIFFERENT_OPENINGS + f64::from(self.compared))
            }
        };
        self.last_was_slow.map_or(0.5, |slow| if slow { 1.0 - different } else { different })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_openings_make_an_equal_next_one_more_probable_in_random_order() {
        let mut openings = Openings::default();
        assert!((openings.next_slow(Order::Random) - 0.5).abs() < 1e-9);
        openings.take(true);
        assert!((openings.next_slow(Order::Random) - 0.85).abs() < 1e-9);
        (0..40).for_each(|_| openings.take(true));
        assert!(openings.next_slow(Order::Random) > 0.99);
        assert!((openings.next_slow(Order::Linear) - 0.85).abs() < 1e-9, "others hold slots there");
        openings.take(false);
        assert!(openings.next_slow(Order::Random) < 0.05);
    }
}
