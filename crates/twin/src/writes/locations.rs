//! Location effects: slow or fast units, and units with an opening cost.

use crate::summary::median;
use crate::write_model::{OpeningRange, SlowRange, TimeCurve, WriteCell, WriteModel, WriteTarget, bytes_f64};
use crate::writes::build::single_unit_times;

/// Smaller differences of the log times count as noise. A guess.
const NOISE: f64 = 0.06;

/// The difference of two time curves: an extra time per byte, or a factor.
#[derive(Debug, Clone, Copy)]
struct Effect {
    per_byte_s: f64,
    factor: f64,
    /// Whether the extra time explains the sizes better than the factor.
    is_additive: bool,
}

impl Effect {
    /// `None` if the curves agree, or share too few sizes.
    fn between(other: &TimeCurve, usual: &TimeCurve) -> Option<Self> {
        let common: Vec<(u64, f64, f64)> = other
            .0
            .iter()
            .filter_map(|(size, s)| Some((*size, *s, usual.0.iter().find(|point| point.0 == *size)?.1)))
            .collect();
        let factor = median(common.iter().map(|(_, s, usual)| s / usual))?;
        // The overhead of small writes hides the extra time per byte.
        let large = common.iter().filter(|(size, ..)| *size >= 64 << 10);
        let large_factor = median(large.clone().map(|(_, s, usual)| s / usual)).unwrap_or(factor);
        if common.len() < 2 || large_factor.ln().abs() < NOISE {
            return None;
        }
        let per_byte = |point: &(u64, f64, f64)| (point.1 - point.2) / bytes_f64(point.0);
        let per_byte_s = median(large.map(per_byte)).or_else(|| median(common.iter().map(per_byte)))?;
        let error = |predicted: f64, s: f64| (predicted.max(s / 100.0) / s).ln().abs();
        let additive = median(
            common.iter().map(|(size, s, usual)| error(per_byte_s.mul_add(bytes_f64(*size), *usual), *s)),
        );
        let scaling = median(common.iter().map(|(_, s, usual)| error(usual * factor, *s)));
        Some(Self { per_byte_s, factor, is_additive: additive <= scaling })
    }
}

/// The model with location effects.
pub(super) fn find(model: &WriteModel, writes: &[WriteCell]) -> WriteModel {
    let mut located = model.clone();
    let count = writes.iter().filter_map(|write| unit(write.target)).max().map_or(0, |last| last + 1);
    let units: Vec<TimeCurve> = (0..count)
        .map(|unit| single_unit_times(writes, |target| target == WriteTarget::Unit(unit)))
        .collect();
    let usual = usual(&units);
    let elsewhere = single_unit_times(writes, |target| matches!(target, WriteTarget::RoundRobin(_)));
    let first =
        WriteCell::units(&WriteCell { target: WriteTarget::RoundRobin(1), ..NO_WRITE }, model.erase_block)[0];
    let block = bytes_f64(model.erase_block);
    match Effect::between(&usual, &elsewhere) {
        // Opening an erase block has a cost, except the last one written.
        Some(effect) if effect.is_additive && effect.per_byte_s > 0.0 => {
            located.open_s = effect.per_byte_s * block
        }
        // The units of --open-au are in a slow range.
        Some(effect) if effect.is_additive => {
            let open_s = -effect.per_byte_s * block;
            located.openings.push(OpeningRange { first: count.max(first + 1), end: u64::MAX, open_s });
            located.openings.push(OpeningRange { first, end: first + 1, open_s });
        }
        // Each unit has its own speed. The unit that --open-au rewrites must have the speed of --open-au.
        Some(_) => {
            for (unit, line) in (0..).zip(&units).filter(|(unit, _)| *unit != first) {
                if let Some(effect) = Effect::between(line, &elsewhere) {
                    add(&mut located, unit, Effect { is_additive: false, ..effect }, block);
                }
            }
            return located;
        }
        None => {}
    }
    for (unit, line) in (0..).zip(&units) {
        if let Some(effect) = Effect::between(line, &usual) {
            add(&mut located, unit, effect, block);
        }
    }
    located
}

const NO_WRITE: WriteCell = WriteCell {
    target: WriteTarget::RoundRobin(1),
    order: flashscope_record::observation::Order::Linear,
    request: 0,
    seconds: 0.0,
};

const fn unit(target: WriteTarget) -> Option<u64> {
    match target {
        WriteTarget::Unit(unit) => Some(unit),
        WriteTarget::RoundRobin(_) => None,
    }
}

