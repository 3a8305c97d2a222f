//! Speed over what was written: where a long stream of writes becomes slow, and what lasts.

use flashscope_device::Bytes;
use flashscope_probe::FindingId;
use flashscope_probe::inference::{Change, course};
use flashscope_probe::observation::{Piece, Resumed, SustainedData};

use super::{Axis, Chart, Colour, Drawn, Marker, Note, Point, Scale, Series, Table, Unit};
use crate::words::{name_of_change, stream};
use crate::{Report, quantity};

/// Fewer pieces show no course.
const PIECES_MIN: usize = 8;

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let data = stream(report).filter(|data| data.pieces.len() >= PIECES_MIN)?;
    let points = points(data.request, &data.pieces, Bytes::ZERO);
    let table = table(&points);
    let series: Vec<Series> = std::iter::once(main(points)).chain(resumed(data)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|series| &series.points).map(of);
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
        notes: notes(report, data),
        table,
        series,
    })
}

fn main(points: Vec<Point>) -> Series {
    Series {
        name: "writes in order".to_owned(),
        colour: Colour::Blue,
        marker: Marker::Circle,
        drawn: Drawn::Dots,
        points,
    }
}

/// What was written behind pauses, where it belongs.
fn resumed(data: &SustainedData) -> Vec<Series> {
    let mut written = data.written();
    let series = |(index, resumed): (usize, &Resumed)| {
        let points = points(data.request, &resumed.pieces, written);
        written += resumed.pieces.iter().map(|piece| data.request * u64::from(piece.requests)).sum();
        Series {
            name: format!("behind a pause of {} s", resumed.pause.as_secs()),
            colour: Colour::ALARM[index % Colour::ALARM.len()],
            marker: Marker::FILLED[(index + 1) % Marker::FILLED.len()],
            drawn: Drawn::Dots,
            points,
        }
    };
    data.resumed.iter().enumerate().map(series).collect()
}

/// The speed of each piece, at its end.
fn points(request: Bytes, pieces: &[Piece], mut written: Bytes) -> Vec<Point> {
    let point = |piece: &Piece| {
        let bytes = request * u64::from(piece.requests);
        written += bytes;
        let speed = bytes.as_f64() / piece.time.as_secs_f64();
        speed.is_finite().then(|| Point::new(written.as_f64(), speed))
    };
    pieces.iter().filter_map(point).collect()
}

/// Where the speed changes, by name; the end of a cache also where nothing else tells it.
fn notes(report: &Report<'_>, data: &SustainedData) -> Vec<Note> {
    let note = |change: &Change| Note { at: change.written.as_f64(), label: name_of_change(report, change) };
    let notes: Vec<Note> = course(data).changes.iter().map(note).collect();
    if notes.is_empty() { cache(report).into_iter().collect() } else { notes }
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

    use super::*;

    #[test]
    fn a_piece_stands_where_it_ends_with_its_own_speed() {
        let piece = |milliseconds| Piece { requests: 2, time: Duration::from_millis(milliseconds) };
        let points = points(Bytes::mib(1), &[piece(100), piece(0), piece(200)], Bytes::ZERO);
        assert_eq!(points.len(), 2, "a piece that took no time has no speed");
        assert!((points[1].x - Bytes::mib(6).as_f64()).abs() < 1.0);
        assert!((points[1].y - Bytes::mib(10).as_f64()).abs() < 1.0);
    }
}
