//! The model of writes during the fit, and its predictions without a simulation.

use flashscope_record::observation::Order;
use flashscope_sim::profile::Basis;

use crate::measured::Key;

/// flashbench --open-au starts its first unit here, and the next ones 12 erase blocks apart.
const FIRST_UNIT_BYTES: u64 = 16 << 20;
const STRIDE: u64 = 12;

/// ln 4. Each cell counts at most a factor of 4, so that rare stalls in a log do not dominate.
const LOG_ERROR_MAX: f64 = 1.386;

/// Points of bytes and seconds, in ascending order of size.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct TimeCurve(pub(crate) Vec<(u64, f64)>);

impl TimeCurve {
    /// Linear interpolation. Beyond the last point linear extrapolation, or in proportion to a single point.
    pub(crate) fn extrapolated(&self, bytes: u64) -> f64 {
        match self.0.as_slice() {
            [] => 0.0,
            [only] => only.1 * ratio(bytes.max(only.0), only.0),
            points => self.between(points, bytes).max(0.0),
        }
    }

    /// Linear interpolation, constant beyond the last point.
    pub(crate) fn clamped(&self, bytes: u64) -> f64 {
        match self.0.as_slice() {
            [] => 0.0,
            points if bytes >= points[points.len() - 1].0 => points[points.len() - 1].1,
            points => self.between(points, bytes),
        }
    }

    #[expect(clippy::unused_self, reason = "both interpolations share the rule below the first point")]
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

/// A separate path for small writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SmallWrites {
    pub(crate) up_to: u64,
    pub(crate) write_s: f64,
    pub(crate) per_byte_s: f64,
}

/// Units from `first` to before `end` with their own opening cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OpeningRange {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) open_s: f64,
}

/// Units from `first` to before `end` with a factor on write times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SlowRange {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) factor: f64,
}

/// The parameters of writes; times in seconds.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct WriteModel {
    pub(crate) erase_block: u64,
    pub(crate) open_linear: u32,
    pub(crate) open_random: u32,
    /// Random eviction, not LRU.
    pub(crate) random_victim: bool,
    pub(crate) small: Option<SmallWrites>,
    pub(crate) append: TimeCurve,
    pub(crate) switch: TimeCurve,
    pub(crate) jump: TimeCurve,
    pub(crate) merge: TimeCurve,
    pub(crate) random_merge: TimeCurve,
    pub(crate) open_s: f64,
    pub(crate) openings: Vec<OpeningRange>,
    pub(crate) slow_ranges: Vec<SlowRange>,
    /// The number of parameters that are assumed, not fitted.
    pub(crate) assumed: usize,
    /// The number of parameters that come from the findings of a run: they are not fitted.
    pub(crate) known: usize,
    /// The number of cells of the fit.
    pub(crate) cells: usize,
    /// Whether the log shows merges beyond the open units, for sequential and random writes.
    pub(crate) limits_seen: [bool; 2],
}

/// One cell with writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WriteCell {
    pub(crate) target: WriteTarget,
    pub(crate) order: Order,
    pub(crate) request: u64,
    pub(crate) seconds: f64,
}

/// The erase blocks that a cell writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteTarget {
    /// One of the first units.
    Unit(u64),
    /// This number of units, round-robin.
    RoundRobin(u32),
}

impl WriteCell {
    pub(crate) fn of(key: Key, seconds: f64) -> Option<Self> {
        match key {
            Key::Read { .. } => None,
            Key::OpenUnits { units, order, request } => {
                Some(Self { target: WriteTarget::RoundRobin(units), order, request: request.get(), seconds })
            }
            Key::FindFat { unit, order, request } => Some(Self {
                target: WriteTarget::Unit(u64::from(unit)),
                order,
                request: request.get(),
                seconds,
            }),
        }
    }

    /// True if every request goes to another unit than the previous one.
    pub(crate) const fn switches(&self) -> bool {
        matches!(self.target, WriteTarget::RoundRobin(2..))
    }

    pub(crate) fn is_linear(&self) -> bool {
        self.order == Order::Linear
    }

    pub(crate) const fn unit_count(&self) -> u32 {
        match self.target {
            WriteTarget::Unit(_) => 1,
            WriteTarget::RoundRobin(units) => units,
        }
    }

    /// The units it writes to.
    pub(crate) fn units(&self, erase_block: u64) -> Vec<u64> {
        match self.target {
            WriteTarget::Unit(unit) => vec![unit],
            WriteTarget::RoundRobin(count) => {
                let first = FIRST_UNIT_BYTES.div_ceil(erase_block);
                (0..u64::from(count)).map(|index| first + STRIDE * index).collect()
            }
        }
    }
}

impl WriteModel {
    /// How the times were found.
    pub(crate) const fn basis(&self) -> Basis {
        if self.assumed > 0 { Basis::Fitted } else { Basis::Measured }
    }

