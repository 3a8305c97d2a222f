//! Fewer numbers: what is missed least goes first.

use crate::draft::{Draft, Misses, Write};

/// A number whose lack costs less than this, in summed logarithms of error, goes even if there is room for it.
const NEEDLESS: f64 = 0.02;

/// Takes numbers away until the budget is met and each of those left is needed.
pub(super) fn prune(draft: &mut Draft, writes: &[Write], misses: &Misses, budget: usize) {
    let count = f64::from(u32::try_from(writes.len()).unwrap_or(u32::MAX)).max(1.0);
    let mut loss = draft.loss(writes, misses);
    loop {
        let candidates = simpler(draft).into_iter().map(|simpler| {
            let saved = draft.parameters().saturating_sub(simpler.parameters());
            let rise = simpler.loss(writes, misses) - loss;
            (rise * count / f64::from(u32::try_from(saved.max(1)).unwrap_or(1)), rise, simpler)
        });
        let Some((cost, rise, best)) = candidates.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        if draft.parameters() <= budget && cost > NEEDLESS {
            return;
        }
        *draft = best;
        loss += rise;
    }
}

/// One of a draft's lines.
type Points = fn(&mut Draft) -> &mut Vec<(u64, f64)>;

/// Every draft that lacks one number, or one line or place as a whole.
fn simpler(draft: &Draft) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let lines: [Points; 5] = [
        |draft| &mut draft.append.0,
        |draft| &mut draft.switch.0,
        |draft| &mut draft.jump.0,
        |draft| &mut draft.merge.0,
        |draft| &mut draft.random_merge.0,
    ];
    for (index, line) in lines.into_iter().enumerate() {
        let points = line(&mut draft.clone()).len();
        let optional = index == 1 || index == 2;
        let assumed = index < 3 && draft.assumed > 0;
        for at in (0..points).filter(|_| points > 1 && !assumed) {
            let mut without = draft.clone();
            line(&mut without).remove(at);
            drafts.push(without);
        }
        if optional && points > 0 && !assumed {
            let mut without = draft.clone();
            line(&mut without).clear();
            drafts.push(without);
        }
    }
    drafts.extend((0..draft.places.len()).map(|at| {
        let mut without = draft.clone();
        without.places.remove(at);
        without
    }));
    drafts.extend((0..draft.slow.len()).map(|at| {
        let mut without = draft.clone();
        without.slow.remove(at);
        without
    }));
    if draft.open_s != 0.0 {
        drafts.push(Draft { open_s: 0.0, ..draft.clone() });
    }
    drafts
}
