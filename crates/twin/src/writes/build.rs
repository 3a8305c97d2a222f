//! The parameters of one structure: medians by request size of the cells that show each of them.

use std::collections::BTreeMap;

use crate::measured::Known;
use crate::summary::median;
use crate::write_model::{MissRates, SmallWrites, TimeCurve, WriteCell, WriteModel, WriteTarget, bytes_f64};

/// The largest request of a small-write path in any known log.
const SMALL_MAX: u64 = 64 << 10;

/// The discrete parameters: open units, eviction, and the largest small write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Structure {
    linear: u32,
    random: u32,
    random_victim: bool,
    small_up_to: u64,
    limits_seen: [bool; 2],
}

impl Structure {
    /// All structures that these writes can distinguish, with the limits that are known.
    pub(super) fn all(writes: &[WriteCell], known: Known) -> Vec<Self> {
        let units_max = |linear: bool| {
            writes
                .iter()
                .filter(|write| write.is_linear() == linear)
                .map(WriteCell::unit_count)
                .max()
                .unwrap_or(0)
        };
        let (linear_max, random_max) = (units_max(true), units_max(false));
        let [linear_known, random_known] = [known.open_units_linear, known.open_units_random];
        // Random writes have at most as many open units as sequential ones.
        let least = random_known.unwrap_or(1).min(linear_known.unwrap_or(u32::MAX));
        let all_max = linear_max.max(random_max).max(least);
        let small_limits = small_limits(writes);
        let mut structures = Vec::new();
        let limits = |found: Option<u32>, most: u32| found.map_or(1..=most, |found| found..=found);
        for linear in limits(linear_known, all_max).filter(|linear| *linear >= least) {
            for random in limits(random_known, linear) {
                let limits_seen = [
                    linear_known.is_some() || linear < linear_max,
                    random_known.is_some() || random < random_max,
                ];
                let is_invisible = (linear_known.is_none() && linear > linear_max && linear != all_max)
                    || (random_known.is_none() && random < linear && random >= random_max.max(1));
                for small_up_to in small_limits.iter().copied().filter(|_| !is_invisible) {
                    structures.push(Self { linear, random, random_victim: false, small_up_to, limits_seen });
                    if limits_seen != [false, false] {
                        structures.push(Self {
                            linear,
                            random,
                            random_victim: true,
                            small_up_to,
                            limits_seen,
                        });
                    }
                }
            }
        }
        structures
    }
}

/// Candidates for the largest small write: sizes that were measured with different numbers of units.
fn small_limits(writes: &[WriteCell]) -> Vec<u64> {
    let is_candidate = |write: &&WriteCell| !write.is_linear() || write.switches();
    let mut seen: Vec<(u64, u32)> = writes
        .iter()
        .filter(|write| is_candidate(write) && write.request <= SMALL_MAX)
        .map(|write| (write.request, write.unit_count()))
        .collect();
    seen.sort_unstable();
    seen.dedup();
    let several = seen.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1).map(|equal| equal[0].0);
    std::iter::once(0).chain(several).collect()
}

/// The model of a structure, with the location effects of `located`.
pub(super) fn build(
    located: &WriteModel,
    structure: Structure,
    writes: &[WriteCell],
    misses: &MissRates,
) -> WriteModel {
    let mut model = WriteModel {
        open_linear: structure.linear,
        open_random: structure.random,
        random_victim: structure.random_victim,
        limits_seen: structure.limits_seen,
        ..located.clone()
    };
    model.small = small(&model, structure.small_up_to, writes);
    let large: Vec<&WriteCell> = writes.iter().filter(|write| !model.is_small(write)).collect();
    model.append = append(&model, &large);
    model.switch = medians_of(
        large.iter().filter(|write| {
            let is_plain =
                write.is_linear() && write.unit_count() <= model.open_linear || is_whole_block(&model, write);
            write.switches() && is_plain
        }),
        |write| base_time(&model, write),
    );
    model.jump = jump(&model, &large);
    fill_append(&mut model);
    model.merge = merges(&model, &large, misses, true);
    model.random_merge = merges(&model, &large, misses, false);
    model
}

/// The time of a write without location effects.
fn base_time(model: &WriteModel, write: &WriteCell) -> f64 {
    ((write.seconds - model.opening_s(write)) / model.factor(write)).max(write.seconds / 100.0)
}