    /// The number of fitted parameters.
    pub(crate) fn parameters(&self) -> usize {
        let lines = [&self.append, &self.switch, &self.jump, &self.merge, &self.random_merge];
        let points: usize = lines.iter().map(|line| line.0.len()).sum();
        let small = self.small.map_or(0, |small| 2 + usize::from(small.per_byte_s != 0.0));
        let limits = self.limits_seen.iter().filter(|seen| **seen).count();
        let locations = 2 * (self.openings.len() + self.slow_ranges.len()) + usize::from(self.open_s != 0.0);
        (points + small + limits + locations).saturating_sub(self.assumed + self.known)
    }

    /// True if the cell takes the path of small writes.
    pub(crate) fn is_small(&self, write: &WriteCell) -> bool {
        let is_sequential = write.is_linear() && !write.switches();
        self.small.is_some_and(|small| write.request <= small.up_to) && !is_sequential
    }

    /// The time of a request, seconds.
    pub(crate) fn predicted_s(&self, write: &WriteCell, misses: &MissRates) -> f64 {
        if let Some(small) = self.small.filter(|_| self.is_small(write)) {
            return small.write_s + small.per_byte_s * bytes_f64(write.request);
        }
        (self.base_s(write) + self.merging_s(write, misses)) * self.factor(write) + self.opening_s(write)
    }

    /// The time without merges and location effects, seconds.
    pub(crate) fn base_s(&self, write: &WriteCell) -> f64 {
        let is_whole_block = write.request >= self.erase_block;
        let size = write.request;
        let jumps = !write.is_linear() && !is_whole_block && !self.jump.0.is_empty();
        let switches = write.switches() && !self.switch.0.is_empty();
        match (switches, jumps) {
            (false, false) => self.append.extrapolated(size),
            (true, false) => self.switch.extrapolated(size),
            (false, true) => self.jump.extrapolated(size),
            (true, true) => self.switch.extrapolated(size).max(self.jump.extrapolated(size)),
        }
    }

    /// The mean number of merges of a request.
    pub(crate) fn merges(&self, write: &WriteCell, misses: &MissRates) -> f64 {
        let open = if write.is_linear() { self.open_linear } else { self.open_random };
        let units = write.unit_count();
        if write.request >= self.erase_block || units <= open {
            return 0.0;
        }
        if self.random_victim { misses.rate(units, open) } else { 1.0 }
    }

    /// The share of a merge that is left: data of a sequential run need not be copied.
    pub(crate) fn share_left(&self, write: &WriteCell) -> f64 {
        if write.is_linear() { 1.0 - ratio(write.request, self.erase_block) } else { 1.0 }
    }

    fn merging_s(&self, write: &WriteCell, misses: &MissRates) -> f64 {
        let merges = self.merges(write, misses);
        if merges == 0.0 {
            return 0.0;
        }
        let line = if write.is_linear() { &self.merge } else { &self.random_merge };
        merges * line.clamped(self.held_bytes(write, merges)) * self.share_left(write)
    }

    /// The bytes that a unit holds when it is evicted, rounded to a power of two: more than one request if
    /// not every request merges.
    pub(crate) fn held_bytes(&self, write: &WriteCell, merges: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few requests, none larger than an erase block"
        )]
        let requests = 2_u64.pow((1.0 / merges.max(0.01)).log2().round() as u32);
        (write.request * requests).min(self.erase_block)
    }

    /// The opening cost of the cell's units, per request, seconds.
    pub(crate) fn opening_s(&self, write: &WriteCell) -> f64 {
        let units = write.units(self.erase_block);
        let stays_open = matches!(write.target, WriteTarget::RoundRobin(count) if count <= self.open_linear);
        let of = |unit: &u64| match self
            .openings
            .iter()
            .find(|opening| (opening.first..opening.end).contains(unit))
        {
            Some(opening) => opening.open_s,
            None if stays_open => 0.0,
            None => self.open_s,
        };
        let total: f64 = units.iter().map(of).sum();
        total / bytes_f64(units.len() as u64) * ratio(write.request, self.erase_block)
    }

    /// The mean factor over the cell's units.
    pub(crate) fn factor(&self, write: &WriteCell) -> f64 {
        if self.slow_ranges.is_empty() {
            return 1.0;
        }
        let units = write.units(self.erase_block);
        let of = |unit: &u64| {
            self.slow_ranges
                .iter()
                .find(|range| (range.first..range.end).contains(unit))
                .map_or(1.0, |range| range.factor)
        };
        units.iter().map(of).sum::<f64>() / bytes_f64(units.len() as u64)
    }

    /// The mean log error over writes. Each counts at most `LOG_ERROR_MAX`.
    pub(crate) fn loss(&self, writes: &[WriteCell], misses: &MissRates) -> f64 {
        let error = |write: &WriteCell| {
            (self.predicted_s(write, misses) / write.seconds).ln().abs().min(LOG_ERROR_MAX)
        };
        writes.iter().map(error).sum::<f64>() / bytes_f64(writes.len().max(1) as u64)
    }
}

