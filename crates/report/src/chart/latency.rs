//! The latency of every single write, with as many open blocks as the controller keeps, and with more.

use std::time::Duration;

use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{OpenUnitsCell, Order, Times};

use super::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use crate::figures::{Figures, open_units_cells, steady_rate};
use crate::rate::Rate;
use crate::terms::order_name;
use crate::{Report, quantity};

/// A cell with the latency of every request.
#[derive(Debug, Clone, Copy)]
struct Cell<'a> {
    open_units: u32,
    each: &'a [Duration],
    rate: Rate,
}

pub fn chart(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Chart> {
    let limit = report.open_units(order);
    let cells = open_units_cells(report.run).filter(|cell| cell.order == order);
    let cells: Vec<Cell<'_>> = cells.filter_map(|cell| latency_cell(cell, limit, figures)).collect();
    let (few, many) = most_different(&cells, limit)?;
    let series =
        vec![dots(&few, Colour::Blue, Marker::Circle), dots(&many, Colour::Red, Marker::OpenDiamond)];
    let points = || series.iter().flat_map(|series| &series.points);
    Some(Chart {
        id: match order {
            Order::Linear => "latency-linear",
            Order::Random => "latency-random",
        },
        title: format!("Latency of {} {} writes", order_name(order), few.rate.request),
        description: describe(&few, &many),
        x: Axis::around("write number", Unit::Number, Scale::Linear, points().map(|point| point.x))?,
        y: Axis::around("latency", Unit::Seconds, Scale::Log10, points().map(|point| point.y))?,
        annotations: Vec::new(),
        table: table(&[few, many]),
        series,
    })
}

/// A cell, with the rate of all equal cells, as the sentences give it.
fn latency_cell<'a>(cell: &'a OpenUnitsCell, limit: Option<u32>, figures: &Figures) -> Option<Cell<'a>> {
    let Times::Each(each) = &cell.times else { return None };
    let own = steady_rate(cell, limit)?;
    let pooled = figures.open_units.get(&(cell.order, cell.open_units));
    let rate = pooled.and_then(|rates| rates.get(&cell.request)).copied().unwrap_or(own);
    Some(Cell { open_units: cell.open_units, each, rate })
}

/// Two cells with the most open blocks within the limit and the fewest beyond it, at the request size where
/// their latencies differ most. Without a limit: the fewest and the most open blocks.
fn most_different<'a>(cells: &[Cell<'a>], limit: Option<u32>) -> Option<(Cell<'a>, Cell<'a>)> {
    let counts = || cells.iter().map(|cell| cell.open_units);
    let (few, many) = match limit {
        Some(limit) => {
            (counts().filter(|count| *count <= limit).max()?, counts().filter(|count| *count > limit).min()?)
        }
        None => (counts().min()?, counts().max()?),
    };
    let with = |open_units: u32| cells.iter().filter(move |cell| cell.open_units == open_units);
    let pairs = with(few).flat_map(|few| with(many).map(move |many| (*few, *many)));
    let comparable =
        pairs.filter(|(few, many)| few.rate.request == many.rate.request && few.open_units < many.open_units);
    comparable.max_by(|(a, b), (c, d)| {
        (b.rate.seconds / a.rate.seconds).total_cmp(&(d.rate.seconds / c.rate.seconds))
    })
}

fn dots(cell: &Cell<'_>, colour: Colour, marker: Marker) -> Series {
    let points =
        cell.each.iter().enumerate().map(|(index, time)| Point::new((index + 1) as f64, time.as_secs_f64()));
    let points = points.filter(|point| point.y > 0.0).collect();
    Series { name: format!("{} open", cell.open_units), colour, marker, style: SeriesStyle::Dots, points }
}

fn describe(few: &Cell<'_>, many: &Cell<'_>) -> String {
    let text = |cell: &Cell<'_>| {
        let open = quantity::counted(u64::from(cell.open_units), "open block");
        format!("{} with {open} ({})", quantity::seconds(cell.rate.seconds), cell.rate.basis())
    };
    let request = few.rate.request;
    format!("One dot per write of {request}. Latency in steady state: {}; {}.", text(few), text(many))
}

fn table(cells: &[Cell<'_>]) -> Table {
    let header = ["open blocks", "writes", "shortest", "median", "90 %", "longest", "steady state"];
    let row = |cell: &Cell<'_>| {
        let seconds: Vec<f64> = cell.each.iter().map(Duration::as_secs_f64).collect();
        let at = |part| quantile(&seconds, part).map_or_else(String::new, quantity::seconds);
        let counts = [cell.open_units.to_string(), cell.each.len().to_string()];
        counts
            .into_iter()
            .chain([at(0.0), at(0.5), at(0.9), at(1.0), quantity::seconds(cell.rate.seconds)])
            .collect()
    };
    Table { header: header.map(str::to_owned).to_vec(), rows: cells.iter().map(row).collect() }
}
