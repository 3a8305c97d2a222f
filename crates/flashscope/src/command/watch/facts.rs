//! The facts of a disk at work: rows with a name and a sentence, for the screen and for plain text.

use flashscope_infer::activity::Activity;
use flashscope_report::wrapped;

use super::watched::Watched;
use super::words;
use crate::command::list;

/// The names of facts fit.
const NAME_WIDTH: usize = 10;

/// Below that, a line too long reads better than a column of single words.
const TEXT_WIDTH_MIN: usize = 20;

/// So many stalls and processes are shown.
const ROWS_MAX: usize = 5;

/// A name, a sentence, and how much it matters.
pub struct Fact {
    name: &'static str,
    text: String,
    /// How much it matters.
    pub weight: Weight,
}

/// How much a fact matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// What one came for.
    Strong,
    /// As all others.
    Ordinary,
    /// Something went wrong.
    Alarm,
}

impl Fact {
    const fn new(name: &'static str, text: String, weight: Weight) -> Self {
        Self { name, text, weight }
    }

    /// Its lines, at most so wide, if that is not less than can be read.
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
    let headline = wrapped(&list::words::headline(&one.disk), columns.max(TEXT_WIDTH_MIN)).join("\n");
    let facts = one.activity.iter().flat_map(|activity| facts(one, activity));
    let lines: Vec<String> = facts.flat_map(|fact| fact.lines(columns)).collect();
    format!("{headline}\n{}\n", lines.join("\n"))
}

/// What there is to say, the most useful first.
pub fn facts(one: &Watched, activity: &Activity) -> Vec<Fact> {
    let interval = &activity.interval;
    let mut facts = vec![
        Fact::new("in memory", words::pending(activity.pending), Weight::Strong),
        Fact::new("unplug", words::unplug(activity.unplug, &one.disk), Weight::Strong),
        Fact::new("write", words::moved(&interval.written), Weight::Ordinary),
        Fact::new("read", words::moved(&interval.read), Weight::Ordinary),
        Fact::new("queue", words::queue(interval), Weight::Ordinary),
        Fact::new("merges", words::merges(activity), Weight::Ordinary),
    ];
    let stalls = activity.stalls.iter().rev().take(ROWS_MAX);
    facts.extend(named("stalls", stalls.map(words::stall), Weight::Alarm));
    let writers = activity.writers.iter().take(ROWS_MAX);
    facts.extend(named("open by", writers.map(words::writer).chain(unseen(activity)), Weight::Ordinary));
    facts
}

/// Rows of which the first has the name.
fn named(
    name: &'static str,
    texts: impl Iterator<Item = String>,
    weight: Weight,
) -> impl Iterator<Item = Fact> {
    texts.enumerate().map(move |(at, text)| Fact::new(if at == 0 { name } else { "" }, text, weight))
}

/// What of the processes is not shown.
fn unseen(activity: &Activity) -> Option<String> {
    let more = activity.writers.len().saturating_sub(ROWS_MAX);
    let more = (more > 0).then(|| format!("{more} more have files open"));
    let hidden = activity.hidden_processes;
    let hidden = (hidden > 0).then(|| format!("{hidden} processes of others are hidden; root sees them"));
    let parts: Vec<String> = more.into_iter().chain(hidden).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
