//! Where a stick differs from itself: first units that are slow or fast, and erase blocks that cost something to begin.

use crate::draft::{Draft, Line, Place, Slow, Target, Write, bytes_f64};
use crate::summary::median;
use crate::writes::build::alone;

/// Times that differ by less than this share do not differ.
const SAME: f64 = 0.06;

/// One line of times against another: so much more per byte, or so many times as long.
#[derive(Debug, Clone, Copy)]
struct Effect {
    per_byte_s: f64,
    factor: f64,
    /// Whether the first of the two explains the sizes better.
    adds: bool,
}

impl Effect {
    /// `None` where the lines agree, or share too few sizes.
    fn between(other: &Line, usual: &Line) -> Option<Self> {
        let common: Vec<(u64, f64, f64)> = other
            .0
            .iter()
            .filter_map(|(size, s)| Some((*size, *s, usual.0.iter().find(|point| point.0 == *size)?.1)))
            .collect();
        let factor = median(common.iter().map(|(_, s, usual)| s / usual))?;
        // Small writes hide in their overhead what each byte adds.
        let large = common.iter().filter(|(size, ..)| *size >= 64 << 10);
        let clear = median(large.clone().map(|(_, s, usual)| s / usual)).unwrap_or(factor);
        if common.len() < 2 || clear.ln().abs() < SAME {
            return None;
        }
        let per_byte = |point: &(u64, f64, f64)| (point.1 - point.2) / bytes_f64(point.0);
        let per_byte_s = median(large.map(per_byte)).or_else(|| median(common.iter().map(per_byte)))?;
        let off = |predicted: f64, s: f64| (predicted.max(s / 100.0) / s).ln().abs();
        let adding = median(
            common.iter().map(|(size, s, usual)| off(per_byte_s.mul_add(bytes_f64(*size), *usual), *s)),
        );
        let scaling = median(common.iter().map(|(_, s, usual)| off(usual * factor, *s)));
        Some(Self { per_byte_s, factor, adds: adding <= scaling })
    }
}

/// The draft with its places.
pub(super) fn find(draft: &Draft, writes: &[Write]) -> Draft {
    let mut placed = draft.clone();
    let count = writes.iter().filter_map(|write| unit(write.place)).max().map_or(0, |last| last + 1);
    let units: Vec<Line> =
        (0..count).map(|unit| alone(writes, |place| place == Target::Unit(unit))).collect();
    let usual = usual(&units);
    let elsewhere = alone(writes, |place| matches!(place, Target::InTurn(_)));
    let first = Write::units(&Write { place: Target::InTurn(1), ..NOTHING }, draft.erase_block)[0];
    let block = bytes_f64(draft.erase_block);
    match Effect::between(&usual, &elsewhere) {
        // Beginning an erase block has a price, but not the one that was written last.
        Some(effect) if effect.adds && effect.per_byte_s > 0.0 => placed.open_s = effect.per_byte_s * block,
        // The units of --open-au lie where it is slow.
        Some(effect) if effect.adds => {
            let open_s = -effect.per_byte_s * block;
            placed.places.push(Place { first: count.max(first + 1), end: u64::MAX, open_s });
            placed.places.push(Place { first, end: first + 1, open_s });
        }
        // Each unit has a speed of its own; the one that --open-au writes again must have that of --open-au.
        Some(_) => {
            for (unit, line) in (0..).zip(&units).filter(|(unit, _)| *unit != first) {
                if let Some(effect) = Effect::between(line, &elsewhere) {
                    add(&mut placed, unit, Effect { adds: false, ..effect }, block);
                }
            }
            return placed;
        }
        None => {}
    }
    for (unit, line) in (0..).zip(&units) {
        if let Some(effect) = Effect::between(line, &usual) {
            add(&mut placed, unit, effect, block);
        }
    }
    placed
}

const NOTHING: Write = Write {
    place: Target::InTurn(1),
    order: flashscope_record::observation::Order::Linear,
    request: 0,
    seconds: 0.0,
};

const fn unit(place: Target) -> Option<u64> {
    match place {
        Target::Unit(unit) => Some(unit),
        Target::InTurn(_) => None,
    }
}

/// The median over units at each size.
fn usual(units: &[Line]) -> Line {
    let mut sizes: Vec<u64> = units.iter().flat_map(|line| line.0.iter().map(|point| point.0)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |size: u64| {
        let times =
            units.iter().filter_map(|line| line.0.iter().find(|point| point.0 == size).map(|point| point.1));
        Some((size, median(times)?))
    };
    Line(sizes.into_iter().filter_map(at).collect())
}

/// One unit that differs; joins the one before it if that differs alike.
fn add(placed: &mut Draft, unit: u64, effect: Effect, block: f64) {
    if placed.places.iter().any(|place| place.first == unit) {
        return;
    }
    let alike = |a: f64, b: f64| (a - b).abs() < 0.15 * a.max(b);
    if effect.adds {
        let open_s = effect.per_byte_s.mul_add(block, placed.open_s).max(0.0);
        match placed.places.last_mut() {
            Some(last) if last.end == unit && alike(last.open_s, open_s) => last.end += 1,
            _ => placed.places.push(Place { first: unit, end: unit + 1, open_s }),
        }
    } else {
        match placed.slow.last_mut() {
            Some(last) if last.end == unit && alike(last.factor, effect.factor) => last.end += 1,
            _ => placed.slow.push(Slow { first: unit, end: unit + 1, factor: effect.factor }),
        }
    }
}
