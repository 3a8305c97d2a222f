//! Speed by the size of requests: in order and here and there, with one or several in flight.

use std::collections::BTreeMap;

use flashscope_infer::streams::speed::Speed;
use flashscope_record::observation::{Direction, Order};

use super::{Axis, Chart, Colour, Drawn, Marker, Point, Scale, Series, Unit};
use crate::Report;
use crate::speeds::{in_flight, speeds, table};

/// Which requests share a line.
type Kind = (Direction, Order, u32);

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let known: Vec<Speed> = speeds(report.run).into_iter().filter_map(|(_, speed)| speed).collect();
    let mut lines: BTreeMap<Kind, Vec<&Speed>> = BTreeMap::new();
    for speed in &known {
        let case = speed.case;
        lines.entry((case.direction, case.order, case.queue_depth)).or_default().push(speed);
    }
    let series: Vec<Series> =
        lines.into_iter().enumerate().map(|(index, (kind, speeds))| line(index, kind, speeds)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|line| &line.points).map(of);
    Some(Chart {
        id: "request-speed",
        title: "Speed by the size of requests".to_owned(),
        description:
            "Every point is the speed of equal requests once they had started up, with its interval."
                .to_owned(),
        x: Axis::around("size of each request", Unit::Bytes, Scale::Log2, values(|point| point.x))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, values(|point| point.y))?,
        notes: Vec::new(),
        table: table(report.run),
        series,
    })
}

fn line(index: usize, (direction, order, queue_depth): Kind, mut speeds: Vec<&Speed>) -> Series {
    speeds.sort_by_key(|speed| speed.case.request);
    let order = if order == Order::Linear { "in order" } else { "random" };
    let colours = match direction {
        Direction::Read => Colour::CALM,
        Direction::Write => Colour::ALARM,
    };
    let markers = [Marker::FILLED, Marker::OPEN].concat();
    let point = |speed: &Speed| {
        Point::new(speed.case.request.as_f64(), speed.bytes_per_s)
            .within(speed.bytes_per_s_low, speed.bytes_per_s_high)
    };
    Series {
        name: format!("{}, {order}{}", direction.as_str(), in_flight(queue_depth)),
        colour: colours[index % colours.len()],
        marker: markers[index % markers.len()],
        drawn: Drawn::Line,
        points: speeds.into_iter().map(point).collect(),
    }
}
