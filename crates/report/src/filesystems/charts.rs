//! The charts of a comparison: one for each kind of files and direction.

use flashscope_infer::trials::AS_SOLD;
use flashscope_infer::trials::summary::Cell;
use flashscope_record::{TrialOperation, TrialWorkload};

use super::Compared;
use super::words::purpose;
use crate::chart::{Axis, Bar, BarChart, Colour, Table, Unit};
use crate::quantity;

/// All charts, in the order of the table.
pub fn charts(compared: &Compared<'_>) -> Vec<BarChart> {
    let kinds = compared.summary.workloads().into_iter();
    let kinds = kinds.flat_map(|workload| TrialOperation::ALL.map(|operation| (workload, operation)));
    kinds.filter_map(|(workload, operation)| chart(compared, workload, operation)).collect()
}

fn chart(compared: &Compared<'_>, workload: TrialWorkload, operation: TrialOperation) -> Option<BarChart> {
    let cells: Vec<&Cell> =
        compared.summary.cells.iter().filter(|cell| cell.is(workload, operation)).collect();
    let ends = cells.iter().flat_map(|cell| [cell.estimate.low, cell.estimate.high]);
    let fastest = cells.first()?;
    let colour = |cell: &Cell| match &cell.variant {
        variant if !fastest.estimate.compared_with(&cell.estimate).is_shown() => {
            if *variant == fastest.variant { Colour::Green } else { Colour::Teal }
        }
        variant if AS_SOLD.contains(&variant.as_str()) => Colour::Red,
        _ => Colour::Blue,
    };
    let title = format!("{}, {}", capitalised(purpose(workload)), operation.name());
    Some(BarChart {
        description: "Green: the fastest. Teal: may be as fast. Red: what sticks are sold with. \
                      Lines: 95 % intervals."
            .to_owned(),
        axis: Axis::for_bars("time", Unit::Seconds, ends)?,
        bars: cells.iter().map(|cell| bar(cell, colour(cell))).collect(),
        table: table(&cells),
        title,
    })
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}

fn bar(cell: &Cell, colour: Colour) -> Bar {
    let estimate = &cell.estimate;
    Bar {
        name: cell.variant.clone(),
        value: estimate.seconds,
        low: estimate.low,
        high: estimate.high,
        label: quantity::seconds(estimate.seconds),
        colour,
    }
}

fn table(cells: &[&Cell]) -> Table {
    let header = ["filesystem", "median", "95 % interval", "longest / shortest", "trials", "by writeback"];
    let row = |cell: &&Cell| {
        let estimate = &cell.estimate;
        let by_writeback = estimate.by_writeback.iter();
        let by_writeback =
            by_writeback.map(|(each, seconds)| format!("{} {}", each.name(), quantity::seconds(*seconds)));
        vec![
            cell.variant.clone(),
            quantity::seconds(estimate.seconds),
            quantity::range(&quantity::seconds(estimate.low), &quantity::seconds(estimate.high)),
            format!("{:.2}", estimate.spread),
            estimate.trials.to_string(),
            by_writeback.collect::<Vec<_>>().join(", "),
        ]
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: cells.iter().map(row).collect() }
}