/// The probability that a unit was evicted before its next request, with round-robin writes and random
/// eviction.
#[derive(Debug, Clone)]
pub(crate) struct MissRates(Vec<Vec<f64>>);

impl MissRates {
    const UNITS_MAX: usize = 32;

    /// By simulation with a fixed generator: `units` round-robin, `open` of them stay open.
    pub(crate) fn new() -> Self {
        let row = |units: usize| (0..units).map(|open| Self::simulate(units, open)).collect();
        Self((0..=Self::UNITS_MAX).map(row).collect())
    }

    fn simulate(units: usize, open: usize) -> f64 {
        const ROUNDS: u32 = 200;
        if open == 0 {
            return 1.0;
        }
        let mut open_units: Vec<usize> = (0..open).collect();
        let (mut state, mut missed) = (0x2545_f491_4f6c_dd1d_u64, 0_u32);
        for round in 0..ROUNDS {
            for unit in 0..units {
                if open_units.contains(&unit) {
                    continue;
                }
                // xorshift64 (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let evicted = usize::try_from(state % open_units.len() as u64).unwrap_or(0);
                open_units[evicted] = unit;
                missed += u32::from(round > 0);
            }
        }
        f64::from(missed) / (f64::from(ROUNDS - 1) * bytes_f64(units as u64))
    }

