//! The facts of a watched disk: names and sentences, for the screen and for plain text.

use flashscope_infer::activity::Activity;
use flashscope_report::wrapped;

use super::watched::Watched;
use crate::text::{activity as text, disk};

/// Columns for the names of facts.
const NAME_WIDTH: usize = 10;

/// The narrowest column of text. Guess: below, an overlong line reads better than a column of single words.
const TEXT_WIDTH_MIN: usize = 20;

/// The number of stalls and processes shown: all facts fit a screen of 24 lines.
const ROWS_MAX: usize = 5;

/// A named sentence and its weight.
pub struct Fact {
    name: &'static str,
    text: String,
    /// Its weight.
    pub weight: Weight,
}

/// The weight of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The most important.
    Strong,
    /// Normal.
    Ordinary,
    /// A problem.
    Alarm,
}

impl Fact {
    const fn new(name: &'static str, text: String, weight: Weight) -> Self {
        Self { name, text, weight }
    }

    /// Its lines, at most `columns` wide unless that is unreadably narrow.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let width = columns.saturating_sub(NAME_WIDTH + 3).max(TEXT_WIDTH_MIN);
        let named = |(at, line): (usize, String)| {
            let name = if at == 0 { self.name } else { "" };
            format!("  {name:NAME_WIDTH$} {line}")
        };
        wrapped(&self.text, width).into_iter().enumerate().map(named).collect()
    }
}

/// A disk as text: a headline, and its facts below.
pub fn text(one: &Watched, columns: usize) -> String {
    let headline = wrapped(&disk::headline(&one.disk), columns.max(TEXT_WIDTH_MIN)).join("\n");
    let facts = one.activity.iter().flat_map(|activity| facts(one, activity));
    let lines: Vec<String> = facts.flat_map(|fact| fact.lines(columns)).collect();
    format!("{headline}\n{}\n", lines.join("\n"))
}

/// All facts, the most useful first.
pub fn facts(one: &Watched, activity: &Activity) -> Vec<Fact> {
    let interval = &activity.interval;
    let mut facts = vec![
        Fact::new("in memory", text::waiting(activity.pending), Weight::Strong),
        Fact::new("unplug", text::unplug(activity.unplug, &one.disk), Weight::Strong),
        Fact::new("write", text::moved(&interval.written), Weight::Ordinary),
        Fact::new("read", text::moved(&interval.read), Weight::Ordinary),
        Fact::new("queue", text::queue(interval), Weight::Ordinary),
        Fact::new("merges", text::merges(activity), Weight::Ordinary),
    ];
    let stalls = activity.stalls.iter().rev().take(ROWS_MAX);
    facts.extend(named("stalls", stalls.map(text::stall), Weight::Alarm));
    let writers = activity.writers.iter().take(ROWS_MAX);
    facts.extend(named("open by", writers.map(text::writer).chain(not_shown(activity)), Weight::Ordinary));
    facts
}

/// Facts of which only the first shows the name.
fn named(
    name: &'static str,
    texts: impl Iterator<Item = String>,
    weight: Weight,
) -> impl Iterator<Item = Fact> {
    texts.enumerate().map(move |(at, text)| Fact::new(if at == 0 { name } else { "" }, text, weight))
}

/// The processes that are not shown.
fn not_shown(activity: &Activity) -> Option<String> {
    let more = activity.writers.len().saturating_sub(ROWS_MAX);
    let more = (more > 0).then(|| format!("{more} more have files open"));
    let hidden = activity.hidden_processes;
    let hidden = (hidden > 0).then(|| format!("{hidden} processes of other users need root"));
    let parts: Vec<String> = more.into_iter().chain(hidden).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
