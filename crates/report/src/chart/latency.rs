//! Latency over the number of the write: what one open unit too many does to every single write.

use std::time::Duration;

use flashscope_infer::statistics::quantile;
use flashscope_record::observation::{OpenUnitsCell, Order, Times};

use super::{Axis, Chart, Colour, Drawn, Marker, Point, Scale, Series, Table, Unit};
use crate::figures::{open_units_cells, settled_rate};
use crate::rate::Rate;
use crate::{Report, quantity};

/// One cell whose every request was timed.
#[derive(Debug, Clone, Copy)]
struct Timed<'a> {
    open_units: u32,
    each: &'a [Duration],
    rate: Rate,
}

pub fn chart(report: &Report<'_>, order: Order) -> Option<Chart> {
    let limit = report.open_units(order);
    let cells = open_units_cells(report.run).filter(|cell| cell.order == order);
    let cells: Vec<Timed<'_>> = cells.filter_map(|cell| timed(cell, limit)).collect();
    let (few, many) = most_different(&cells, limit)?;
    let series =
        vec![dots(&few, Colour::Blue, Marker::Circle), dots(&many, Colour::Red, Marker::OpenDiamond)];
    let points = || series.iter().flat_map(|series| &series.points);
    Some(Chart {
        id: match order {
            Order::Linear => "latency-linear",
            Order::Random => "latency-random",
        },
        title: format!("Time of each {} {} write", order.as_str(), few.rate.request),
        description: describe(&few, &many),
        x: Axis::around("number of the write", Unit::Number, Scale::Linear, points().map(|point| point.x))?,
        y: Axis::around("time", Unit::Seconds, Scale::Log10, points().map(|point| point.y))?,
        notes: Vec::new(),
        table: table(&[few, many]),
        series,
    })
}

fn timed(cell: &OpenUnitsCell, limit: Option<u32>) -> Option<Timed<'_>> {
    let Times::Each(each) = &cell.times else { return None };
    Some(Timed { open_units: cell.open_units, each, rate: settled_rate(cell, limit)? })
}

/// The most open units within the limit against the fewest beyond it (or, where the limit is not known, the fewest against
/// the most), at the request size where their times differ most.
fn most_different<'a>(cells: &[Timed<'a>], limit: Option<u32>) -> Option<(Timed<'a>, Timed<'a>)> {
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

fn dots(cell: &Timed<'_>, colour: Colour, marker: Marker) -> Series {
    let points =
        cell.each.iter().enumerate().map(|(index, time)| Point::new((index + 1) as f64, time.as_secs_f64()));
    let points = points.filter(|point| point.y > 0.0).collect();
    Series { name: format!("{} open", cell.open_units), colour, marker, drawn: Drawn::Dots, points }
}

fn describe(few: &Timed<'_>, many: &Timed<'_>) -> String {
    let told = |cell: &Timed<'_>| {
        let open = quantity::counted(u64::from(cell.open_units), "open block");
        format!("{} with {open} ({})", quantity::seconds(cell.rate.seconds), cell.rate.basis())
    };
    let request = few.rate.request;
    format!("Every dot is one write of {request}. Once settled, it takes {} and {}.", told(few), told(many))
}

fn table(cells: &[Timed<'_>]) -> Table {
    let header = [
        "open units",
        "writes",
        "shortest",
        "median",
        "nine in ten below",
        "longest",
        "typical once settled",
    ];
    let row = |cell: &Timed<'_>| {
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
