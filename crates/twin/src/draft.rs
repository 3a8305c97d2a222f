//! The numbers of writes while they are being fitted, and what they predict without a simulation.

use flashscope_record::observation::Order;

use crate::measured::Key;

/// flashbench --open-au writes its first unit here, and the others 12 erase blocks apart.
const FIRST_UNIT_BYTES: u64 = 16 << 20;
const STRIDE: u64 = 12;

/// The logarithm of four: stalls that a log shows now and then are no longer.
const FAR: f64 = 1.386;

/// Points of size and seconds, in order of size.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Line(pub(crate) Vec<(u64, f64)>);

impl Line {
    /// Between the points on straight lines; beyond the last on the last line, or in proportion to a single one.
    pub(crate) fn rising(&self, bytes: u64) -> f64 {
        match self.0.as_slice() {
            [] => 0.0,
            [only] => only.1 * ratio(bytes.max(only.0), only.0),
            points => self.between(points, bytes).max(0.0),
        }
    }

    /// The same, but beyond the last point its time stays.
    pub(crate) fn level(&self, bytes: u64) -> f64 {
        match self.0.as_slice() {
            [] => 0.0,
            points if bytes >= points[points.len() - 1].0 => points[points.len() - 1].1,
            points => self.between(points, bytes),
        }
    }

    #[expect(clippy::unused_self, reason = "one place for the rule below the first point")]
    fn between(&self, points: &[(u64, f64)], bytes: u64) -> f64 {
        if bytes <= points[0].0 {
            return points[0].1;
        }
        let above = points.partition_point(|point| point.0 < bytes).min(points.len() - 1);
        let (low, high) = (points[above - 1], points[above]);
        let slope = (high.1 - low.1) / bytes_f64(high.0 - low.0);
        low.1 + slope * (bytes_f64(bytes) - bytes_f64(low.0))
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
pub(crate) const fn bytes_f64(bytes: u64) -> f64 {
    bytes as f64
}

fn ratio(part: u64, whole: u64) -> f64 {
    bytes_f64(part) / bytes_f64(whole)
}

/// Small writes on a path of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Small {
    pub(crate) up_to: u64,
    pub(crate) write_s: f64,
    pub(crate) per_byte_s: f64,
}

/// Units from `first` to before `end`: what writing one anew takes there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) open_s: f64,
}

/// Units from `first` to before `end`: the factor on what writes take there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slow {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) factor: f64,
}

/// The numbers of writes; times in seconds.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Draft {
    pub(crate) erase_block: u64,
    pub(crate) open_linear: u32,
    pub(crate) open_random: u32,
    /// Any unit may have to go, not just the one that waited longest.
    pub(crate) random_victim: bool,
    pub(crate) small: Option<Small>,
    pub(crate) append: Line,
    pub(crate) switch: Line,
    pub(crate) jump: Line,
    pub(crate) merge: Line,
    pub(crate) random_merge: Line,
    pub(crate) open_s: f64,
    pub(crate) places: Vec<Place>,
    pub(crate) slow: Vec<Slow>,
    /// How many of the numbers are assumed, and so no choice.
    pub(crate) assumed: usize,
    /// How many cells they were fitted from.
    pub(crate) cells: usize,
    /// Whether a wall was seen: the numbers of open units come from the log.
    pub(crate) walls: [bool; 2],
}

/// What one write cell is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Write {
    pub(crate) place: Target,
    pub(crate) order: Order,
    pub(crate) request: u64,
    pub(crate) seconds: f64,
}

/// Where its requests went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// One of the first units, alone.
    Unit(u64),
    /// So many units in turn.
    InTurn(u32),
}

impl Write {
    pub(crate) fn of(key: Key, seconds: f64) -> Option<Self> {
        match key {
            Key::Read { .. } => None,
            Key::OpenUnits { units, order, request } => {
                Some(Self { place: Target::InTurn(units), order, request: request.get(), seconds })
            }
            Key::FindFat { unit, order, request } => {
                Some(Self { place: Target::Unit(u64::from(unit)), order, request: request.get(), seconds })
            }
        }
    }

    /// Whether each request follows one into another unit.
    pub(crate) const fn switches(&self) -> bool {
        matches!(self.place, Target::InTurn(2..))
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.order == Order::Linear
    }

    pub(crate) const fn in_turn(&self) -> u32 {
        match self.place {
            Target::Unit(_) => 1,
            Target::InTurn(units) => units,
        }
    }

    /// The units it writes to.
    pub(crate) fn units(&self, erase_block: u64) -> Vec<u64> {
        match self.place {
            Target::Unit(unit) => vec![unit],
            Target::InTurn(count) => {
                let first = FIRST_UNIT_BYTES.div_ceil(erase_block);
                (0..u64::from(count)).map(|index| first + STRIDE * index).collect()
            }
        }
    }
}

impl Draft {
    /// How many numbers were chosen.
    pub(crate) fn parameters(&self) -> usize {
        let lines = [&self.append, &self.switch, &self.jump, &self.merge, &self.random_merge];
        let points: usize = lines.iter().map(|line| line.0.len()).sum();
        let small = self.small.map_or(0, |small| 2 + usize::from(small.per_byte_s != 0.0));
        let walls = self.walls.iter().filter(|seen| **seen).count();
        let places = 2 * (self.places.len() + self.slow.len()) + usize::from(self.open_s != 0.0);
        (points + small + walls + places).saturating_sub(self.assumed)
    }

