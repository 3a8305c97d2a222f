//! The answer of a factorial experiment in one sentence.

use flashscope_infer::trials::factorial::{Change, Direction, Effect, EffectKind, Factorial, Ratio};

use super::names;
use crate::words::Sentence;

/// The least ratio, either way, that pays or hurts. Policy: nobody formats a stick anew for less than 10 %.
const MATTERS_MIN: f64 = 1.1;
/// The largest end of an interval, either way, of what does not matter. Policy: as for advice of ext4.
const SMALL_MAX: f64 = 1.2;
/// What is said if the intervals are too wide for an answer.
const MORE_ROUNDS: &str = "more rounds would decide";

/// The answer, and one sentence for each further pair of factors whose gains depend on each other.
pub fn sentences(factorial: &Factorial) -> Vec<Sentence> {
    let lead = lead_pair(factorial);
    let rest = mains(factorial).filter(|(change, _)| {
        lead.is_none_or(|(first, second)| change.factor != first.factor && change.factor != second.factor)
    });
    let rest =
        rest.map(|(change, effect)| format!("{} {}", names::change(factorial, change), names::value(effect)));
    let clauses = lead.and_then(|lead| pair_clause(factorial, lead)).into_iter().chain(rest);
    let answer = Sentence::new(clauses.collect::<Vec<_>>().join("; "));
    let further = pairs(factorial).filter(|pair| Some(*pair) != lead);
    std::iter::once(answer).chain(further.filter_map(|pair| dependence(factorial, pair))).collect()
}

fn mains(factorial: &Factorial) -> impl Iterator<Item = (Change, &Effect)> {
    factorial.effects.iter().filter_map(|effect| match effect.kind {
        EffectKind::Main(change) => Some((change, effect)),
        _ => None,
    })
}

/// The pairs of changes of which all four combinations exist.
fn pairs(factorial: &Factorial) -> impl Iterator<Item = (Change, Change)> {
    factorial.effects.iter().filter_map(|effect| match effect.kind {
        EffectKind::Both(first, second) => Some((first, second)),
        _ => None,
    })
}

/// The pair that the answer is about: the first of two factors that are named as such, or the first.
fn lead_pair(factorial: &Factorial) -> Option<(Change, Change)> {
    let by_levels = |change: Change| factorial.factor(change).is_some_and(|factor| factor.is_named_by_levels);
    let named = pairs(factorial).find(|(first, second)| !by_levels(*first) && !by_levels(*second));
    named.or_else(|| pairs(factorial).next())
}

/// The four effects of a pair.
struct Pair<'a> {
    names: [String; 2],
    alone: [&'a Effect; 2],
    both: &'a Effect,
    interaction: &'a Effect,
}

impl<'a> Pair<'a> {
    fn of(factorial: &'a Factorial, (first, second): (Change, Change)) -> Option<Self> {
        let effect = |kind: EffectKind| factorial.effect(&kind);
        Some(Self {
            names: [first, second].map(|change| names::change(factorial, change)),
            alone: [
                effect(EffectKind::Alone { change: first, without: second })?,
                effect(EffectKind::Alone { change: second, without: first })?,
            ],
            both: effect(EffectKind::Both(first, second))?,
            interaction: effect(EffectKind::Interaction(first, second))?,
        })
    }