fn is_whole_block(model: &WriteModel, write: &WriteCell) -> bool {
    write.request >= model.erase_block
}

fn append(model: &WriteModel, large: &[&WriteCell]) -> TimeCurve {
    medians_of(
        large.iter().filter(|write| !write.switches() && (write.is_linear() || is_whole_block(model, write))),
        |write| base_time(model, write),
    )
}

/// A random write in a single unit shows its time directly; among several units only if it is slower than a
/// switch.
fn jump(model: &WriteModel, large: &[&WriteCell]) -> TimeCurve {
    // Guess: above the noise of a log.
    const CLEAR: f64 = 1.1;
    let jumps = |write: &WriteCell| !write.is_linear() && !is_whole_block(model, write);
    let shows = |write: &WriteCell| {
        !write.switches() || base_time(model, write) > CLEAR * model.switch.extrapolated(write.request)
    };
    medians_of(
        large.iter().filter(|write| jumps(write) && write.unit_count() <= model.open_random && shows(write)),
        |write| base_time(model, write),
    )
}

/// Without sequential writes, uses the times of switches, of random writes, or typical ones.
fn fill_append(model: &mut WriteModel) {
    if !model.append.0.is_empty() {
        return;
    }
    let other = [&model.switch, &model.jump].into_iter().find(|line| !line.0.is_empty()).cloned();
    model.append = other.unwrap_or_else(super::typical::append);
    model.assumed += model.append.0.len();
}

/// The time of a whole merge by size: the rest of each write beyond the open units after its base time.
fn merges(model: &WriteModel, large: &[&WriteCell], misses: &MissRates, linear: bool) -> TimeCurve {
    let merging = |write: &&&WriteCell| write.is_linear() == linear && model.merges(write, misses) > 0.0;
    medians(large.iter().filter(merging).map(|write| {
        let merges = model.merges(write, misses);
        let rest_s = base_time(model, write) - model.base_s(write);
        (model.held_bytes(write, merges), (rest_s / merges / model.share_left(write)).max(0.0))
    }))
}

fn small(model: &WriteModel, up_to: u64, writes: &[WriteCell]) -> Option<SmallWrites> {
    let named =
        WriteModel { small: Some(SmallWrites { up_to, write_s: 0.0, per_byte_s: 0.0 }), ..model.clone() };
    let seen: Vec<&WriteCell> = writes.iter().filter(|write| named.is_small(write)).collect();
    let TimeCurve(points) = medians_of(seen.iter(), |write| write.seconds);
    let (first, last) = (*points.first()?, *points.last()?);
    let per_byte_s =
        if last.0 > first.0 { ((last.1 - first.1) / bytes_f64(last.0 - first.0)).max(0.0) } else { 0.0 };
    let rest = |write: &&WriteCell| (write.seconds - per_byte_s * bytes_f64(write.request)).max(1e-6);
    Some(SmallWrites { up_to, write_s: median(seen.iter().map(rest))?, per_byte_s })
}

/// The median of `time` at each request size.
fn medians_of<'a>(
    writes: impl Iterator<Item = &'a &'a WriteCell>,
    time: impl Fn(&WriteCell) -> f64,
) -> TimeCurve {
    medians(writes.map(|write| (write.request, time(write))))
}

/// The median of the times at each size.
pub(super) fn medians(times: impl Iterator<Item = (u64, f64)>) -> TimeCurve {
    let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (size, time) in times {
        by_size.entry(size).or_default().push(time);
    }
    TimeCurve(by_size.into_iter().filter_map(|(size, times)| Some((size, median(times)?))).collect())
}

/// The medians by size of sequential writes to single units that `which` picks.
pub(super) fn single_unit_times(writes: &[WriteCell], which: impl Fn(WriteTarget) -> bool) -> TimeCurve {
    let picked: Vec<&WriteCell> =
        writes.iter().filter(|write| write.is_linear() && !write.switches() && which(write.target)).collect();
    medians_of(picked.iter(), |write| write.seconds)
}

#[cfg(test)]
mod tests {
    use flashscope_record::observation::Order;

    use super::*;
    use crate::write_model::{OpeningRange, SlowRange};

