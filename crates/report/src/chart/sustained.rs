//! Speed over what was written: where a long stream of writes becomes slow, and what lasts.

use flashscope_device::Bytes;
use flashscope_probe::FindingId;
use flashscope_probe::observation::{Data, SustainedData};

use super::{Axis, Chart, Colour, Drawn, Marker, Note, Point, Scale, Series, Table, Unit};
use crate::{Report, quantity};

/// Fewer pieces show no course.
const PIECES_MIN: usize = 8;

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let data = report.run.observations.iter().rev().find_map(|seen| match &seen.data {
        Data::Sustained(data) if data.pieces.len() >= PIECES_MIN => Some(data),
        _ => None,
    })?;
    let points = points(data);
    let values = |of: fn(&Point) -> f64| points.iter().map(of);
    Some(Chart {
        id: "sustained",
        title: "Speed of one long stream of writes".to_owned(),
        description: format!(
            "Every dot is some writes of {}, one behind the other; {} in all.",
            data.request,
            data.written()
        ),
        x: Axis::around("written so far", Unit::Bytes, Scale::Linear, values(|point| point.x).chain([0.0]))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Linear, values(|point| point.y).chain([0.0]))?,
        notes: cache(report).into_iter().collect(),
        table: table(&points),
        series: vec![Series {
            name: "writes in order".to_owned(),
            colour: Colour::Blue,
            marker: Marker::Circle,
            drawn: Drawn::Dots,
            points,
        }],
    })
}

/// The speed of each piece, at its end.
fn points(data: &SustainedData) -> Vec<Point> {
    let mut written = Bytes::ZERO;
    let point = |piece: &flashscope_probe::observation::Piece| {
        let bytes = data.request * u64::from(piece.requests);
        written += bytes;
        let speed = bytes.as_f64() / piece.time.as_secs_f64();
        speed.is_finite().then(|| Point::new(written.as_f64(), speed))
    };
    data.pieces.iter().filter_map(point).collect()
}

fn cache(report: &Report<'_>) -> Option<Note> {
    let cache = report.size(FindingId::SlcCacheBytes)?;
    Some(Note { at: cache.as_f64(), label: format!("cache {cache}") })
}

/// The stream in eight parts.
fn table(points: &[Point]) -> Table {
    let header = ["written so far", "slowest", "fastest"].map(str::to_owned).to_vec();
    let row = |part: &[Point]| {
        let slowest = part.iter().map(|point| point.y).fold(f64::INFINITY, f64::min);
        let fastest = part.iter().map(|point| point.y).fold(0.0, f64::max);
        let written = part.last().map_or(0.0, |point| point.x);
        vec![Bytes::new(written as u64).to_string(), quantity::speed(slowest), quantity::speed(fastest)]
    };
    Table { header, rows: points.chunks(points.len().div_ceil(8).max(1)).map(row).collect() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_probe::observation::Piece;

    use super::*;

    #[test]
    fn a_piece_stands_where_it_ends_with_its_own_speed() {
        let piece = |milliseconds| Piece { requests: 2, time: Duration::from_millis(milliseconds) };
        let data = SustainedData { request: Bytes::mib(1), pieces: vec![piece(100), piece(0), piece(200)] };
        let points = points(&data);
        assert_eq!(points.len(), 2, "a piece that took no time has no speed");
        assert!((points[1].x - Bytes::mib(6).as_f64()).abs() < 1.0);
        assert!((points[1].y - Bytes::mib(10).as_f64()).abs() < 1.0);
    }
}