/// The median over units at each size.
fn usual(units: &[TimeCurve]) -> TimeCurve {
    let mut sizes: Vec<u64> = units.iter().flat_map(|line| line.0.iter().map(|point| point.0)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |size: u64| {
        let times =
            units.iter().filter_map(|line| line.0.iter().find(|point| point.0 == size).map(|point| point.1));
        Some((size, median(times)?))
    };
    TimeCurve(sizes.into_iter().filter_map(at).collect())
}

/// Adds the effect of one unit. Extends the previous range if its effect is equal within 15 %.
fn add(located: &mut WriteModel, unit: u64, effect: Effect, block: f64) {
    if located.openings.iter().any(|opening| opening.first == unit) {
        return;
    }
    let is_equal = |a: f64, b: f64| (a - b).abs() <= 0.15 * a.max(b);
    if effect.is_additive {
        let open_s = effect.per_byte_s.mul_add(block, located.open_s).max(0.0);
        match located.openings.last_mut() {
            Some(last) if last.end == unit && is_equal(last.open_s, open_s) => last.end += 1,
            _ => located.openings.push(OpeningRange { first: unit, end: unit + 1, open_s }),
        }
    } else {
        match located.slow_ranges.last_mut() {
            Some(last) if last.end == unit && is_equal(last.factor, effect.factor) => last.end += 1,
            _ => located.slow_ranges.push(SlowRange { first: unit, end: unit + 1, factor: effect.factor }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_units_differ_by_a_factor_and_opened_ones_by_a_time_per_byte() {
        let line = |time: fn(f64) -> f64| {
            let sizes = [16_u64 << 10, 64 << 10, 256 << 10, 1 << 20];
            TimeCurve(sizes.map(|size| (size, time(bytes_f64(size)))).into())
        };
        let usual = line(|bytes| 0.002 + bytes * 1e-7);
        let slow = Effect::between(&line(|bytes| 2.0 * (0.002 + bytes * 1e-7)), &usual).unwrap();
        assert!(!slow.is_additive && (slow.factor - 2.0).abs() < 1e-9, "{slow:?}");
        let opened = Effect::between(&line(|bytes| 0.002 + bytes * 1.5e-7), &usual).unwrap();
        assert!(opened.is_additive && (opened.per_byte_s - 5e-8).abs() < 1e-12, "{opened:?}");
        assert!(Effect::between(&usual, &usual).is_none());
    }

    /// Writes of three sizes that take this time each, and this time for each byte.
    fn line(target: WriteTarget, each_s: f64, per_byte_s: f64) -> [WriteCell; 3] {
        [64_u64 << 10, 256 << 10, 1 << 20].map(|request| WriteCell {
            target,
            request,
            seconds: each_s + per_byte_s * bytes_f64(request),
            ..NO_WRITE
        })
    }

    /// Of nine erase blocks two neighbours take twice the usual time. The next one and one apart take four
    /// times as long as usual.
    #[test]
    fn neighbours_that_are_as_slow_as_each_other_are_one_range() {
        let line = |target, factor: f64| line(target, factor * 0.002, factor * 1e-7);
        let factors = (0..).zip([2.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 4.0, 1.0]);
        let mut writes = line(WriteTarget::RoundRobin(1), 1.0).to_vec();
        writes.extend(factors.flat_map(|(unit, factor)| line(WriteTarget::Unit(unit), factor)));
        let located = find(&WriteModel { erase_block: 4 << 20, ..WriteModel::default() }, &writes);
        let slow = |first, end, factor| SlowRange { first, end, factor };
        assert_eq!(located.slow_ranges, [slow(0, 2, 2.0), slow(2, 3, 4.0), slow(7, 8, 4.0)]);
        assert!(located.openings.is_empty(), "{located:?}");
    }

    /// An erase block takes 0.2 s to open. The first two take less than none, as far as the times show.
    #[test]
    fn neighbours_that_open_at_once_are_one_range() {
        let line = |target, per_byte_s: f64| line(target, 0.002, per_byte_s);
        let per_byte_s = |unit: u64| if unit < 2 { 0.9e-7 } else { 1.5e-7 };
        let mut writes = line(WriteTarget::RoundRobin(1), 1e-7).to_vec();
        writes.extend((0..6).flat_map(|unit| line(WriteTarget::Unit(unit), per_byte_s(unit))));
        let located = find(&WriteModel { erase_block: 4 << 20, ..WriteModel::default() }, &writes);
        assert!((located.open_s - 5e-8 * bytes_f64(4 << 20)).abs() < 1e-9, "{located:?}");
        assert_eq!(located.openings, [OpeningRange { first: 0, end: 2, open_s: 0.0 }]);
    }

    /// Units 1 and 2 differ by 5 %. Unit 3 has twice their effect, and unit 5 is not its neighbour.
    #[test]
    fn a_range_holds_neighbours_of_the_same_effect_alone() {
        let block = bytes_f64(4 << 20);
        let located = |is_additive| {
            let mut located = WriteModel::default();
            for (unit, factor) in [(1, 2.0), (2, 2.1), (3, 4.0), (5, 4.0)] {
                add(&mut located, unit, Effect { per_byte_s: factor / block, factor, is_additive }, block);
            }
            located
        };
        let ranges = [(1, 3, 2.0), (3, 4, 4.0), (5, 6, 4.0)];
        let openings = ranges.map(|(first, end, open_s)| OpeningRange { first, end, open_s });
        assert_eq!(located(true).openings, openings);
        let slow_ranges = ranges.map(|(first, end, factor)| SlowRange { first, end, factor });
        assert_eq!(located(false).slow_ranges, slow_ranges);
    }
}
