//! One number of places under one law, and how well it explains each write.

use crate::open_blocks::laws::{Places, Second, Touch, UNFORESEEN};

/// What blurs the picture: how often a write is slow without a merge, from a quiet stick to one that stalls at every third
/// write; how many merges do not show at least; and how plausible that is before anything was seen. A merge hides where it
/// was done before, behind the transfer, or, in a log that maps several pages at once, where a run stops at the end of them.
pub(super) const BLURS: [Blur; 11] = [
    Blur { stalls: 0.0005, hidden: 0.01, plausible: 0.3 },
    Blur { stalls: 0.002, hidden: 0.01, plausible: 0.27 },
    Blur { stalls: 0.01, hidden: 0.01, plausible: 0.18 },
    Blur { stalls: 0.04, hidden: 0.01, plausible: 0.09 },
    Blur { stalls: 0.12, hidden: 0.01, plausible: 0.04 },
    Blur { stalls: 0.2, hidden: 0.01, plausible: 0.03 },
    Blur { stalls: 0.35, hidden: 0.01, plausible: 0.02 },
    Blur { stalls: 0.5, hidden: 0.01, plausible: 0.01 },
    Blur { stalls: 0.0005, hidden: 0.4, plausible: 0.06 },
    Blur { stalls: 0.01, hidden: 0.4, plausible: 0.03 },
    Blur { stalls: 0.12, hidden: 0.4, plausible: 0.01 },
];

/// One way in which the picture is blurred.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blur {
    pub(super) stalls: f64,
    hidden: f64,
    pub(super) plausible: f64,
}

impl Blur {
    /// Whether many merges do not show.
    pub(super) fn hides(self) -> bool {
        self.hidden > HIDES
    }
}

/// A logarithm for each write would take longer than all else: after so many writes one is taken of what they multiplied.
pub(super) const GATHERED: usize = 8;

/// Of so many merges one or two hide in any case.
const HIDES: f64 = 0.1;

/// One number of places under one law, with the logarithm of its weight for each blur.
#[derive(Debug, Clone)]
pub(super) struct Hypothesis {
    pub(super) places: Places,
    weights: [f64; BLURS.len()],
    /// What the writes since they were gathered last make of these weights.
    factors: [f64; BLURS.len()],
}

impl Hypothesis {
    /// These places, with this weight before the first write, and where many merges do not show so many times that.
    pub(super) fn new(places: Places, weight: f64, hides: f64) -> Self {
        let of_blur = |blur: Blur| weight * blur.plausible * if blur.hides() { hides } else { 1.0 };
        Self { places, weights: BLURS.map(|blur| of_blur(blur).ln()), factors: [1.0; BLURS.len()] }
    }

    /// The logarithm of its weight for each blur.
    pub(super) fn weights(&self) -> [f64; BLURS.len()] {
        std::array::from_fn(|blur| self.weights[blur] + self.factors[blur].ln())
    }

    /// The largest of its weights. To be asked after [`GATHERED`] writes at the latest, before a product of so many becomes too small.
    pub(super) fn gather(&mut self) -> f64 {
        self.weights = self.weights();
        self.factors = [1.0; BLURS.len()];
        self.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Multiplies each of its weights.
    pub(super) fn multiply(&mut self, factor: f64) {
        self.factors.iter_mut().for_each(|each| *each *= factor);
    }

    /// The quicker one of two writes into a unit holds no merge, if a unit can be open at all.
    pub(super) fn weigh_quicker(&mut self, slow: f64, hidden: f64) {
        let merges = match self.places.second() {
            _ if self.places.count() == 0 => 1.0,
            // Both may have to make room, now and then.
            Second::PaysIfFull(_) => UNFORESEEN,
            _ => 0.0,
        };
        self.weigh_by(merges, slow, hidden);
    }

    /// Takes a write into account that is slow with this probability, where merges hide with this one at least.
    pub(super) fn weigh(&mut self, touch: Touch, slow: f64, hidden: f64) {
        self.places.expect(touch);
        match touch.halves {
            Some(halves) if touch.before == 0 => self.weigh_opening(touch, slow, halves, hidden),
            Some((_, second)) => self.weigh_half(self.places.chance(touch), slow, second, hidden),
            None => self.weigh_by(self.places.chance(touch), slow, hidden),
        }
        self.places.take(touch, slow);
    }

    /// Two writes into a unit that was opened before: a merge goes with either of them like those that opened units, a stall with any.
    fn weigh_half(&mut self, merges: f64, slow: f64, second: f64, hidden: f64) {
        let goes_so = match self.places.second() {
            Second::PaysNothing => 1.0 - second * (1.0 - UNFORESEEN),
            Second::PaysIfFull(full) => full * second + (1.0 - full) * (1.0 - second),
            Second::OrTheFirst => 0.5,
        };
        self.weigh_with(merges, (slow * goes_so, slow / 2.0), 1.0 - slow, hidden);
    }

    /// The first two writes into a unit.
    fn weigh_opening(&mut self, touch: Touch, slow: f64, (first, second): (f64, f64), hidden: f64) {
        let factor = match self.places.second() {
            Second::PaysNothing => {
                self.weigh_by(self.places.chance(touch), first, hidden);
                1.0 - second * (1.0 - UNFORESEEN)
            }
            Second::PaysIfFull(full) => {
                self.weigh_by(full, second, hidden);
                touch.first_opens_slowly * first + (1.0 - touch.first_opens_slowly) * (1.0 - first)
            }
            Second::OrTheFirst => {
                self.weigh_by(self.places.chance(touch), slow, hidden);
                1.0 - slow / 2.0
            }
        };
        self.multiply(factor);
    }

    fn weigh_by(&mut self, merges: f64, slow: f64, hidden: f64) {
        self.weigh_with(merges, (slow, slow), 1.0 - slow, hidden);
    }

    /// How likely it is slow by a merge, and by a stall, and that it is not.
    fn weigh_with(&mut self, merges: f64, (merge, stall): (f64, f64), quick: f64, hidden: f64) {
        for (factor, blur) in self.factors.iter_mut().zip(BLURS) {
            let hidden = hidden.max(blur.hidden);
            let with_merge = (1.0 - hidden) * merge + hidden * quick;
            let without = blur.stalls * stall + (1.0 - blur.stalls) * quick;
            *factor *= merges * with_merge + (1.0 - merges) * without;
        }
    }
}
