//! The read penalty of every boundary sample by its offset, which shows differences between regions of the
//! device.

use flashscope_device::Bytes;
use flashscope_infer::statistics::quantile;
use flashscope_record::finding::FindingId;
use flashscope_record::observation::AlignSample;

use super::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use crate::figures::align_samples;
use crate::{Report, quantity};

/// The fewest samples that are drawn. Guess: fewer show no pattern.
const SAMPLES_MIN: usize = 8;

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let placed: Vec<(Bytes, AlignSample)> =
        align_samples(report.run).filter_map(|sample| Some((sample.boundary?, *sample))).collect();
    if placed.len() < SAMPLES_MIN {
        return None;
    }
    let series = split(&placed, report.size(FindingId::EraseBlockBytes));
    let points = || series.iter().flat_map(|series| &series.points);
    Some(Chart {
        id: "offset",
        title: "Read penalty by offset".to_owned(),
        description: format!(
            "One dot per boundary read: {}.",
            quantity::counted(placed.len() as u64, "sample")
        ),
        x: Axis::around("offset of the boundary", Unit::Bytes, Scale::Linear, points().map(|point| point.x))?,
        y: Axis::around(
            "extra latency",
            Unit::Seconds,
            Scale::Linear,
            points().map(|point| point.y).chain([0.0]),
        )?,
        annotations: Vec::new(),
        table: table(&series),
        series,
    })
}

fn split(placed: &[(Bytes, AlignSample)], erase_block: Option<Bytes>) -> Vec<Series> {
    let at_boundary =
        |boundary: Bytes| erase_block.is_some_and(|erase_block| boundary.is_multiple_of(erase_block));
    let dots = |is_boundary: bool| {
        let chosen = placed.iter().filter(move |(boundary, _)| at_boundary(*boundary) == is_boundary);
        chosen
            .map(|(boundary, sample)| Point::new(boundary.as_f64(), sample.difference()))
            .collect::<Vec<Point>>()
    };
    let inside = if erase_block.is_some() { "inside an erase block" } else { "all boundaries" };
    let all = [
        (inside, Colour::Blue, Marker::Circle, dots(false)),
        ("at an erase-block boundary", Colour::Red, Marker::Diamond, dots(true)),
    ];
    let some = all.into_iter().filter(|(.., points)| !points.is_empty());
    some.map(|(name, colour, marker, points)| Series {
        name: name.to_owned(),
        colour,
        marker,
        style: SeriesStyle::Dots,
        points,
    })
    .collect()
}

fn table(series: &[Series]) -> Table {
    let header = ["boundaries", "samples", "lowest", "median", "highest"].map(str::to_owned).to_vec();
    let row = |series: &Series| {
        let extra: Vec<f64> = series.points.iter().map(|point| point.y).collect();
        let at = |part| quantile(&extra, part).map_or_else(String::new, quantity::seconds);
        vec![series.name.clone(), series.points.len().to_string(), at(0.0), at(0.5), at(1.0)]
    };
    Table { header, rows: series.iter().map(row).collect() }
}
