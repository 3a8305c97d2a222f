//! Speed by request size, one series for each number of open units.

use std::collections::BTreeSet;

use flashscope_device::Bytes;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use super::{Axis, Chart, Colour, Drawn, Marker, Note, Point, Scale, Series, Table, Unit, selection};
use crate::figures::{BySize, Figures};
use crate::rate::Rate;
use crate::wall::wall;
use crate::{Report, quantity};

pub fn chart(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Chart> {
    let columns = columns(figures, order);
    let series = drawn(figures, order, report.open_units(order));
    let (sizes, speeds) = extent(&series);
    Some(Chart {
        id: match order {
            Order::Linear => "speed-linear",
            Order::Random => "speed-random",
        },
        title: format!("Speed of {order} writes by size", order = order.as_str()),
        description: describe(report, figures, order),
        x: Axis::around("size of each write", Unit::Bytes, Scale::Log2, sizes.into_iter())?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, speeds.into_iter())?,
        series,
        notes: notes(report),
        table: table(&columns),
    })
}

/// A named set of rates: one column of the table.
type Column<'a> = (String, &'a BySize);

fn columns(figures: &Figures, order: Order) -> Vec<Column<'_>> {
    let one_place = figures.write_size.get(&order).map(|rates| ("one place at a time".to_owned(), rates));
    one_place.into_iter().chain(figures.of_order(order).map(|(count, rates)| (name(count), rates))).collect()
}

fn name(open_units: u32) -> String {
    format!("{open_units} open")
}

fn drawn(figures: &Figures, order: Order, limit: Option<u32>) -> Vec<Series> {
    let tried: Vec<u32> = figures.of_order(order).map(|(count, _)| count).collect();
    let open = selection::open_units(&tried, limit).into_iter().filter_map(|(count, colour, marker)| {
        Some(line(name(count), colour, marker, figures.open_units.get(&(order, count))?))
    });
    let one_place = figures
        .write_size
        .get(&order)
        .map(|rates| line("one place at a time".to_owned(), Colour::Grey, Marker::Cross, rates));
    one_place.into_iter().chain(open).collect()
}

fn line(name: String, colour: Colour, marker: Marker, rates: &BySize) -> Series {
    let points = rates.values().map(|rate| {
        let (slowest, fastest) =
            (rate.request.as_f64() / rate.seconds_high, rate.request.as_f64() / rate.seconds_low);
        Point::new(rate.request.as_f64(), rate.speed()).within(slowest, fastest)
    });
    Series { name, colour, marker, drawn: Drawn::Line, points: points.collect() }
}

fn extent(series: &[Series]) -> (Vec<f64>, Vec<f64>) {
    let points = || series.iter().flat_map(|series| &series.points);
    let ends = |point: &Point| point.spread.map_or([point.y; 2], |(low, high)| [low, high]);
    (points().map(|point| point.x).collect(), points().flat_map(ends).collect())
}

fn notes(report: &Report<'_>) -> Vec<Note> {
    let page = report.size(FindingId::PageBytes);
    let unit = report.size(FindingId::WriteUnitBytes).filter(|unit| Some(*unit) != page);
    let note = |name: &str, size: Bytes| Note { at: size.as_f64(), label: format!("{name} {size}") };
    page.map(|size| note("effective page", size))
        .into_iter()
        .chain(unit.map(|size| note("write unit", size)))
        .collect()
}

fn describe(report: &Report<'_>, figures: &Figures, order: Order) -> String {
    let order_in_words = match order {
        Order::Linear => "from start to end of each erase block",
        Order::Random => "in shuffled order inside each erase block",
    };
    let text = format!(
        "Writes {order_in_words}, into as many blocks in turn as the legend says; once settled, where every write was \
         timed."
    );
    let Some(wall) = wall(report, figures, order) else { return text + &range(figures, order) };
    let (fast, slow) = (quantity::speed(wall.fast.speed()), quantity::speed(wall.slow.speed()));
    let request = wall.fast.request;
    format!(
        "{text} At {request} they run at {fast} with {} open and at {slow} with {} open.",
        wall.within, wall.beyond
    )
}

/// The slowest and the fastest of all rates.
fn range(figures: &Figures, order: Order) -> String {
    let columns = columns(figures, order);
    let rates = || columns.iter().flat_map(|(name, rates)| rates.values().map(move |rate| (name, rate)));
    let slowest = rates().min_by(|(_, a), (_, b)| a.speed().total_cmp(&b.speed()));
    let fastest = rates().max_by(|(_, a), (_, b)| a.speed().total_cmp(&b.speed()));
    let told = |(name, rate): (&String, &Rate)| {
        format!("{} at {}, {name}", quantity::speed(rate.speed()), rate.request)
    };
    match (slowest.map(told), fastest.map(told)) {
        (Some(slowest), Some(fastest)) => format!(" Slowest: {slowest}. Fastest: {fastest}."),
        _ => String::new(),
    }
}

fn table(columns: &[Column<'_>]) -> Table {
    let sizes: BTreeSet<Bytes> = columns.iter().flat_map(|(_, rates)| rates.keys().copied()).collect();
    let header =
        ["write size".to_owned()].into_iter().chain(columns.iter().map(|(name, _)| format!("{name}, MB/s")));
    let row = |size: Bytes| {
        let cells = columns.iter().map(move |(_, rates)| rates.get(&size).map_or_else(String::new, cell));
        [size.to_string()].into_iter().chain(cells).collect()
    };
    Table { header: header.collect(), rows: sizes.into_iter().rev().map(row).collect() }
}

fn cell(rate: &Rate) -> String {
    let speed = |seconds: f64| quantity::three_digits(rate.request.as_f64() / seconds / 1e6);
    if rate.cells == 1 {
        return speed(rate.seconds);
    }
    format!("{} ({} to {})", speed(rate.seconds), speed(rate.seconds_high), speed(rate.seconds_low))
}
