//! The FAT area: the speed of the same writes in each of the first erase blocks.

use std::collections::BTreeSet;

use flashscope_device::Bytes;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{Data, Order};

use super::{Axis, Chart, Colour, Drawn, Note, Point, Scale, Series, Table, Unit, selection};
use crate::figures::Figures;
use crate::rate::Rate;
use crate::{Report, quantity};

/// The rates of one request size by unit.
type ByUnit<'a> = (Bytes, Vec<(u32, &'a Rate)>);

pub fn chart(report: &Report<'_>, figures: &Figures, order: Order) -> Option<Chart> {
    let rows = by_request(figures, order);
    let series = series(&rows);
    let points = || series.iter().flat_map(|series| &series.points);
    Some(Chart {
        id: match order {
            Order::Linear => "fat-area-linear",
            Order::Random => "fat-area-random",
        },
        title: format!("Speed of {} writes in the first erase blocks", order.as_str()),
        description: describe(&rows, report),
        x: Axis::around(
            "erase block, the first is 1",
            Unit::Number,
            scale(&rows),
            points().map(|point| point.x),
        )?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, points().map(|point| point.y))?,
        notes: note(report).into_iter().collect(),
        table: table(&rows),
        series,
    })
}

fn by_request(figures: &Figures, order: Order) -> Vec<ByUnit<'_>> {
    let units = || figures.fat_area.iter().filter(|((cell_order, _), _)| *cell_order == order);
    let sizes: BTreeSet<Bytes> = units().flat_map(|(_, rates)| rates.keys().copied()).collect();
    let of_size =
        |size: Bytes| units().filter_map(move |((_, unit), rates)| Some((*unit, rates.get(&size)?)));
    sizes.into_iter().map(|size| (size, of_size(size).collect())).collect()
}

fn series(rows: &[ByUnit<'_>]) -> Vec<Series> {
    let indices: Vec<usize> = (0..rows.len()).collect();
    let drawn = selection::spread(&indices, Colour::CALM.len());
    let looks = selection::looks(drawn.len());
    let line = |(index, (colour, marker)): (usize, _)| {
        let (size, rates): &ByUnit<'_> = &rows[index];
        let points =
            rates.iter().map(|(unit, rate)| Point::new(f64::from(*unit) + 1.0, rate.speed())).collect();
        Series { name: size.to_string(), colour, marker, drawn: Drawn::Line, points }
    };
    drawn.into_iter().zip(looks).map(line).collect()
}

/// Blocks far apart from each other need an axis that leaves the first ones their room.
fn scale(rows: &[ByUnit<'_>]) -> Scale {
    let far =
        |(_, rates): &ByUnit<'_>| rates.last().is_some_and(|(last, _)| *last as usize > 4 * rates.len());
    if rows.iter().any(far) { Scale::Log2 } else { Scale::Linear }
}

/// The end of the FAT area, between the last block inside it and the first behind it.
fn note(report: &Report<'_>) -> Option<Note> {
    let area = report.size(FindingId::FatAreaBytes)?;
    let mut blocks = report.run.observations.iter().filter_map(|observations| match &observations.data {
        Data::FatArea(data) if !data.erase_block.is_zero() => Some(data.erase_block),
        _ => None,
    });
    let at = area.as_f64() / blocks.next_back()?.as_f64() + 0.5;
    Some(Note { at, label: format!("FAT area {area}") })
}

fn describe(rows: &[ByUnit<'_>], report: &Report<'_>) -> String {
    let conclusion = match report.found(FindingId::FatAreaBytes).and_then(|finding| finding.bytes()) {
        Some(Bytes::ZERO) => "No block is written differently from the others.".to_owned(),
        Some(area) => format!("The first {area} are written differently from the rest."),
        None => "Whether the first blocks differ is not known.".to_owned(),
    };
    let smallest = rows.first().and_then(|(size, rates)| {
        let speeds = || rates.iter().map(|(_, rate)| rate.speed());
        let (low, high) = (speeds().reduce(f64::min)?, speeds().reduce(f64::max)?);
        Some(format!(" Writes of {size}: {} to {}.", quantity::speed(low), quantity::speed(high)))
    });
    conclusion + &smallest.unwrap_or_default()
}

/// A row per block, a column per size.
fn table(rows: &[ByUnit<'_>]) -> Table {
    let units: BTreeSet<u32> =
        rows.iter().flat_map(|(_, rates)| rates.iter().map(|(unit, _)| *unit)).collect();
    let header = ["block".to_owned()].into_iter().chain(rows.iter().map(|(size, _)| format!("{size}, MB/s")));
    let row = |unit: u32| {
        let cell = |(_, rates): &ByUnit<'_>| {
            let rate = rates.iter().find(|(other, _)| *other == unit);
            rate.map_or_else(String::new, |(_, rate)| quantity::three_digits(rate.speed() / 1e6))
        };
        [(u64::from(unit) + 1).to_string()].into_iter().chain(rows.iter().map(cell)).collect()
    };
    Table { header: header.collect(), rows: units.into_iter().map(row).collect() }
}
