//! Under which conditions: target, date, cost, seeds, early ends, remarks.

use std::collections::BTreeSet;

use flashscope_device::layer::Cost;
use flashscope_infer::files::write_methods::ways;
use flashscope_record::observation::{Data, Ended, Observations, Order, Source};
use maud::{Markup, html};

use super::plain_table;
use crate::Report;
use crate::bound::bound;
use crate::chart::Table;
use crate::clean::printable;
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
    let (name, what) = (experiment(&observations.data).to_owned(), what(&observations.data));
    vec![name, bound(&what), source, bound(&region), seed, bound(&ended(&observations.ended))]
}

/// The seed; nothing where no choice was random.
fn seed(observations: &Observations) -> String {
    match &observations.data {
        Data::Methods(_) => String::new(),
        _ => observations.conditions.seed.to_string(),
    }
}

/// What an experiment tried, in a few words.
fn what(data: &Data) -> String {
    match data {
        Data::Align(data) => {
            let read = data.read.map(|read| format!("reads of {read}"));
            let contents = data.contents.mostly_blank().map(|_| data.contents.to_string());
            read.into_iter().chain(contents).collect::<Vec<_>>().join("; ")
        }
        Data::OpenUnits(data) => {
            let tried: BTreeSet<(Order, u32)> =
                data.cells.iter().map(|cell| (cell.order, cell.open_units)).collect();
            let tried: Vec<String> =
                tried.into_iter().map(|(order, count)| format!("{count} {}", order.as_str())).collect();
            format!("blocks of {} open: {}", data.erase_block, tried.join(", "))
        }
        Data::BlockEnds(data) => format!("{} erase blocks opened", data.openings.len()),
        Data::WriteSize(data) => format!("{} sizes", data.cells.len()),
        Data::FatArea(data) => {
            let units: BTreeSet<u32> = data.cells.iter().map(|cell| cell.unit).collect();
            format!("{} blocks of {}", units.len(), data.erase_block)
        }
        Data::Sustained(data) => format!("{} in writes of {}", data.written(), data.request),
        Data::Speed(data) => format!("{} kinds of request", data.cells.len()),
        Data::Files(data) => {
            let rounds = counted(data.rounds.len() as u64, "round");
            format!("{rounds} of files ({})", printable(&data.profile))
        }
        Data::Methods(data) => {
            let ways = ways(data);
            let rounds = ways.iter().map(|way| way.rounds as u64).max().unwrap_or(0);
            format!("{} to write, {}", counted(ways.len() as u64, "way"), counted(rounds, "round"))
        }
        Data::WriteBuffer(data) => format!("{} bursts of writes of {}", data.bursts.len(), data.request),
    }
}

fn ended(ended: &Ended) -> String {
    match ended {
        Ended::Complete => "complete".to_owned(),
        Ended::Early { reason, .. } => format!("early: {}", printable(&words::stop(reason))),
        Ended::NotStarted { reason, .. } => format!("not begun: {}", printable(&words::refusal(reason))),
    }
}
