//! Pruning: removes the parameters with the least effect on the error.

use crate::write_model::{MissRates, WriteCell, WriteModel};

/// A parameter with a smaller effect, in summed log errors, is removed even within the budget. A guess.
const EFFECT_MIN: f64 = 0.02;

/// Removes parameters until the budget is met and each of the rest has an effect.
pub(super) fn prune(model: &mut WriteModel, writes: &[WriteCell], misses: &MissRates, budget: usize) {
    let count = f64::from(u32::try_from(writes.len()).unwrap_or(u32::MAX)).max(1.0);
    let mut loss = model.loss(writes, misses);
    loop {
        let candidates = simpler(model).into_iter().map(|simpler| {
            let saved = model.parameters().saturating_sub(simpler.parameters());
            let rise = simpler.loss(writes, misses) - loss;
            (rise * count / f64::from(u32::try_from(saved.max(1)).unwrap_or(1)), rise, simpler)
        });
        let Some((cost, rise, best)) = candidates.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        if model.parameters() <= budget && cost > EFFECT_MIN {
            return;
        }
        *model = best;
        loss += rise;
    }
}

/// Access to one of a model's curves.
type CurveOf = fn(&mut WriteModel) -> &mut Vec<(u64, f64)>;

/// Every model without one point, one optional curve, or one location effect.
fn simpler(model: &WriteModel) -> Vec<WriteModel> {
    let mut models = Vec::new();
    let curves: [CurveOf; 5] = [
        |model| &mut model.append.0,
        |model| &mut model.switch.0,
        |model| &mut model.jump.0,
        |model| &mut model.merge.0,
        |model| &mut model.random_merge.0,
    ];
    for (index, curve) in curves.into_iter().enumerate() {
        let points = curve(&mut model.clone()).len();
        let optional = index == 1 || index == 2;
        let assumed = index < 3 && model.assumed > 0;
        for at in (0..points).filter(|_| points > 1 && !assumed) {
            let mut without = model.clone();
            curve(&mut without).remove(at);
            models.push(without);
        }
        if optional && points > 0 && !assumed {
            let mut without = model.clone();
            curve(&mut without).clear();
            models.push(without);
        }
    }
    models.extend((0..model.openings.len()).map(|at| {
        let mut without = model.clone();
        without.openings.remove(at);
        without
    }));
    models.extend((0..model.slow_ranges.len()).map(|at| {
        let mut without = model.clone();
        without.slow_ranges.remove(at);
        without
    }));
    if model.open_s != 0.0 {
        models.push(WriteModel { open_s: 0.0, ..model.clone() });
    }
    models
}
