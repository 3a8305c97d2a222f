//! Speed by request size: sequential and random, at every queue depth.

use std::collections::BTreeMap;

use flashscope_infer::streams::speed::Speed;
use flashscope_record::observation::{Direction, Order};

use super::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Unit};
use crate::Report;
use crate::speeds::{queue_depth_suffix, speeds, table};
use crate::terms::order_name;

/// The requests of one line.
type LineKey = (Direction, Order, u32);

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let known: Vec<Speed> = speeds(report.run).into_iter().filter_map(|(_, speed)| speed).collect();
    let mut lines: BTreeMap<LineKey, Vec<&Speed>> = BTreeMap::new();
    for speed in &known {
        let case = speed.case;
        lines.entry((case.direction, case.order, case.queue_depth)).or_default().push(speed);
    }
    let series: Vec<Series> =
        lines.into_iter().enumerate().map(|(index, (key, speeds))| line(index, key, speeds)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|line| &line.points).map(of);
    Some(Chart {
        id: "request-speed",
        title: "Speed by request size".to_owned(),
        description: "Each point is the speed of equal requests after warm-up, with its interval.".to_owned(),
        x: Axis::around("request size", Unit::Bytes, Scale::Log2, values(|point| point.x))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, values(|point| point.y))?,
        annotations: Vec::new(),
        table: table(report.run),
        series,
    })
}

fn line(index: usize, (direction, order, queue_depth): LineKey, mut speeds: Vec<&Speed>) -> Series {
    speeds.sort_by_key(|speed| speed.case.request);
    let colours = match direction {
        Direction::Read => Colour::GOOD,
        Direction::Write => Colour::BAD,
    };
    let markers = [Marker::FILLED, Marker::OPEN].concat();
    let point = |speed: &Speed| {
        Point::new(speed.case.request.as_f64(), speed.bytes_per_s)
            .within(speed.bytes_per_s_low, speed.bytes_per_s_high)
    };
    Series {
        name: format!("{} {}{}", order_name(order), direction.as_str(), queue_depth_suffix(queue_depth)),
        colour: colours[index % colours.len()],
        marker: markers[index % markers.len()],
        style: SeriesStyle::Line,
        points: speeds.into_iter().map(point).collect(),
    }
}