    fn rate(&self, units: u32, open: u32) -> f64 {
        let units = usize::try_from(units).unwrap_or(usize::MAX).min(Self::UNITS_MAX);
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        self.0.get(units).and_then(|row| row.get(open)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_all_numbers_that_were_fitted() {
        let line = |points: u64| TimeCurve((1..=points).map(|point| (point << 12, 0.001)).collect());
        let model = WriteModel {
            append: line(5),
            switch: line(4),
            jump: line(3),
            merge: line(2),
            random_merge: line(1),
            small: Some(SmallWrites { up_to: 4096, write_s: 0.01, per_byte_s: 1e-9 }),
            open_s: 0.002,
            openings: vec![OpeningRange { first: 0, end: 4, open_s: 0.0 }],
            slow_ranges: vec![SlowRange { first: 4, end: 8, factor: 2.0 }],
            limits_seen: [true, false],
            ..WriteModel::default()
        };
        // All points, three of small writes, one limit, two for each range, and the time to open.
        assert_eq!(model.parameters(), 15 + 3 + 1 + 2 + 2 + 1);
        let partly_known = WriteModel { assumed: 2, known: 3, ..model };
        assert_eq!(partly_known.parameters(), 19);
    }

    #[test]
    fn times_follow_the_line_of_the_measured_sizes_and_are_never_negative() {
        let rising = [(64, 0.01), (256, 0.04)].as_slice();
        let falling = [(64, 0.04), (256, 0.01)].as_slice();
        for (points, kib, extrapolated_s, clamped_s) in [
            (&rising[..1], 4, 0.01, 0.01),
            (&rising[..1], 64, 0.01, 0.01),
            (&rising[..1], 256, 0.04, 0.01),
            (rising, 4, 0.01, 0.01),
            (rising, 128, 0.02, 0.02),
            (rising, 512, 0.08, 0.04),
            (falling, 128, 0.03, 0.03),
            (falling, 1024, 0.0, 0.01),
        ] {
            let curve = TimeCurve(points.iter().map(|(kib, seconds)| (kib << 10, *seconds)).collect());
            let seconds = [curve.extrapolated(kib << 10), curve.clamped(kib << 10)];
            let is_met = (seconds[0] - extrapolated_s).abs() < 1e-9 && (seconds[1] - clamped_s).abs() < 1e-9;
            assert!(is_met, "{kib} KiB of {points:?}: {seconds:?}");
        }
    }

    /// The erase blocks that are written are twelve apart, from 16 MiB on. Each of the first three is slow.
    #[test]
    fn writes_among_slow_blocks_take_the_mean_of_the_blocks_they_go_to() {
        let slow = |first: u64, factor| SlowRange { first, end: first + 1, factor };
        let misses = MissRates::new();
        for (erase_block, [first, second, third]) in [(4 << 20, [4, 16, 28]), (3 << 20, [6, 18, 30])] {
            let model = WriteModel {
                erase_block,
                open_linear: 3,
                append: TimeCurve(vec![(64 << 10, 0.01)]),
                slow_ranges: vec![slow(first, 2.0), slow(second, 3.0), slow(third, 7.0)],
                ..WriteModel::default()
            };
            for (units, seconds) in [(1, 0.02), (2, 0.025), (3, 0.04)] {
                let target = WriteTarget::RoundRobin(units);
                let write = WriteCell { target, order: Order::Linear, request: 64 << 10, seconds };
                let predicted_s = model.predicted_s(&write, &misses);
                assert!((predicted_s - seconds).abs() < 1e-9, "{write:?}: {predicted_s}");
            }
        }
    }

    /// Writes of up to 16 KiB take 0.002 s and 0.1 us a byte, unless they are one sequential run. Others take
    /// 0.01 s.
    #[test]
    fn small_writes_take_a_time_of_their_own_unless_they_are_one_sequential_run() {
        let model = WriteModel {
            erase_block: 4 << 20,
            open_linear: 2,
            open_random: 2,
            small: Some(SmallWrites { up_to: 16 << 10, write_s: 0.002, per_byte_s: 1e-7 }),
            append: TimeCurve(vec![(4 << 20, 0.01)]),
            ..WriteModel::default()
        };
        let misses = MissRates::new();
        for (kib, units, order, seconds) in [
            (8, 2, Order::Linear, 0.002_819_2),
            (16, 2, Order::Linear, 0.003_638_4),
            (16, 1, Order::Random, 0.003_638_4),
            (16, 1, Order::Linear, 0.01),
            (32, 2, Order::Linear, 0.01),
            (32, 1, Order::Random, 0.01),
        ] {
            let write =
                WriteCell { target: WriteTarget::RoundRobin(units), order, request: kib << 10, seconds };
            let predicted_s = model.predicted_s(&write, &misses);
            assert!((predicted_s - seconds).abs() < 1e-9, "{write:?}: {predicted_s}");
        }
    }

    /// One erase block of 4 MiB stays open. A write takes 0.01 s without a merge. A merge takes 0.4 s after
    /// 1 MiB and 1.2 s after 2 MiB, after random writes 0.5 s. Evicted at random, half of the writes merge.
    #[test]
    fn writes_beyond_the_open_blocks_take_what_is_left_of_a_merge() {
        let misses = MissRates(vec![Vec::new(), vec![1.0], vec![1.0, 0.5]]);
        for (random_victim, mib, units, order, seconds) in [
            (false, 1, 2, Order::Linear, 0.01 + 0.4 * 0.75),
            (false, 2, 2, Order::Linear, 0.01 + 1.2 * 0.5),
            (false, 1, 2, Order::Random, 0.01 + 0.5),
            (false, 1, 1, Order::Linear, 0.01),
            (false, 4, 2, Order::Linear, 0.01),
            (true, 1, 2, Order::Linear, 0.01 + 0.5 * 1.2 * 0.75),
            (true, 1, 2, Order::Random, 0.01 + 0.5 * 0.5),
        ] {
            let model = WriteModel {
                erase_block: 4 << 20,
                open_linear: 1,
                open_random: 1,
                random_victim,
                append: TimeCurve(vec![(4 << 20, 0.01)]),
                merge: TimeCurve(vec![(1 << 20, 0.4), (2 << 20, 1.2)]),
                random_merge: TimeCurve(vec![(512, 0.5)]),
                ..WriteModel::default()
            };
            let write =
                WriteCell { target: WriteTarget::RoundRobin(units), order, request: mib << 20, seconds };
            let predicted_s = model.predicted_s(&write, &misses);
            assert!((predicted_s - seconds).abs() < 1e-9, "{random_victim} {write:?}: {predicted_s}");
        }
    }

    /// Sequential writes take 0.01 s, among several erase blocks 0.02 s, random ones inside a block 0.05 s.
    #[test]
    fn random_writes_of_a_whole_erase_block_take_what_sequential_ones_do() {
        let constant = |seconds| TimeCurve(vec![(4 << 20, seconds)]);
        let model = WriteModel {
            erase_block: 4 << 20,
            open_linear: 2,
            open_random: 2,
            append: constant(0.01),
            switch: constant(0.02),
            jump: constant(0.05),
            ..WriteModel::default()
        };
        let misses = MissRates::new();
        for (request, units, order, seconds) in [
            (4 << 20, 1, Order::Linear, 0.01),
            (4 << 20, 1, Order::Random, 0.01),
            (4 << 20, 2, Order::Linear, 0.02),
            (4 << 20, 2, Order::Random, 0.02),
            (1 << 20, 1, Order::Random, 0.05),
            (1 << 20, 2, Order::Random, 0.05),
        ] {
            let write = WriteCell { target: WriteTarget::RoundRobin(units), order, request, seconds };
            let predicted_s = model.predicted_s(&write, &misses);
            assert!((predicted_s - seconds).abs() < 1e-9, "{write:?}: {predicted_s}");
        }
    }
}
