//! Writes: the structure of open units that explains them best, and its parameters.

mod build;
mod locations;
mod prune;
mod typical;

use crate::write_model::{MissRates, WriteCell, WriteModel};
use build::Structure;

/// The penalty of a parameter, in summed log errors. A guess.
const PARAMETER_PENALTY: f64 = 0.1;

/// Fits writes with at most `budget` parameters; `None` without writes.
pub(crate) fn fit(writes: &[WriteCell], erase_block: u64, budget: usize) -> Option<WriteModel> {
    if writes.is_empty() {
        return None;
    }
    let misses = MissRates::new();
    let empty = WriteModel { erase_block, cells: writes.len(), ..WriteModel::default() };
    let mut models = typical::all(&empty, writes, &misses);
    // Without a write that stays in its unit the base time is unknown.
    if writes.iter().any(|write| write.is_linear() || !write.switches()) {
        let located = locations::find(&empty, writes);
        let built = Structure::all(writes)
            .into_iter()
            .map(|structure| build::build(&located, structure, writes, &misses));
        models.extend(cheapest(built, writes, &misses));
    }
    for model in &mut models {
        prune::prune(model, writes, &misses, budget);
    }
    cheapest(models.into_iter().filter(|model| model.parameters() <= budget), writes, &misses)
}

/// The model with the least penalized error.
fn cheapest(
    models: impl Iterator<Item = WriteModel>,
    writes: &[WriteCell],
    misses: &MissRates,
) -> Option<WriteModel> {
    models.min_by(|a, b| cost(a, writes, misses).total_cmp(&cost(b, writes, misses)))
}

fn cost(model: &WriteModel, writes: &[WriteCell], misses: &MissRates) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    model.loss(writes, misses) + PARAMETER_PENALTY * count(model.parameters()) / count(writes.len().max(1))
}
