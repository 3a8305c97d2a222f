//! Typical models, for logs with too few cells: the times of a typical card, as they are or scaled.

use crate::summary::median;
use crate::write_model::{MissRates, TimeCurve, WriteCell, WriteModel};
use crate::writes::build::medians;

/// A card of class 4 to 10 of about 2011: 1.5 ms a command and 10 MB/s (medians of the wirenboard logs,
/// rounded).
pub(crate) fn append() -> TimeCurve {
    TimeCurve(vec![(4 << 10, 1.9e-3), (1 << 20, 106e-3)])
}

/// Random writes of the same card: medians of the published cards, rounded.
fn jump() -> TimeCurve {
    TimeCurve(vec![(4 << 10, 5e-3), (64 << 10, 16e-3), (512 << 10, 95e-3), (4 << 20, 500e-3)])
}

/// All typical models that these writes can distinguish: as they are or scaled, with a limit of open units or
/// without.
pub(super) fn all(empty: &WriteModel, writes: &[WriteCell], misses: &MissRates) -> Vec<WriteModel> {
    let units_max = writes.iter().map(WriteCell::unit_count).max().unwrap_or(1);
    let units_min = writes.iter().map(WriteCell::unit_count).min().unwrap_or(1);
    let plain = WriteModel {
        append: append(),
        switch: jump(),
        jump: jump(),
        assumed: append().0.len() + 2 * jump().0.len(),
        open_linear: units_max,
        open_random: units_max,
        ..empty.clone()
    };
    let mut models = vec![plain.clone(), scaled(&plain, writes, misses)];
    for open in 1..units_max {
        // Without a row below the limit the limit is a guess, and only the merge time is fitted.
        let is_seen = open >= units_min;
        if !is_seen && open != 1 {
            continue;
        }
        let limited = WriteModel {
            open_linear: open,
            open_random: open,
            limits_seen: [is_seen, false],
            ..plain.clone()
        };
        models.extend([
            with_merge(&limited, writes, misses),
            with_merge(&scaled(&limited, writes, misses), writes, misses),
        ]);
    }
    models
}

/// All times scaled by one fitted factor.
fn scaled(plain: &WriteModel, writes: &[WriteCell], misses: &MissRates) -> WriteModel {
    let base = writes.iter().filter(|write| plain.merges(write, misses) == 0.0);
    let factor = median(base.map(|write| write.seconds / plain.base_s(write))).unwrap_or(1.0);
    let scale = |line: &TimeCurve| TimeCurve(line.0.iter().map(|(size, s)| (*size, s * factor)).collect());
    WriteModel {
        append: scale(&plain.append),
        switch: scale(&plain.switch),
        jump: scale(&plain.jump),
        assumed: plain.assumed.saturating_sub(1),
        ..plain.clone()
    }
}

/// With a merge time for each size. (Pruning removes needless ones.)
fn with_merge(limited: &WriteModel, writes: &[WriteCell], misses: &MissRates) -> WriteModel {
    let merging = writes.iter().filter(|write| limited.merges(write, misses) > 0.0);
    let rest = |write: &WriteCell| {
        (write.request, ((write.seconds - limited.base_s(write)) / limited.share_left(write)).max(0.0))
    };
    let merge = medians(merging.map(rest));
    let linear = writes.iter().any(WriteCell::is_linear);
    let random = writes.iter().any(|write| !write.is_linear());
    let only = |seen: bool| if seen { merge.clone() } else { TimeCurve::default() };
    WriteModel { merge: only(linear), random_merge: only(random), ..limited.clone() }
}

#[cfg(test)]
mod tests {
    use flashscope_record::observation::Order;

    use super::*;
    use crate::write_model::WriteTarget;

    /// Writes of 64 KiB take what is typical. One more erase block than two costs a merge of 0.3 s, of which
    /// a 64th is saved: the write itself is not copied.
    #[test]
    fn only_writes_beyond_the_open_units_show_what_a_merge_takes() {
        let request = 64 << 10;
        let write = |units, seconds| WriteCell {
            target: WriteTarget::RoundRobin(units),
            order: Order::Linear,
            request,
            seconds,
        };
        let (alone_s, switch_s) = (append().extrapolated(request), jump().extrapolated(request));
        let writes = [write(1, alone_s), write(2, switch_s), write(3, switch_s + 0.3 * 63.0 / 64.0)];
        let misses = MissRates::new();
        let empty = WriteModel { erase_block: 4 << 20, ..WriteModel::default() };
        let loss = |model: &WriteModel| model.loss(&writes, &misses);
        let models = all(&empty, &writes, &misses).into_iter();
        let best = models.min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
        for write in &writes {
            let predicted_s = best.predicted_s(write, &misses);
            assert!((predicted_s - write.seconds).abs() < 1e-9, "{write:?}: {predicted_s}");
        }
        assert_eq!(best.open_linear, 2);
    }
}
