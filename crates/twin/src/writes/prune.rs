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

#[cfg(test)]
mod tests {
    use flashscope_record::observation::Order;

    use super::*;
    use crate::write_model::{TimeCurve, WriteTarget};

    /// What is left of these times of sequential writes by their size, if each is a number of the model.
    fn pruned(points: &[(u64, f64)], budget: usize) -> Vec<(u64, f64)> {
        pruned_beside(points, &[], budget)
    }

    /// The same with other writes, which are no numbers of the model.
    fn pruned_beside(points: &[(u64, f64)], others: &[(u64, f64)], budget: usize) -> Vec<(u64, f64)> {
        let write = |(request, seconds): &(u64, f64)| WriteCell {
            target: WriteTarget::RoundRobin(1),
            order: Order::Linear,
            request: *request,
            seconds: *seconds,
        };
        let writes: Vec<WriteCell> = points.iter().chain(others).map(write).collect();
        let mut model = WriteModel {
            erase_block: 4 << 20,
            open_linear: 1,
            open_random: 1,
            append: TimeCurve(points.to_vec()),
            ..WriteModel::default()
        };
        prune(&mut model, &writes, &MissRates::new(), budget);
        model.append.0
    }

    #[test]
    fn numbers_are_removed_down_to_the_budget_and_below_it_if_they_have_no_effect() {
        let bent: [(u64, f64); 3] = [(64 << 10, 0.01), (256 << 10, 0.09), (1 << 20, 0.1)];
        assert_eq!(pruned(&bent, 3), bent);
        assert_eq!(pruned(&bent, 2).len(), 2);
        let straight: [(u64, f64); 3] = [(1 << 18, 0.02), (2 << 18, 0.03), (3 << 18, 0.04)];
        assert_eq!(pruned(&straight, 3).len(), 2, "two points are a line");
        let nearly_straight: [(u64, f64); 3] = [(1 << 18, 0.02), (2 << 18, 0.0302), (3 << 18, 0.04)];
        let ends = [nearly_straight[0], nearly_straight[2]];
        assert_eq!(pruned(&nearly_straight, 3), ends, "0.7 % of one write are no effect");
        // Its time is 25 times what any of the numbers says.
        let other = [(3 << 18, 1.0)];
        assert_eq!(pruned_beside(&nearly_straight, &other, 3), ends, "no number explains the other write");
    }
}
