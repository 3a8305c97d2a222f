//! The results of an experiment that has no finding.

use std::collections::BTreeMap;

use flashscope_record::observation::{NamedResult, Observations, ResultValue};
use schemars::JsonSchema;
use serde::Serialize;

/// The results of one experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResultsDocument {
    /// The experiment.
    pub experiment: &'static str,
    /// The results. A name ends with its unit: `_bytes`, or `_s` for seconds.
    #[serde(flatten)]
    pub results: BTreeMap<String, ResultDocument>,
}

/// One result.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ResultDocument {
    /// Yes or no.
    Flag(bool),
    /// One of several words.
    Word(&'static str),
    /// A count, or a size in bytes.
    Integer(u64),
    /// A ratio, or a time in seconds.
    Number(f64),
}

impl ResultsDocument {
    /// The results of an experiment; `None` if it has none.
    pub fn new(seen: &Observations) -> Option<Self> {
        let results = seen.data.facts().results();
        (!results.is_empty())
            .then(|| Self { experiment: seen.data.name(), results: results.iter().map(named).collect() })
    }
}

fn named(result: &NamedResult) -> (String, ResultDocument) {
    let name = result.name;
    match result.value {
        ResultValue::Flag(flag) => (name.to_owned(), ResultDocument::Flag(flag)),
        ResultValue::Word(word) => (name.to_owned(), ResultDocument::Word(word)),
        ResultValue::Count(count) => (name.to_owned(), ResultDocument::Integer(count)),
        ResultValue::Ratio(ratio) => (name.to_owned(), ResultDocument::Number(ratio)),
        ResultValue::Bytes(bytes) => (format!("{name}_bytes"), ResultDocument::Integer(bytes.get())),
        ResultValue::Seconds(seconds) => (format!("{name}_s"), ResultDocument::Number(seconds)),
    }
}
