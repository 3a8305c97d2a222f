//! The calibration as a chart.

use flashscope_report::chart::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};

use super::calibration::Bin;
use super::report::Report;

/// The lowest confidence of the chart, per cent. Findings below it are rare.
const LOWEST: f64 = 50.0;

/// Claimed confidence on the x axis, and the share of findings whose interval holds the truth on the y axis.
pub fn chart(report: &Report) -> Chart {
    let bins: Vec<&Bin> = report.calibration.iter().filter(|bin| percent(bin.claimed) >= LOWEST).collect();
    let lowest = bins.iter().map(|bin| percent(bin.observed_low)).fold(LOWEST, f64::min);
    let axis = |title: &str, low| Axis {
        title: title.to_owned(),
        unit: Unit::Number,
        scale: Scale::Linear,
        low,
        high: 100.0,
    };
    Chart {
        id: "calibration",
        title: "Calibration of the confidence".to_owned(),
        description: format!(
            "Claimed confidence, and the share of correct findings: {} specimens, seed {}. The bars are 95 % intervals.",
            report.count, report.seed
        ),
        x: axis("claimed confidence, %", LOWEST),
        y: axis("correct findings, %", lowest),
        series: vec![as_claimed(), observed(&bins)],
        annotations: Vec::new(),
        table: Table::default(),
    }
}

fn as_claimed() -> Series {
    Series {
        name: "as claimed".to_owned(),
        colour: Colour::Grey,
        marker: Marker::OpenCircle,
        style: SeriesStyle::Line,
        points: vec![Point::new(LOWEST, LOWEST), Point::new(100.0, 100.0)],
    }
}

fn observed(bins: &[&Bin]) -> Series {
    let point = |bin: &&Bin| {
        let (low, high) = (percent(bin.observed_low), percent(bin.observed_high));
        Point::new(percent(bin.claimed), percent(bin.observed)).within(low, high)
    };
    Series {
        name: "observed".to_owned(),
        colour: Colour::Blue,
        marker: Marker::Circle,
        style: SeriesStyle::Line,
        points: bins.iter().map(point).collect(),
    }
}

fn percent(share: f64) -> f64 {
    share * 100.0
}