    /// What the four effects mean; `None` if one of the first three is unknown.
    fn conclusion(&self) -> Option<String> {
        use Direction::{Faster, NotShown, Slower};
        let [first, second] = &self.names;
        let both = weight(self.both)?;
        let interaction = weight(self.interaction).unwrap_or(NotShown);
        let alone = (weight(self.alone[0])?, weight(self.alone[1])?);
        Some(match alone {
            (Faster, Faster | NotShown) | (NotShown, Faster) if both == NotShown => MORE_ROUNDS.to_owned(),
            (Faster, Faster | NotShown) | (NotShown, Faster) if both == Slower => {
                "one pays alone, together they hurt".to_owned()
            }
            (Faster, Faster) => match interaction {
                Faster => "each pays alone, and more with the other".to_owned(),
                Slower => "each pays alone, but less with the other".to_owned(),
                NotShown => "each pays alone".to_owned(),
            },
            (Faster, NotShown) => one_pays(first, second, interaction),
            (NotShown, Faster) => one_pays(second, first, interaction),
            (NotShown, NotShown) => self.nothing_alone(both, interaction),
            (Slower, Slower) if both == Faster => "each hurts alone; they only pay together".to_owned(),
            (Slower, Slower) => "each hurts".to_owned(),
            (Slower, other) => one_hurts(first, second, other, both),
            (other, Slower) => one_hurts(second, first, other, both),
        })
    }

    fn nothing_alone(&self, both: Direction, interaction: Direction) -> String {
        let is_small = |effect: &&Effect| effect.outcome.as_ref().is_ok_and(is_small);
        match (both, interaction) {
            (Direction::Faster, Direction::Faster) => "they only pay together".to_owned(),
            (Direction::Faster, _) => "they pay together; the share of each is not clear".to_owned(),
            (Direction::Slower, _) => "together they hurt".to_owned(),
            (Direction::NotShown, _) if [self.alone[0], self.alone[1], self.both].iter().all(is_small) => {
                "neither matters".to_owned()
            }
            (Direction::NotShown, _) => MORE_ROUNDS.to_owned(),
        }
    }
}

/// The direction of an effect that is shown and matters; `None` if it is unknown.
fn weight(effect: &Effect) -> Option<Direction> {
    let ratio = effect.outcome.as_ref().ok()?;
    let matters = ratio.ratio.max(1.0 / ratio.ratio) >= MATTERS_MIN && !is_small(ratio);
    Some(if matters { ratio.direction() } else { Direction::NotShown })
}

/// Whether the whole interval is too near to 1 to matter.
fn is_small(ratio: &Ratio) -> bool {
    ratio.low > 1.0 / SMALL_MAX && ratio.high < SMALL_MAX
}

fn one_pays(paying: &str, other: &str, interaction: Direction) -> String {
    match interaction {
        Direction::Faster => format!("{other} pays only with {paying}"),
        Direction::Slower => format!("{paying} pays less with {other}"),
        Direction::NotShown => format!("only {paying} pays"),
    }
}

fn one_hurts(hurting: &str, other: &str, effect: Direction, both: Direction) -> String {
    match (effect, both) {
        (Direction::Faster, _) => format!("{other} pays, {hurting} alone hurts"),
        (_, Direction::Faster) => format!("{hurting} alone hurts; they only pay together"),
        _ => format!("{hurting} hurts"),
    }
}

fn pair_clause(factorial: &Factorial, pair: (Change, Change)) -> Option<String> {
    let pair = Pair::of(factorial, pair)?;
    let [first, second] = &pair.names;
    let [first_value, second_value] = pair.alone.map(names::value);
    let both = names::value(pair.both);
    let conclusion = pair.conclusion().map_or_else(String::new, |conclusion| format!(": {conclusion}"));
    Some(format!("{first} alone {first_value}, {second} alone {second_value}, both {both}{conclusion}"))
}

/// How much the gain of the first change depends on the second, if that is shown.
fn dependence(factorial: &Factorial, (first, second): (Change, Change)) -> Option<Sentence> {
    let effect = factorial.effect(&EffectKind::Interaction(first, second))?;
    let ratio = effect.outcome.as_ref().ok()?;
    (weight(effect)? != Direction::NotShown).then(|| {
        Sentence::new(format!(
            "the gain of {} is {} times as large with {} as with {} ({})",
            names::change(factorial, first),
            names::precise(ratio.ratio),
            names::setting(factorial, second.factor, second.to),
            names::setting(factorial, second.factor, 0),
            names::interval(ratio)
        ))
    })
}
