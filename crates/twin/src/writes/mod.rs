//! Writes: which structure of open units explains them, and with which numbers.

mod build;
mod places;
mod prune;
mod typical;

use crate::draft::{Draft, Misses, Write};
use build::Structure;

/// What a number must save, in summed logarithms of error, to be worth having.
const WORTH: f64 = 0.1;

/// Fits writes with at most `budget` numbers; `None` without writes.
pub(crate) fn fit(writes: &[Write], erase_block: u64, budget: usize) -> Option<Draft> {
    if writes.is_empty() {
        return None;
    }
    let misses = Misses::new();
    let empty = Draft { erase_block, cells: writes.len(), ..Draft::default() };
    let mut drafts = typical::all(&empty, writes, &misses);
    // Without a write that goes on in its unit nothing says what a write takes by itself.
    if writes.iter().any(|write| write.is_linear() || !write.switches()) {
        let placed = places::find(&empty, writes);
        let built = Structure::all(writes)
            .into_iter()
            .map(|structure| build::build(&placed, structure, writes, &misses));
        drafts.extend(cheapest(built, writes, &misses));
    }
    for draft in &mut drafts {
        prune::prune(draft, writes, &misses, budget);
    }
    cheapest(drafts.into_iter().filter(|draft| draft.parameters() <= budget), writes, &misses)
}

/// The draft with the least error, its numbers counted against it.
fn cheapest(drafts: impl Iterator<Item = Draft>, writes: &[Write], misses: &Misses) -> Option<Draft> {
    drafts.min_by(|a, b| cost(a, writes, misses).total_cmp(&cost(b, writes, misses)))
}

fn cost(draft: &Draft, writes: &[Write], misses: &Misses) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    draft.loss(writes, misses) + WORTH * count(draft.parameters()) / count(writes.len().max(1))
}
