//! Rounds of writes into several erase blocks in turn, and when a round is clean. The measuring search and the inference
//! judge by this same rule.

use std::time::Duration;

use flashscope_device::Bytes;

/// From which latency on a write is taken to contain a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow(pub Duration);

impl Slow {
    /// A merge copies an erase block, a write a few pages: the two are apart by far more than a factor of four. Stalls of
    /// other causes pass for merges too; whether their number depends on the number of blocks tells them apart.
    const FACTOR: u32 = 4;

    /// The threshold that follows from writes that contain no merge: their median, times [`Self::FACTOR`].
    #[must_use]
    pub fn beyond(unmerged: &[Duration]) -> Option<Self> {
        let mut sorted = unmerged.to_vec();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).map(|median| Self(median.saturating_mul(Self::FACTOR)))
    }

    /// The threshold for requests of another size, if time grows with size at most in proportion.
    #[must_use]
    pub fn scaled(self, from: Bytes, to: Bytes) -> Self {
        Self(self.0.mul_f64((to.as_f64() / from.as_f64()).max(1.0)))
    }

    /// What a write without a merge takes.
    #[must_use]
    pub fn unmerged(self) -> Duration {
        self.0 / Self::FACTOR
    }

    /// Whether a write of this latency contains a merge.
    #[must_use]
    pub fn is(self, latency: Duration) -> bool {
        latency > self.0
    }
}

/// Rounds of `open_units` writes each.
#[derive(Debug, Clone)]
pub struct Rounds {
    open_units: usize,
    /// The latency of each write, round after round.
    pub times: Vec<Duration>,
}

impl Rounds {
    /// Two clean rounds one after another decide for "fits": one could be luck of a merge that hides in the noise.
    const CLEAN: usize = 2;
    /// So many merges per unit without two clean rounds decide for "too many". Where the controller evicts a random
    /// block, a block left behind by an earlier trial is displaced with probability 1/K per merge, so that after 7 K
    /// merges the chance that N = K still looks unclean is exp(-7); the search confirms its answer with a second trial.
    pub const MISSES_PER_UNIT: u32 = 7;
    /// So many rounds in which three of four writes pay a merge decide as well: left-behind blocks hardly ever cost so
    /// much behind the second round.
    const HEAVY: usize = 3;
    /// Without a threshold (the very first trial) so many rounds are written.
    pub const FIRST: u32 = 8;
    /// A trial that has not decided by then never will: stalls come now and then, whatever the number of blocks.
    pub const MOST: u32 = 64;

    /// No round yet.
    #[must_use]
    pub const fn new(open_units: u32) -> Self {
        Self::of(open_units, Vec::new())
    }

    /// Rounds that were written before, with these latencies.
    #[must_use]
    pub const fn of(open_units: u32, times: Vec<Duration>) -> Self {
        let open_units = if open_units == 0 { 1 } else { open_units as usize };
        Self { open_units, times }
    }

    /// Completed rounds.
    #[must_use]
    pub const fn completed(&self) -> u32 {
        (self.times.len() / self.open_units) as u32
    }

    /// The number of merges in each round behind the first. (The first opens the blocks, and closes others.)
    fn merges(&self, slow: Slow) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.times
            .chunks_exact(self.open_units)
            .skip(1)
            .map(move |round| round.iter().filter(|time| slow.is(**time)).count())
    }

    /// Whether enough was seen; `slow` is unknown in the very first trial, of one unit in linear order.
    #[must_use]
    pub fn is_decided(&self, slow: Option<Slow>) -> bool {
        match slow {
            None => self.completed() >= Self::FIRST,
            Some(_) => self.fits(slow).is_some(),
        }
    }

    /// Whether the units fit; `None` if that is open.
    #[must_use]
    pub fn fits(&self, slow: Option<Slow>) -> Option<bool> {
        let slow = slow?;
        if self
            .merges(slow)
            .collect::<Vec<_>>()
            .windows(Self::CLEAN)
            .any(|rounds| rounds.iter().all(|n| *n == 0))
        {
            return Some(true);
        }
        let heavy = |merges: &usize| merges * 4 >= self.open_units * 3;
        if self
            .merges(slow)
            .skip(1)
            .collect::<Vec<_>>()
            .windows(Self::HEAVY)
            .any(|rounds| rounds.iter().all(heavy))
        {
            return Some(false);
        }
        let enough = self.open_units.max(2) * Self::MISSES_PER_UNIT as usize;
        (self.merges(slow).sum::<usize>() >= enough).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Slow = Slow(Duration::from_millis(16));

    fn rounds(open_units: u32, millis: &[u64]) -> Rounds {
        Rounds {
            times: millis.iter().copied().map(Duration::from_millis).collect(),
            ..Rounds::new(open_units)
        }
    }

    #[test]
    fn two_clean_rounds_behind_the_first_fit() {
        assert_eq!(rounds(2, &[300, 300, 4, 4, 4, 4]).fits(Some(SLOW)), Some(true));
        assert_eq!(rounds(2, &[4, 4, 4, 4]).fits(Some(SLOW)), None);
        assert_eq!(rounds(2, &[4, 4, 4, 4, 300, 4, 4, 4]).fits(Some(SLOW)), None);
    }

    #[test]
    fn merges_in_every_round_are_too_many() {
        let mut millis = vec![4; 4];
        millis.extend([300, 4, 4, 4].repeat(27));
        assert_eq!(rounds(4, &millis).fits(Some(SLOW)), None);
        millis.extend([300, 4, 4, 4]);
        assert_eq!(rounds(4, &millis).fits(Some(SLOW)), Some(false));
        assert_eq!(rounds(2, &[300; 6]).fits(Some(SLOW)), None);
        assert_eq!(rounds(2, &[300; 10]).fits(Some(SLOW)), Some(false));
    }
}
