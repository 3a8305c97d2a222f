//! Where a log has too few cells for numbers of its own: the times of a typical card, as a whole or by a factor.

use crate::draft::{Draft, Line, Misses, Write};
use crate::summary::median;
use crate::writes::build::medians;

/// A card of class 4 to 10 in about 2011: 1.5 ms a command and 10 MB/s (the wirenboard logs' medians, rounded).
pub(crate) fn append() -> Line {
    Line(vec![(4 << 10, 1.9e-3), (1 << 20, 106e-3)])
}

/// The same card out of order: the published cards' jumps, rounded.
fn jump() -> Line {
    Line(vec![(4 << 10, 5e-3), (64 << 10, 16e-3), (512 << 10, 95e-3), (4 << 20, 500e-3)])
}

/// All typical cards that these writes could tell apart: as it is or scaled, with a wall or without.
pub(super) fn all(empty: &Draft, writes: &[Write], misses: &Misses) -> Vec<Draft> {
    let most = writes.iter().map(Write::in_turn).max().unwrap_or(1);
    let least = writes.iter().map(Write::in_turn).min().unwrap_or(1);
    let plain = Draft {
        append: append(),
        switch: jump(),
        jump: jump(),
        assumed: append().0.len() + 2 * jump().0.len(),
        open_linear: most,
        open_random: most,
        ..empty.clone()
    };
    let mut drafts = vec![plain.clone(), scaled(&plain, writes, misses)];
    for open in 1..most {
        // Without a row below the wall its place is a guess, and only the time of a merge is a choice.
        let seen = open >= least;
        if !seen && open != 1 {
            continue;
        }
        let walled = Draft { open_linear: open, open_random: open, walls: [seen, false], ..plain.clone() };
        drafts.extend([
            with_merge(&walled, writes, misses),
            with_merge(&scaled(&walled, writes, misses), writes, misses),
        ]);
    }
    drafts
}

/// All times by one factor, which is one choice.
fn scaled(plain: &Draft, writes: &[Write], misses: &Misses) -> Draft {
    let base = writes.iter().filter(|write| plain.merges(write, misses) == 0.0);
    let factor = median(base.map(|write| write.seconds / plain.base_s(write))).unwrap_or(1.0);
    let scale = |line: &Line| Line(line.0.iter().map(|(size, s)| (*size, s * factor)).collect());
    Draft {
        append: scale(&plain.append),
        switch: scale(&plain.switch),
        jump: scale(&plain.jump),
        assumed: plain.assumed.saturating_sub(1),
        ..plain.clone()
    }
}

/// A time of a merge for each size. (Too many are taken away again later.)
fn with_merge(walled: &Draft, writes: &[Write], misses: &Misses) -> Draft {
    let merging = writes.iter().filter(|write| walled.merges(write, misses) > 0.0);
    let left = |write: &Write| {
        (write.request, ((write.seconds - walled.base_s(write)) / walled.share_left(write)).max(0.0))
    };
    let merge = medians(merging.map(left));
    let linear = writes.iter().any(Write::is_linear);
    let random = writes.iter().any(|write| !write.is_linear());
    let only = |seen: bool| if seen { merge.clone() } else { Line::default() };
    Draft { merge: only(linear), random_merge: only(random), ..walled.clone() }
}
