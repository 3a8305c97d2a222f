//! The FAT area: write speed in each of the first erase blocks.

use std::collections::BTreeSet;

use flashscope_device::Bytes;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Data, Order};

use super::{Annotation, Axis, Chart, Colour, Point, Scale, Series, SeriesStyle, Table, Unit, selection};
use crate::figures::Figures;
use crate::rate::Rate;
use crate::terms::order_name;
use crate::{Report, quantity};

/// The rates of one request size, by erase block.
type RatesByBlock<'a> = (Bytes, Vec<(u32, &'a Rate)>);

pub fn chart(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Chart> {
    let rows = by_request(figures, order);
    let series = series(&rows);
    let points = || series.iter().flat_map(|series| &series.points);
    Some(Chart {
        id: match order {
            Order::Linear => "fat-area-linear",
            Order::Random => "fat-area-random",
        },
        title: format!("Speed of {} writes in the first erase blocks", order_name(order)),
        description: describe(&rows, report),
        x: Axis::around(
            "erase block (the first is 1)",
            Unit::Number,
            scale(&rows),
            points().map(|point| point.x),
        )?,
        y: Axis::around("write speed", Unit::BytesPerSecond, Scale::Log10, points().map(|point| point.y))?,
        annotations: annotation(report).into_iter().collect(),
        table: table(&rows),
        series,
    })
}

fn by_request(figures: &Figures, order: Order) -> Vec<RatesByBlock<'_>> {
    let units = || figures.fat_area.iter().filter(|((cell_order, _), _)| *cell_order == order);
    let sizes: BTreeSet<Bytes> = units().flat_map(|(_, rates)| rates.keys().copied()).collect();
    let of_size =
        |size: Bytes| units().filter_map(move |((_, unit), rates)| Some((*unit, rates.get(&size)?)));
    sizes.into_iter().map(|size| (size, of_size(size).collect())).collect()
}

fn series(rows: &[RatesByBlock<'_>]) -> Vec<Series> {
    let indices: Vec<usize> = (0..rows.len()).collect();
    let drawn = selection::spread(&indices, Colour::GOOD.len());
    let styles = selection::styles(drawn.len());
    let line = |(index, (colour, marker)): (usize, _)| {
        let (size, rates): &RatesByBlock<'_> = &rows[index];
        let points =
            rates.iter().map(|(unit, rate)| Point::new(f64::from(*unit) + 1.0, rate.bytes_per_s())).collect();
        Series { name: size.to_string(), colour, marker, style: SeriesStyle::Line, points }
    };
    drawn.into_iter().zip(styles).map(line).collect()
}

/// A logarithmic axis where blocks lie far apart, so that the first ones stay distinct.
fn scale(rows: &[RatesByBlock<'_>]) -> Scale {
    let far = |(_, rates): &RatesByBlock<'_>| {
        rates.last().is_some_and(|(last, _)| *last as usize > 4 * rates.len())
    };
    if rows.iter().any(far) { Scale::Log2 } else { Scale::Linear }
}

/// The end of the FAT area, drawn between its last block and the next one.
fn annotation(report: &Report<'_>) -> Option<Annotation> {
    let area = report.size(FindingId::FatAreaBytes)?;
    let mut blocks = report.run.observations.iter().filter_map(|observations| match &observations.data {
        Data::FatArea(data) if !data.erase_block.is_zero() => Some(data.erase_block),
        _ => None,
    });
    let x = area.as_f64() / blocks.next_back()?.as_f64() + 0.5;
    Some(Annotation { x, label: format!("FAT area {area}") })
}

fn describe(rows: &[RatesByBlock<'_>], report: &Report<'_>) -> String {
    let conclusion = match report.found(FindingId::FatAreaBytes).and_then(|finding| finding.bytes()) {
        Some(Bytes::ZERO) => "All erase blocks behave alike.".to_owned(),
        Some(area) => format!("The first {area} behave differently from the rest."),
        None => "Whether the first erase blocks differ is unknown.".to_owned(),
    };
    let smallest = rows.first().and_then(|(size, rates)| {
        let speeds = || rates.iter().map(|(_, rate)| rate.bytes_per_s());
        let (low, high) = (speeds().reduce(f64::min)?, speeds().reduce(f64::max)?);
        Some(format!(" Writes of {size}: {} to {}.", quantity::speed(low), quantity::speed(high)))
    });
    conclusion + &smallest.unwrap_or_default()
}

/// A row per block, a column per size.
fn table(rows: &[RatesByBlock<'_>]) -> Table {
    let units: BTreeSet<u32> =
        rows.iter().flat_map(|(_, rates)| rates.iter().map(|(unit, _)| *unit)).collect();
    let header =
        ["erase block".to_owned()].into_iter().chain(rows.iter().map(|(size, _)| format!("{size}, MB/s")));
    let row = |unit: u32| {
        let cell = |(_, rates): &RatesByBlock<'_>| {
            let rate = rates.iter().find(|(other, _)| *other == unit);
            rate.map_or_else(String::new, |(_, rate)| quantity::three_digits(rate.bytes_per_s() / 1e6))
        };
        [(u64::from(unit) + 1).to_string()].into_iter().chain(rows.iter().map(cell)).collect()
    };
    Table { header: header.collect(), rows: units.into_iter().map(row).collect() }
}