    #[test]
    fn both_evictions_are_tried_where_merges_show() {
        let write = |units| WriteCell {
            target: WriteTarget::RoundRobin(units),
            order: Order::Linear,
            request: 1 << 20,
            seconds: 0.1,
        };
        let all = Structure::all(&[1, 2, 3].map(write), Known::default());
        let tried = |linear: u32| {
            let of_linear = all.iter().filter(|each| each.linear == linear);
            let mut victims: Vec<bool> = of_linear.map(|each| each.random_victim).collect();
            victims.sort_unstable();
            victims.dedup();
            victims
        };
        assert_eq!(tried(2), [false, true]);
        assert_eq!(tried(3), [false], "no merge shows an eviction");
    }

    #[test]
    fn switches_are_timed_up_to_the_open_units_and_merges_beyond() {
        let write = |units, seconds| WriteCell {
            target: WriteTarget::RoundRobin(units),
            order: Order::Linear,
            request: 1 << 20,
            seconds,
        };
        let writes = [write(1, 0.1), write(2, 0.15), write(3, 0.45)];
        let structure = Structure {
            linear: 2,
            random: 1,
            random_victim: false,
            small_up_to: 0,
            limits_seen: [true, false],
        };
        let located = WriteModel { erase_block: 4 << 20, ..WriteModel::default() };
        let model = build(&located, structure, &writes, &MissRates::new());
        let time = |line: &TimeCurve| {
            assert_eq!(line.0.len(), 1, "{line:?}");
            (line.0[0].1 * 1e6).round() / 1e6
        };
        // Three quarters of the erase block are merged in 0.3 s.
        assert_eq!([time(&model.append), time(&model.switch), time(&model.merge)], [0.1, 0.15, 0.4]);
    }

    /// All erase blocks are half as fast as usual, and each takes 0.04 s to open.
    #[test]
    fn random_merges_have_a_time_of_their_own_and_slow_blocks_do_not_change_it() {
        let write = |order, units, usual_s| WriteCell {
            target: WriteTarget::RoundRobin(units),
            order,
            request: 1 << 20,
            seconds: 2.0 * usual_s + 0.01,
        };
        let writes = [
            write(Order::Linear, 1, 0.1),
            write(Order::Linear, 2, 0.15),
            write(Order::Linear, 3, 0.45),
            write(Order::Random, 1, 0.2),
            write(Order::Random, 2, 0.7),
        ];
        let structure = Structure {
            linear: 2,
            random: 1,
            random_victim: false,
            small_up_to: 0,
            limits_seen: [true, true],
        };
        let located = WriteModel {
            erase_block: 4 << 20,
            openings: vec![OpeningRange { first: 0, end: 100, open_s: 0.04 }],
            slow_ranges: vec![SlowRange { first: 0, end: 100, factor: 2.0 }],
            ..WriteModel::default()
        };
        let model = build(&located, structure, &writes, &MissRates::new());
        // A random write beyond the limit merges the whole block, a sequential one three quarters of it.
        let curves = [&model.append, &model.switch, &model.jump, &model.merge, &model.random_merge];
        for (curve, seconds) in curves.into_iter().zip([0.1, 0.15, 0.2, 0.4, 0.5]) {
            assert!((curve.extrapolated(1 << 20) - seconds).abs() < 1e-9, "{seconds}: {model:?}");
        }
    }

    #[test]
    fn small_writes_have_a_time_of_their_own_and_one_for_each_byte() {
        let write = |kib: u64| WriteCell {
            target: WriteTarget::RoundRobin(2),
            order: Order::Random,
            request: kib << 10,
            seconds: 0.005 + 1e-7 * bytes_f64(kib << 10),
        };
        let structure = Structure {
            linear: 2,
            random: 2,
            random_victim: false,
            small_up_to: 64 << 10,
            limits_seen: [false, false],
        };
        let located = WriteModel { erase_block: 4 << 20, ..WriteModel::default() };
        let model = build(&located, structure, &[16, 32, 64].map(write), &MissRates::new());
        let small = model.small.unwrap();
        assert_eq!(small.up_to, 64 << 10);
        let is_met = (small.write_s - 0.005).abs() < 1e-9 && (small.per_byte_s - 1e-7).abs() < 1e-12;
        assert!(is_met, "{small:?}");
    }
}
