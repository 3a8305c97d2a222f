//! The names of changes, and ratios as text.

use flashscope_infer::trials::factorial::{
    Change, Direction, Effect, Factor, Factorial, Held, Ratio, UnknownEffect,
};

use crate::quantity;

/// A change: `alignment`, or `vfat to ext4`.
pub fn change(factorial: &Factorial, change: Change) -> String {
    let Some(factor) = factorial.factor(change) else { return String::new() };
    let level = |index: usize| factor.levels.get(index).map_or("", String::as_str);
    match factor.is_named_by_levels || factor.levels.len() > 2 {
        true => format!("{} to {}", level(0), level(change.to)),
        false => factor.name.clone(),
    }
}

/// One level of a factor: `stripe none`, or `ext4`.
pub fn setting(factorial: &Factorial, factor: usize, level: usize) -> String {
    let Some(factor) = factorial.factors.get(factor) else { return String::new() };
    settings(factor, &[level])
}

fn settings(factor: &Factor, levels: &[usize]) -> String {
    let levels = levels.iter().filter_map(|level| factor.levels.get(*level)).cloned().collect::<Vec<_>>();
    let levels = levels.join(" or ");
    if factor.is_named_by_levels { levels } else { format!("{} {levels}", factor.name) }
}

/// The levels at which a factor was held, if they are not all of its levels.
pub fn held(factorial: &Factorial, held: &Held) -> Option<String> {
    let factor = factorial.factors.get(held.factor)?;
    (held.levels.len() < factor.levels.len()).then(|| settings(factor, &held.levels))
}

/// An effect in a sentence: `2.4x`, or `no effect shown (0.97 to 1.05)`.
pub fn value(effect: &Effect) -> String {
    match &effect.outcome {
        Ok(ratio) if ratio.direction() == Direction::NotShown => {
            format!("no effect shown ({})", interval(ratio))
        }
        Ok(ratio) => times(ratio.ratio),
        Err(reason) => format!("unknown ({})", unknown(*reason)),
    }
}

/// A ratio: `1.07x`, `2.4x`, `14x`.
pub fn times(ratio: f64) -> String {
    // One decimal would write 1.07 as 1.1, and 0.96 as 1.0.
    let text = if ratio < 1.195 { format!("{ratio:.2}") } else { quantity::ratio(ratio) };
    format!("{text}x")
}

/// An interval of ratios: `0.97 to 1.05`.
pub fn interval(ratio: &Ratio) -> String {
    format!("{} to {}", precise(ratio.low), precise(ratio.high))
}

/// A ratio with the digits of [`interval`], so that it lies inside.
pub fn precise(ratio: f64) -> String {
    if ratio < 9.995 { format!("{ratio:.2}") } else { quantity::three_digits(ratio) }
}

/// Why an effect is unknown.
pub const fn unknown(reason: UnknownEffect) -> &'static str {
    match reason {
        UnknownEffect::NoCells => "not every combination exists",
        UnknownEffect::NotConnected => "no round has all that it compares",
        UnknownEffect::NoSpread => "too few rounds",
    }
}
