//! The fidelity of the virtual sticks, as pictures for the documentation.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use flashscope_record::observation::Order;
use flashscope_report::chart::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use flashscope_report::chart_svg;
use flashscope_twin::{Compared, Key};

use super::Report;

/// The stick of the second picture: its log has the most rows of the open-units table.
const EXAMPLE: &str = "patriot-fitted";

/// Open erase blocks in the picture: the limit of the stick, and more. Number, colour, marker of published
/// and simulated points.
const UNITS: [(u32, Colour, Marker, Marker); 3] = [
    (8, Colour::Blue, Marker::Circle, Marker::OpenCircle),
    (9, Colour::Orange, Marker::Square, Marker::OpenSquare),
    (10, Colour::Red, Marker::Triangle, Marker::OpenTriangle),
];

/// Draws all pictures into `folder`.
pub fn draw(report: &Report, folder: &Path) -> Result<()> {
    for (name, chart) in [("fidelity.svg", held_out(report)), ("fidelity-open-units.svg", open_units(report))]
    {
        let chart = chart.with_context(|| format!("no cells for {name}"))?;
        let path = folder.join(name);
        fs::write(&path, chart_svg(&chart)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Every held-out cell of every stick: published time on the x axis, simulated time on the y axis.
fn held_out(report: &Report) -> Option<Chart> {
    let cells = || report.profiles.iter().flat_map(|profile| &profile.cells).filter(|cell| cell.held_out);
    let dots = |name: &str, colour, of_reads: bool| {
        let points = cells()
            .filter(|cell| cell.key.is_read() == of_reads)
            .map(|cell| Point::new(cell.measured_s, cell.simulated_s));
        series(name, colour, Marker::Circle, SeriesStyle::Dots, points.collect())
    };
    let both = || cells().flat_map(|cell| [cell.measured_s, cell.simulated_s]);
    let axis = |title: &str| Axis::around(title, Unit::Seconds, Scale::Log10, both());
    let (x, y) = (axis("published time of a request")?, axis("simulated")?);
    let ends = [Point::new(x.low, x.low), Point::new(x.high, x.high)];
    let count = cells().count();
    Some(Chart {
        id: "held-out",
        title: format!("{count} held-out cells"),
        description: "On the line, the simulated time equals the published time.".to_owned(),
        series: vec![
            series("equal", Colour::Grey, Marker::Cross, SeriesStyle::Line, ends.to_vec()),
            dots("writes", Colour::Orange, false),
            dots("reads", Colour::Blue, true),
        ],
        x,
        y,
        annotations: Vec::new(),
        table: Table::default(),
    })
}

/// Throughput of round-robin writes to several erase blocks, published and simulated.
fn open_units(report: &Report) -> Option<Chart> {
    let profile = report.profiles.iter().find(|profile| profile.name == EXAMPLE)?;
    let drawn: Vec<Series> = UNITS
        .iter()
        .flat_map(|(units, colour, published, simulated)| {
            let line = |name: &str, marker, seconds: fn(&Compared) -> f64| {
                let points = speeds(&profile.cells, *units, seconds);
                series(&format!("{units} blocks, {name}"), *colour, marker, SeriesStyle::Line, points)
            };
            [
                line("simulated", *simulated, |cell| cell.simulated_s),
                line("published", *published, |cell| cell.measured_s),
            ]
        })
        .collect();
    let values = |pick: fn(&Point) -> f64| drawn.iter().flat_map(|series| &series.points).map(pick);
    Some(Chart {
        id: "open-units",
        title: "Round-robin writes to several erase blocks of the Patriot stick".to_owned(),
        description:
            "Filled points are published, open ones simulated; the stick keeps eight erase blocks open."
                .to_owned(),
        x: Axis::around("request size", Unit::Bytes, Scale::Log2, values(|point| point.x))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, values(|point| point.y))?,
        series: drawn,
        annotations: Vec::new(),
        table: Table::default(),
    })
}

/// Throughput by request size, smallest first; the mean of repeated rows.
fn speeds(cells: &[Compared], wanted: u32, seconds: fn(&Compared) -> f64) -> Vec<Point> {
    let mut found: Vec<(f64, f64)> = cells
        .iter()
        .filter_map(|cell| match cell.key {
            Key::OpenUnits { units, order: Order::Linear, request } if units == wanted => {
                Some((request.as_f64(), request.as_f64() / seconds(cell)))
            }
            _ => None,
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
        .chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
        .map(|row| {
            let speeds: Vec<f64> = row.iter().map(|(_, speed)| *speed).collect();
            #[expect(clippy::cast_precision_loss, reason = "a row is repeated a few times")]
            let mean = speeds.iter().sum::<f64>() / speeds.len() as f64;
            Point::new(row[0].0, mean)
        })
        .collect()
}

fn series(name: &str, colour: Colour, marker: Marker, style: SeriesStyle, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), colour, marker, style, points }
}
