//! Writes: the structure of open units that explains them best, and its parameters.

mod build;
mod locations;
mod prune;
mod typical;

use crate::measured::Known;
use crate::write_model::{MissRates, TimeCurve, WriteCell, WriteModel};
use build::Structure;

/// The penalty of a parameter, in summed log errors. A guess.
const PARAMETER_PENALTY: f64 = 0.1;

/// The size of a curve's only point if it is a constant.
const SECTOR: u64 = 512;

/// Fits writes with at most `budget` parameters, beside those that are known; `None` without writes.
pub(crate) fn fit(writes: &[WriteCell], erase_block: u64, budget: usize, known: Known) -> Option<WriteModel> {
    if writes.is_empty() {
        return None;
    }
    let misses = MissRates::new();
    let empty = WriteModel { erase_block, cells: writes.len(), ..WriteModel::default() };
    let mut models = typical::all(&empty, writes, &misses);
    // Without a write that stays in its unit the base time is unknown.
    if writes.iter().any(|write| write.is_linear() || !write.switches()) {
        let located = locations::find(&empty, writes);
        let built = Structure::all(writes, known)
            .into_iter()
            .map(|structure| build::build(&located, structure, writes, &misses));
        models.extend(cheapest(built, writes, &misses));
    }
    for model in &mut models {
        keep_known(model, known);
        prune::prune(model, writes, &misses, budget);
    }
    cheapest(models.into_iter().filter(|model| model.parameters() <= budget), writes, &misses)
}

/// Takes over what is known: limits of open units, and one time for all merges. The other limit follows if
/// only one is known: random writes have at most as many open units as sequential ones.
fn keep_known(model: &mut WriteModel, known: Known) {
    let least = known.open_units_random.unwrap_or(1);
    model.open_linear = known.open_units_linear.unwrap_or(model.open_linear.max(least));
    model.open_random = known.open_units_random.unwrap_or(model.open_random).min(model.open_linear);
    for (seen, found) in model.limits_seen.iter_mut().zip([known.open_units_linear, known.open_units_random])
    {
        *seen |= found.is_some();
        model.known += usize::from(found.is_some());
    }
    if let Some(merge_s) = known.merge_s {
        let constant = TimeCurve(vec![(SECTOR, merge_s)]);
        (model.merge, model.random_merge) = (constant.clone(), constant);
        model.known += 2;
    }
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

#[cfg(test)]
mod tests {
    use flashscope_record::observation::Order;

    use super::*;
    use crate::write_model::WriteTarget;

    /// The times by size are not those of a typical card, and no scale makes them so.
    #[test]
    fn writes_that_are_all_round_robin_or_all_random_have_their_own_times_by_size() {
        for (units, order) in [(2, Order::Linear), (1, Order::Random)] {
            let times: [(u64, f64); 3] = [(64 << 10, 0.01), (256 << 10, 0.09), (1 << 20, 0.1)];
            let target = WriteTarget::RoundRobin(units);
            let writes = times.map(|(request, seconds)| WriteCell { target, order, request, seconds });
            let model = fit(&writes, 4 << 20, 100, Known::default()).unwrap();
            for write in &writes {
                let predicted_s = model.predicted_s(write, &MissRates::new());
                assert!((predicted_s - write.seconds).abs() < 1e-9, "{write:?}: {predicted_s}");
            }
        }
    }

    /// Up to three erase blocks were written, too few times to fit a number: the times are the typical ones.
    #[test]
    fn random_writes_have_at_most_as_many_open_units_as_sequential_ones() {
        let write = |units| WriteCell {
            target: WriteTarget::RoundRobin(units),
            order: Order::Linear,
            request: 64 << 10,
            seconds: 0.016,
        };
        let writes = [1, 2, 3].map(write);
        let limits = |open_units_linear, open_units_random| {
            let known = Known { open_units_linear, open_units_random, ..Known::default() };
            let model = fit(&writes, 4 << 20, 0, known).unwrap();
            (model.open_linear, model.open_random)
        };
        assert_eq!(limits(None, None), (3, 3));
        assert_eq!(limits(Some(2), None), (2, 2));
        assert_eq!(limits(None, Some(5)), (5, 5));
        assert_eq!(limits(Some(4), Some(2)), (4, 2));
        assert_eq!(limits(Some(2), Some(4)), (2, 2));
    }
}
