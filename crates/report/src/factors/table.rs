//! The table of effects.

use flashscope_infer::trials::factorial::{Effect, EffectKind, Factorial};

use super::names;
use crate::chart::Table;

/// Every effect, one a row.
pub fn table(factorial: &Factorial) -> Table {
    let header = ["effect", "times as fast", "95 % interval", "with"].map(str::to_owned).to_vec();
    let row = |(index, effect): (usize, &Effect)| {
        let (ratio, interval) = match &effect.outcome {
            Ok(ratio) => (format!("{}x", names::precise(ratio.ratio)), names::interval(ratio)),
            Err(reason) => ("unknown".to_owned(), names::unknown(*reason).to_owned()),
        };
        vec![
            format!("{} {}", index + 1, name(factorial, &effect.kind)),
            ratio,
            interval,
            with(factorial, effect),
        ]
    };
    let rows = factorial.effects.iter().enumerate().map(row).collect();
    Table { header, rows }.without_empty_columns()
}

/// The name of an effect: `alignment alone`; `alignment × stripe` is an interaction.
pub fn name(factorial: &Factorial, kind: &EffectKind) -> String {
    let change = |change| names::change(factorial, change);
    match *kind {
        EffectKind::Main(only) if factorial.factors.len() == 1 => change(only),
        EffectKind::Main(first) => format!("{}, mean", change(first)),
        EffectKind::Alone { change: first, .. } => format!("{} alone", change(first)),
        EffectKind::Both(first, second) => format!("{} and {}", change(first), change(second)),
        EffectKind::Interaction(first, second) => {
            format!("{} × {}", change(first), change(second))
        }
    }
}

/// The levels that an effect is limited to.
fn with(factorial: &Factorial, effect: &Effect) -> String {
    let without = match effect.kind {
        EffectKind::Alone { without, .. } => Some(names::setting(factorial, without.factor, 0)),
        _ => None,
    };
    let held = effect.held.iter().filter_map(|held| names::held(factorial, held));
    without.into_iter().chain(held).collect::<Vec<_>>().join(", ")
}
