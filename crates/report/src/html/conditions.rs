//! Under which conditions: target, date, cost, seeds, early ends, remarks.

use flashscope_device::layer::Cost;
use flashscope_record::observation::{Ended, Observations, Source};
use maud::{Markup, html};

use super::plain_table;
use crate::Report;
use crate::bound::bound;
use crate::chart::Table;
use crate::clean::printable;
use crate::experiment_view::view;
use crate::quantity::{self, counted};
use crate::words;
use crate::words::experiment;

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

/// What holds for the whole run, without what is not known.
fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let run = report.run;
    let capacity = run.observations.iter().find_map(|observations| observations.conditions.capacity);
    let facts = [
        ("target", printable(&run.target)),
        ("device", printable(&run.device_name)),
        ("measured", printable(&run.measured_at)),
        ("capacity", capacity.map(|bytes| format!("{bytes} ({} bytes)", bytes.get())).unwrap_or_default()),
        ("cost", cost(&run.cost)),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// What a run cost, in words; empty if it cost nothing, as an imported log does.
pub fn cost(cost: &Cost) -> String {
    if *cost == Cost::default() {
        return String::new();
    }
    let (reads, writes) = (counted(cost.reads, "read"), counted(cost.writes, "write"));
    let time = quantity::seconds(cost.device_time.as_secs_f64());
    format!("{reads} ({}), {writes} ({}), {time} of device time", cost.bytes_read, cost.bytes_written)
}

fn experiments(observations: &[Observations]) -> Table {
    let header = ["experiment", "what", "source", "region", "seed", "ended"].map(str::to_owned).to_vec();
    Table { header, rows: observations.iter().map(row).collect() }.without_empty_columns()
}

fn row(observations: &Observations) -> Vec<String> {
    let conditions = &observations.conditions;
    let (source, seed) = match &conditions.source {
        Source::Measured => ("measured".to_owned(), seed(observations)),
        Source::Published { program, .. } => (format!("published, {}", printable(program)), String::new()),
    };
    let region = conditions.region.map(|range| range.to_string()).unwrap_or_default();
    let (name, what) = (experiment(&observations.data).to_owned(), view(&observations.data).summary());
    vec![name, bound(&what), source, bound(&region), seed, bound(&ended(&observations.ended))]
}

/// The seed; nothing where no choice was random.
fn seed(observations: &Observations) -> String {
    let has_choices = observations.data.facts().has_random_choices();
    if has_choices { observations.conditions.seed.to_string() } else { String::new() }
}

fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Complete => "complete".to_owned(),
        Ended::Early { reason, .. } => format!("early: {}", printable(&words::stop(reason))),
        Ended::NotStarted { reason, .. } => format!("not opened: {}", printable(&words::refusal(reason))),
    }
}