    /// True if this goes the way of small writes.
    pub(crate) fn is_small(&self, write: &Write) -> bool {
        let alone = write.is_linear() && !write.switches();
        self.small.is_some_and(|small| write.request <= small.up_to) && !alone
    }

    /// The time of a request, seconds.
    pub(crate) fn predicted_s(&self, write: &Write, misses: &Misses) -> f64 {
        if let Some(small) = self.small.filter(|_| self.is_small(write)) {
            return small.write_s + small.per_byte_s * bytes_f64(write.request);
        }
        (self.base_s(write) + self.merging_s(write, misses)) * self.factor(write) + self.begin_s(write)
    }

    /// Without merges and places.
    pub(crate) fn base_s(&self, write: &Write) -> f64 {
        let whole = write.request >= self.erase_block;
        let size = write.request;
        let jumps = !write.is_linear() && !whole && !self.jump.0.is_empty();
        let switches = write.switches() && !self.switch.0.is_empty();
        match (switches, jumps) {
            (false, false) => self.append.rising(size),
            (true, false) => self.switch.rising(size),
            (false, true) => self.jump.rising(size),
            (true, true) => self.switch.rising(size).max(self.jump.rising(size)),
        }
    }

    /// The merges that a request costs on average.
    pub(crate) fn merges(&self, write: &Write, misses: &Misses) -> f64 {
        let open = if write.is_linear() { self.open_linear } else { self.open_random };
        let units = write.in_turn();
        if write.request >= self.erase_block || units <= open {
            return 0.0;
        }
        if self.random_victim { misses.rate(units, open) } else { 1.0 }
    }

    /// How much of a merge is left: what a linear run brought need not be copied.
    pub(crate) fn share_left(&self, write: &Write) -> f64 {
        if write.is_linear() { 1.0 - ratio(write.request, self.erase_block) } else { 1.0 }
    }

    fn merging_s(&self, write: &Write, misses: &Misses) -> f64 {
        let merges = self.merges(write, misses);
        if merges == 0.0 {
            return 0.0;
        }
        let line = if write.is_linear() { &self.merge } else { &self.random_merge };
        merges * line.level(self.held(write, merges)) * self.share_left(write)
    }

    /// How much a unit holds when it has to go: where not every turn costs a merge, more than one request. To the next
    /// power of two, as sizes are.
    pub(crate) fn held(&self, write: &Write, merges: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few requests, none larger than an erase block"
        )]
        let turns = 2_u64.pow((1.0 / merges.max(0.01)).log2().round() as u32);
        (write.request * turns).min(self.erase_block)
    }

    /// The share of this request in what beginning its units takes.
    pub(crate) fn begin_s(&self, write: &Write) -> f64 {
        let units = write.units(self.erase_block);
        let kept = matches!(write.place, Target::InTurn(count) if count <= self.open_linear);
        let of = |unit: &u64| match self.places.iter().find(|place| (place.first..place.end).contains(unit)) {
            Some(place) => place.open_s,
            None if kept => 0.0,
            None => self.open_s,
        };
        let total: f64 = units.iter().map(of).sum();
        total / bytes_f64(units.len() as u64) * ratio(write.request, self.erase_block)
    }

    /// The mean factor over its units.
    pub(crate) fn factor(&self, write: &Write) -> f64 {
        if self.slow.is_empty() {
            return 1.0;
        }
        let units = write.units(self.erase_block);
        let of = |unit: &u64| {
            self.slow
                .iter()
                .find(|slow| (slow.first..slow.end).contains(unit))
                .map_or(1.0, |slow| slow.factor)
        };
        units.iter().map(of).sum::<f64>() / bytes_f64(units.len() as u64)
    }

    /// The mean over writes of how far off they are, as logarithms; one that is far off counts no more than a factor of four.
    pub(crate) fn loss(&self, writes: &[Write], misses: &Misses) -> f64 {
        let off = |write: &Write| (self.predicted_s(write, misses) / write.seconds).ln().abs().min(FAR);
        writes.iter().map(off).sum::<f64>() / bytes_f64(writes.len().max(1) as u64)
    }
}

/// How often a unit is gone when its turn comes again, if any of those open may have had to go.
#[derive(Debug, Clone)]
pub(crate) struct Misses(Vec<Vec<f64>>);

impl Misses {
    const UNITS_MAX: usize = 32;

    /// Found by playing it: `units` in turn, `open` of them kept, the one that goes drawn by a fixed generator.
    pub(crate) fn new() -> Self {
        let row = |units: usize| (0..units).map(|open| Self::play(units, open)).collect();
        Self((0..=Self::UNITS_MAX).map(row).collect())
    }

    fn play(units: usize, open: usize) -> f64 {
        const TURNS: u32 = 200;
        if open == 0 {
            return 1.0;
        }
        let mut kept: Vec<usize> = (0..open).collect();
        let (mut state, mut missed) = (0x2545_f491_4f6c_dd1d_u64, 0_u32);
        for turn in 0..TURNS {
            for unit in 0..units {
                if kept.contains(&unit) {
                    continue;
                }
                // xorshift64 (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let gone = usize::try_from(state % kept.len() as u64).unwrap_or(0);
                kept[gone] = unit;
                missed += u32::from(turn > 0);
            }
        }
        f64::from(missed) / (f64::from(TURNS - 1) * bytes_f64(units as u64))
    }

    fn rate(&self, units: u32, open: u32) -> f64 {
        let units = usize::try_from(units).unwrap_or(usize::MAX).min(Self::UNITS_MAX);
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        self.0.get(units).and_then(|row| row.get(open)).copied().unwrap_or(1.0)
    }
}
