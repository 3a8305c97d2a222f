//! The conditions of a run: target, date, cost, seeds, early ends, remarks.

use flashscope_record::observation::{Ended, Observations, Source};
use maud::{Markup, html};

use super::table::plain_table;
use crate::Report;
use crate::chart::Table;
use crate::cost::cost;
use crate::experiment_view::view;
use crate::no_break::join_units;
use crate::printable::printable;
use crate::quantity;
use crate::words;
use crate::words::experiment_name;

pub fn section(report: &Report<'_>) -> Markup {
    let run = report.run;
    html! {
        section class="conditions" {
            h2 { "Conditions" }
            dl {
                @for (term, text) in facts(report) { dt { (term) } dd { (text) } }
            }
            @if run.observations.is_empty() { p { "Nothing was measured." } }
            @else { (plain_table(&experiments(&run.observations))) }
            @if !run.remarks.is_empty() {
                h3 { "Remarks" }
                ul { @for remark in &run.remarks { li { (printable(remark)) } } }
            }
        }
    }
}

/// The known facts about the whole run.
fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let run = report.run;
    let capacity = run.announced_capacity();
    let capacity = capacity
        .map(|bytes| format!("{bytes} ({} bytes)", quantity::integer(bytes.get())))
        .unwrap_or_default();
    let facts = [
        ("target", printable(&run.target)),
        ("device", printable(&run.device_name)),
        ("measured", printable(&run.measured_at)),
        ("capacity", capacity),
        ("cost", cost(&run.cost)),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn experiments(observations: &[Observations]) -> Table {
    let header = ["experiment", "scope", "source", "region", "seed", "ended"].map(str::to_owned).to_vec();
    Table { header, rows: observations.iter().map(row).collect() }.without_empty_columns()
}

fn row(observations: &Observations) -> Vec<String> {
    let conditions = &observations.conditions;
    let (source, seed) = match &conditions.source {
        Source::Measured => ("measured".to_owned(), seed(observations)),
        Source::Published { program, .. } => (format!("published, {}", printable(program)), String::new()),
    };
    let region = conditions.region.map(|range| range.to_string()).unwrap_or_default();
    let (name, scope) = (experiment_name(&observations.data).to_owned(), view(&observations.data).summary());
    vec![name, join_units(&scope), source, join_units(&region), seed, join_units(&ended(&observations.ended))]
}

/// The random seed; empty for an experiment without random choices.
fn seed(observations: &Observations) -> String {
    let has_choices = observations.data.facts().has_random_choices();
    if has_choices { observations.conditions.seed.to_string() } else { String::new() }
}

fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Complete => "complete".to_owned(),
        Ended::Early { reason, .. } => format!("early: {}", printable(&words::stop(reason))),
        Ended::NotStarted { reason, .. } => format!("not started: {}", printable(&words::refusal(reason))),
    }
}
