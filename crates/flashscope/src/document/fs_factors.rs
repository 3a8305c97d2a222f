//! The document of `fs compare --factors`.

use flashscope_infer::trials::factorial::{Change, Effect, EffectKind, Factorial, UnknownEffect};
use flashscope_record::{Trial, TrialOperation, TrialWorkload};
use flashscope_report::factors::Experiment;
use schemars::JsonSchema;
use serde::Serialize;

use super::body::Body;

/// Which factors matter, alone and together.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FsFactorsDocument {
    /// The target as it was typed.
    pub target: String,
    /// The device in one line.
    pub device: String,
    /// One element for each kind of files and direction.
    pub experiments: Vec<FactorialDocument>,
    /// All trials that succeeded.
    pub trials: Vec<Trial>,
    /// One sentence for each trial that failed.
    pub failures: Vec<String>,
    /// What does not fit the stick, and other conditions.
    pub notes: Vec<String>,
}

/// One factorial experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FactorialDocument {
    /// The files.
    pub workload: TrialWorkload,
    /// The direction.
    pub operation: TrialOperation,
    /// The answer in sentences.
    pub sentences: Vec<String>,
    /// The number of rounds.
    pub rounds: usize,
    /// The standard deviation of the logarithm of a time between rounds; null with too few rounds.
    pub deviation: Option<f64>,
    /// The relative error of a ratio of two times that more rounds do not reduce. It is in the intervals.
    pub error: f64,
    /// The effects.
    pub effects: Vec<EffectDocument>,
}

/// How many times as fast a change makes the work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EffectDocument {
    /// What it compares.
    pub kind: EffectKindDocument,
    /// The change, or both changes.
    pub changes: Vec<ChangeDocument>,
    /// The levels of other factors; the effect is the mean over them.
    pub with: Vec<LevelsDocument>,
    /// The time before over the time after; of an interaction, the ratio of two such ratios. Null if unknown.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The degrees of freedom of the spread in the interval.
    pub freedom: Option<f64>,
    /// Why it is unknown; null if it is known.
    pub unknown: Option<UnknownEffectDocument>,
}

/// What an effect compares.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKindDocument {
    /// One change, averaged over the other factors.
    Main,
    /// The first change without the second.
    Alone,
    /// Both changes at once.
    Both,
    /// How many times as much the first change gains after the second.
    Interaction,
}

/// A change of a factor.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangeDocument {
    /// The factor.
    pub factor: String,
    /// The level before.
    pub from: String,
    /// The level after.
    pub to: String,
}

/// Levels of a factor.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LevelsDocument {
    /// The factor.
    pub factor: String,
    /// Its levels.
    pub levels: Vec<String>,
}

/// Why an effect is unknown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownEffectDocument {
    /// Not every combination of levels exists.
    NoCells,
    /// No round has all that it compares.
    NotConnected,
    /// There are too few rounds.
    NoSpread,
}

impl Body for FsFactorsDocument {
    const NAME: &'static str = "fs-factors";
    const COMMANDS: &'static str = "fs compare --factors";
}

impl FactorialDocument {
    /// The document of an experiment.
    pub fn new(workload: TrialWorkload, operation: TrialOperation, experiment: &Experiment) -> Self {
        let factorial = &experiment.factorial;
        let sentences = experiment.sentences();
        Self {
            workload,
            operation,
            sentences: sentences.iter().map(|sentence| sentence.as_str().to_owned()).collect(),
            rounds: factorial.blocks,
            deviation: factorial.deviation,
            error: factorial.error,
            effects: factorial.effects.iter().map(|effect| EffectDocument::new(factorial, effect)).collect(),
        }
    }
}

impl EffectDocument {
    fn new(factorial: &Factorial, effect: &Effect) -> Self {
        let (kind, changes) = match effect.kind {
            EffectKind::Main(change) => (EffectKindDocument::Main, vec![change]),
            EffectKind::Alone { change, without } => (EffectKindDocument::Alone, vec![change, without]),
            EffectKind::Both(first, second) => (EffectKindDocument::Both, vec![first, second]),
            EffectKind::Interaction(first, second) => (EffectKindDocument::Interaction, vec![first, second]),
        };
        let known = effect.outcome.ok();
        Self {
            kind,
            changes: changes
                .into_iter()
                .filter_map(|change| ChangeDocument::new(factorial, change))
                .collect(),
            with: effect.held.iter().map(|held| levels(factorial, held.factor, &held.levels)).collect(),
            ratio: known.map(|ratio| ratio.ratio),
            low: known.map(|ratio| ratio.low),
            high: known.map(|ratio| ratio.high),
            freedom: known.map(|ratio| ratio.freedom),
            unknown: effect.outcome.err().map(Into::into),
        }
    }
}

fn levels(factorial: &Factorial, factor: usize, levels: &[usize]) -> LevelsDocument {
    let names = factorial.factors.get(factor).map_or(&[][..], |factor| factor.levels.as_slice());
    let factor = factorial.factors.get(factor).map_or_else(String::new, |factor| factor.name.clone());
    LevelsDocument { factor, levels: levels.iter().filter_map(|level| names.get(*level)).cloned().collect() }
}

impl ChangeDocument {
    fn new(factorial: &Factorial, change: Change) -> Option<Self> {
        let factor = factorial.factor(change)?;
        let (from, to) = (factor.levels.first()?.clone(), factor.levels.get(change.to)?.clone());
        Some(Self { factor: factor.name.clone(), from, to })
    }
}

impl From<UnknownEffect> for UnknownEffectDocument {
    fn from(reason: UnknownEffect) -> Self {
        match reason {
            UnknownEffect::NoCells => Self::NoCells,
            UnknownEffect::NotConnected => Self::NotConnected,
            UnknownEffect::NoSpread => Self::NoSpread,
        }
    }
}
