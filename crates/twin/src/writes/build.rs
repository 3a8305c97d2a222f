//! The numbers of one structure, read off the cells that show each of them: medians by size.

use std::collections::BTreeMap;

use crate::draft::{Draft, Line, Misses, Small, Target, Write, bytes_f64};
use crate::summary::median;

/// Small writes on their own path were never seen above this.
const SMALL_MAX: u64 = 64 << 10;

/// What is not a number: how many units are open, which one goes, and which writes take a path of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Structure {
    linear: u32,
    random: u32,
    random_victim: bool,
    small_up_to: u64,
    walls: [bool; 2],
}

impl Structure {
    /// All that these writes could tell apart.
    pub(super) fn all(writes: &[Write]) -> Vec<Self> {
        let most = |linear: bool| {
            writes.iter().filter(|write| write.is_linear() == linear).map(Write::in_turn).max().unwrap_or(0)
        };
        let (most_linear, most_random) = (most(true), most(false));
        let most_of_all = most_linear.max(most_random).max(1);
        let smalls = small_limits(writes);
        let mut structures = Vec::new();
        for linear in 1..=most_of_all {
            for random in 1..=linear {
                let walls = [linear < most_linear, random < most_random];
                let blind = (linear > most_linear && linear != most_of_all)
                    || (random < linear && random >= most_random.max(1));
                for small_up_to in smalls.iter().copied().filter(|_| !blind) {
                    structures.push(Self { linear, random, random_victim: false, small_up_to, walls });
                    if walls != [false, false] {
                        structures.push(Self { linear, random, random_victim: true, small_up_to, walls });
                    }
                }
            }
        }
        structures
    }
}

/// Sizes up to which writes may have a path of their own: only among different numbers of units can that be seen.
fn small_limits(writes: &[Write]) -> Vec<u64> {
    let apart = |write: &&Write| !write.is_linear() || write.switches();
    let mut seen: Vec<(u64, u32)> = writes
        .iter()
        .filter(|write| apart(write) && write.request <= SMALL_MAX)
        .map(|write| (write.request, write.in_turn()))
        .collect();
    seen.sort_unstable();
    seen.dedup();
    let several = seen.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1).map(|alike| alike[0].0);
    std::iter::once(0).chain(several).collect()
}

/// Reads the numbers of a structure off the writes.
pub(super) fn build(placed: &Draft, structure: Structure, writes: &[Write], misses: &Misses) -> Draft {
    let mut draft = Draft {
        open_linear: structure.linear,
        open_random: structure.random,
        random_victim: structure.random_victim,
        walls: structure.walls,
        ..placed.clone()
    };
    draft.small = small(&draft, structure.small_up_to, writes);
    let large: Vec<&Write> = writes.iter().filter(|write| !draft.is_small(write)).collect();
    draft.append = append(&draft, &large);
    draft.switch = line(
        large.iter().filter(|write| {
            let within = write.is_linear() && write.in_turn() <= draft.open_linear || whole(&draft, write);
            write.switches() && within
        }),
        |write| clean(&draft, write),
    );
    draft.jump = jump(&draft, &large);
    or_append(&mut draft);
    draft.merge = merges(&draft, &large, misses, true);
    draft.random_merge = merges(&draft, &large, misses, false);
    draft
}

/// The time of a write without what its place adds.
fn clean(draft: &Draft, write: &Write) -> f64 {
    ((write.seconds - draft.begin_s(write)) / draft.factor(write)).max(write.seconds / 100.0)
}

fn whole(draft: &Draft, write: &Write) -> bool {
    write.request >= draft.erase_block
}

fn append(draft: &Draft, large: &[&Write]) -> Line {
    line(
        large.iter().filter(|write| !write.switches() && (write.is_linear() || whole(draft, write))),
        |write| clean(draft, write),
    )
}

/// Alone in its unit, a jump shows as it is; among several units, only where it takes longer than the switch.
fn jump(draft: &Draft, large: &[&Write]) -> Line {
    const CLEAR: f64 = 1.1;
    let jumps = |write: &Write| !write.is_linear() && !whole(draft, write);
    let alone = large.iter().any(|write| jumps(write) && !write.switches());
    let shows = |write: &Write| {
        let switch_s = draft.switch.rising(write.request);
        !write.switches() || clean(draft, write) > CLEAR * switch_s || !alone && switch_s == 0.0
    };
    line(
        large.iter().filter(|write| jumps(write) && write.in_turn() <= draft.open_random && shows(write)),
        |write| clean(draft, write),
    )
}

/// Without writes that go on, the next best thing stands for them.
fn or_append(draft: &mut Draft) {
    if !draft.append.0.is_empty() {
        return;
    }
    let other = [&draft.switch, &draft.jump].into_iter().find(|line| !line.0.is_empty()).cloned();
    draft.append = other.unwrap_or_else(super::typical::append);
    draft.assumed += draft.append.0.len();
}

/// What is left of each write beyond the open units once its base is taken away, as one whole merge.
fn merges(draft: &Draft, large: &[&Write], misses: &Misses, linear: bool) -> Line {
    let merging = |write: &&&Write| write.is_linear() == linear && draft.merges(write, misses) > 0.0;
    medians(large.iter().filter(merging).map(|write| {
        let merges = draft.merges(write, misses);
        let left = clean(draft, write) - draft.base_s(write);
        (draft.held(write, merges), (left / merges / draft.share_left(write)).max(0.0))
    }))
}

fn small(draft: &Draft, up_to: u64, writes: &[Write]) -> Option<Small> {
    let named = Draft { small: Some(Small { up_to, write_s: 0.0, per_byte_s: 0.0 }), ..draft.clone() };
    let seen: Vec<&Write> = writes.iter().filter(|write| named.is_small(write)).collect();
    let Line(points) = line(seen.iter(), |write| write.seconds);
    let (first, last) = (*points.first()?, *points.last()?);
    let per_byte_s =
        if last.0 > first.0 { ((last.1 - first.1) / bytes_f64(last.0 - first.0)).max(0.0) } else { 0.0 };
    let rest = |write: &&Write| (write.seconds - per_byte_s * bytes_f64(write.request)).max(1e-6);
    Some(Small { up_to, write_s: median(seen.iter().map(rest))?, per_byte_s })
}

/// The median of `time` at each size.
fn line<'a>(writes: impl Iterator<Item = &'a &'a Write>, time: impl Fn(&Write) -> f64) -> Line {
    medians(writes.map(|write| (write.request, time(write))))
}

/// The median of the times of each size.
pub(super) fn medians(times: impl Iterator<Item = (u64, f64)>) -> Line {
    let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (size, time) in times {
        by_size.entry(size).or_default().push(time);
    }
    Line(by_size.into_iter().filter_map(|(size, times)| Some((size, median(times)?))).collect())
}

/// The medians by size of writes alone in units that `which` picks.
pub(super) fn alone(writes: &[Write], which: impl Fn(Target) -> bool) -> Line {
    let picked: Vec<&Write> =
        writes.iter().filter(|write| write.is_linear() && !write.switches() && which(write.place)).collect();
    line(picked.iter(), |write| write.seconds)
}
