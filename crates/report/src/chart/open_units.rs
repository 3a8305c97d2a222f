//! Write speed by request size, one series for each number of open blocks.

use std::collections::BTreeSet;

use flashscope_device::Bytes;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::Order;

use super::{
    Annotation, Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit, selection,
};
use crate::eviction_cost::eviction_cost;
use crate::figures::{Figures, RatesBySize};
use crate::rate::Rate;
use crate::terms::order_name;
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
        title: format!("Speed of {} writes by request size", order_name(order)),
        description: describe(report, figures, order),
        x: Axis::around("request size", Unit::Bytes, Scale::Log2, sizes.into_iter())?,
        y: Axis::around("write speed", Unit::BytesPerSecond, Scale::Log10, speeds.into_iter())?,
        series,
        annotations: annotations(report),
        table: table(&columns),
    })
}

/// A column of the table: its title and its rates.
type Column<'a> = (String, &'a RatesBySize);

fn columns(figures: &Figures, order: Order) -> Vec<Column<'_>> {
    let single_stream = figures.write_size.get(&order).map(|rates| ("single stream".to_owned(), rates));
    single_stream
        .into_iter()
        .chain(figures.of_order(order).map(|(count, rates)| (name(count), rates)))
        .collect()
}

fn name(open_units: u32) -> String {
    format!("{open_units} open")
}

fn drawn(figures: &Figures, order: Order, limit: Option<u32>) -> Vec<Series> {
    let tried: Vec<u32> = figures.of_order(order).map(|(count, _)| count).collect();
    let open = selection::open_units(&tried, limit).into_iter().filter_map(|(count, colour, marker)| {
        Some(line(name(count), colour, marker, figures.open_units.get(&(order, count))?))
    });
    let single_stream = figures
        .write_size
        .get(&order)
        .map(|rates| line("single stream".to_owned(), Colour::Grey, Marker::Cross, rates));
    single_stream.into_iter().chain(open).collect()
}

fn line(name: String, colour: Colour, marker: Marker, rates: &RatesBySize) -> Series {
    let points = rates.values().map(|rate| {
        let (slowest, fastest) =
            (rate.request.as_f64() / rate.seconds_high, rate.request.as_f64() / rate.seconds_low);
        Point::new(rate.request.as_f64(), rate.bytes_per_s()).within(slowest, fastest)
    });
    Series { name, colour, marker, style: SeriesStyle::Line, points: points.collect() }
}

fn extent(series: &[Series]) -> (Vec<f64>, Vec<f64>) {
    let points = || series.iter().flat_map(|series| &series.points);
    let ends = |point: &Point| point.spread.map_or([point.y; 2], |(low, high)| [low, high]);
    (points().map(|point| point.x).collect(), points().flat_map(ends).collect())
}

fn annotations(report: &Report<'_>) -> Vec<Annotation> {
    let page = report.size(FindingId::PageBytes);
    let unit = report.size(FindingId::WriteUnitBytes).filter(|unit| Some(*unit) != page);
    let annotation =
        |name: &str, size: Bytes| Annotation { x: size.as_f64(), label: format!("{name} {size}") };
    page.map(|size| annotation("page", size))
        .into_iter()
        .chain(unit.map(|size| annotation("write unit", size)))
        .collect()
}

fn describe(report: &Report<'_>, figures: &Figures, order: Order) -> String {
    let text = format!(
        "{} writes, round-robin into the number of open erase blocks in the legend, in steady state.",
        match order {
            Order::Linear => "Sequential",
            Order::Random => "Random",
        }
    );
    let Some(cost) = eviction_cost(report, figures, order) else { return text + &range(figures, order) };
    let (fast, slow) =
        (quantity::speed(cost.rate_within.bytes_per_s()), quantity::speed(cost.rate_beyond.bytes_per_s()));
    let request = cost.rate_within.request;
    format!(
        "{text} At {request}: {fast} with {} open, {slow} with {} open.",
        cost.open_units_within, cost.open_units_beyond
    )
}

/// The slowest and the fastest rate.
fn range(figures: &Figures, order: Order) -> String {
    let columns = columns(figures, order);
    let rates = || columns.iter().flat_map(|(name, rates)| rates.values().map(move |rate| (name, rate)));
    let slowest = rates().min_by(|(_, a), (_, b)| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let fastest = rates().max_by(|(_, a), (_, b)| a.bytes_per_s().total_cmp(&b.bytes_per_s()));
    let text = |(name, rate): (&String, &Rate)| {
        format!("{} at {}, {name}", quantity::speed(rate.bytes_per_s()), rate.request)
    };
    match (slowest.map(text), fastest.map(text)) {
        (Some(slowest), Some(fastest)) => format!(" Slowest: {slowest}. Fastest: {fastest}."),
        _ => String::new(),
    }
}

fn table(columns: &[Column<'_>]) -> Table {
    let sizes: BTreeSet<Bytes> = columns.iter().flat_map(|(_, rates)| rates.keys().copied()).collect();
    let header = ["request size".to_owned()]
        .into_iter()
        .chain(columns.iter().map(|(name, _)| format!("{name}, MB/s")));
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
