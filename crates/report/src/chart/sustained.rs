//! Speed over what was written: where a long stream of writes becomes slow, and what lasts.

use flashscope_device::Bytes;
use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::throughput_profile::{stalled_writes, stalls_of, throughput_profile};
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{LongWrite, Piece, Resumed, SustainedData};

use super::{Axis, Chart, Colour, Drawn, Marker, Note, Point, Scale, Series, Table, Unit};
use crate::words::{name_of_change, stream};
use crate::{Report, quantity};

/// Fewer pieces show no course.
const PIECES_MIN: usize = 8;
/// A stream is drawn in so many parts: more would hide each other.
const PARTS: u64 = 128;
/// Fewer parts show no course.
const PARTS_MIN: u64 = 48;
/// So many periods of stalls make a part, where there are enough: one more or less in it then hardly shows.
const PERIODS: u64 = 4;

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let data = stream(report).filter(|data| data.pieces.len() >= PIECES_MIN)?;
    let points = points(data.request, &equal(data), Bytes::ZERO);
    let table = table(&points);
    let series: Vec<Series> =
        std::iter::once(main(points)).chain(stalled(data)).chain(resumed(data)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|series| &series.points).map(of);
    Some(Chart {
        id: "sustained",
        title: "Speed of one long stream of writes".to_owned(),
        description: description(data),
        x: Axis::around("written so far", Unit::Bytes, Scale::Linear, values(|point| point.x).chain([0.0]))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Linear, values(|point| point.y).chain([0.0]))?,
        notes: notes(report, data),
        table,
        series,
    })
}

fn description(data: &SustainedData) -> String {
    let (request, written) = (data.request, data.written());
    if data.is_spread {
        return format!(
            "Every dot is a write of {request} with its flush; they lie apart, {written} in all."
        );
    }
    let behind: Bytes = data.resumed.iter().map(|resumed| data.bytes_of(&resumed.pieces)).sum();
    let behind = if behind.is_zero() { String::new() } else { format!(", and {behind} more behind pauses") };
    format!(
        "Every dot is writes of {request}, one behind the other, stalls included, in parts of about equal size; {written} in all{behind}."
    )
}

/// The stream in parts of equal size, and of some periods of its stalls where these are short: pieces are of one write at first and of many later, and what stalls
/// only now and then would make the small ones fast. Samples stand alone.
fn equal(data: &SustainedData) -> Vec<Piece> {
    if data.is_spread {
        return data.pieces.clone();
    }
    merged(data.request, &data.pieces, part(data.written(), period(data)))
}

/// How much a part of a stream holds. Where stalls are so rare that a period is longer than that, each shows in a part of its own.
fn part(written: Bytes, period: Bytes) -> Bytes {
    let periods = if period.is_zero() { 0 } else { (written / PARTS_MIN / period).min(PERIODS) };
    (written / PARTS).max(period * periods)
}

/// What lies from one stall to the next; nothing where none come again and again.
fn period(data: &SustainedData) -> Bytes {
    stalls_of(data).map_or(Bytes::ZERO, |stalls| stalls.period)
}

/// The same writes in pieces of so many bytes at least.
fn merged(request: Bytes, pieces: &[Piece], least: Bytes) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match merged.last_mut().filter(|last| request * u64::from(last.requests) < least) {
            Some(last) => {
                last.requests = last.requests.saturating_add(piece.requests);
                last.time += piece.time;
            }
            None => merged.push(*piece),
        }
    }
    merged
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

/// The writes that stalled, each at its own speed: as many as can be told apart, spread over the stream.
fn stalled(data: &SustainedData) -> Option<Series> {
    let stalled = stalled_writes(data);
    let apart = stalled.len().div_ceil(PARTS as usize).max(1);
    let point = |write: &LongWrite| {
        Point::new(write.written.as_f64(), data.request.as_f64() / write.took.as_secs_f64())
    };
    let points: Vec<Point> = stalled.iter().step_by(apart).map(point).collect();
    let name = if apart == 1 { "writes that stalled" } else { "some of the writes that stalled" };
    (!points.is_empty()).then(|| Series {
        name: name.to_owned(),
        colour: Colour::Grey,
        marker: Marker::Cross,
        drawn: Drawn::Dots,
        points,
    })
}

/// What was written behind pauses, where it belongs.
fn resumed(data: &SustainedData) -> Vec<Series> {
    let mut written = data.written();
    let least = period(data).min(part(written, period(data)));
    let series = |(index, resumed): (usize, &Resumed)| {
        let points = points(data.request, &merged(data.request, &resumed.pieces, least), written);
        written += data.bytes_of(&resumed.pieces);
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
    let notes: Vec<Note> = throughput_profile(data).changes.iter().map(note).collect();
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

    /// Writes of 1 MiB, of which every so many stalls, in pieces of one at first and of 64 later.
    fn stalling(every: u64, stall: Duration, pieces: u64) -> SustainedData {
        let took =
            |index: u64| if (index + 1).is_multiple_of(every) { stall } else { Duration::from_millis(40) };
        let piece = |first: u64, requests: u32| Piece {
            requests,
            time: (first..first + u64::from(requests)).map(took).sum(),
        };
        let small = (0..256).map(|index| piece(index, 1));
        let large = (0..pieces).map(|index| piece(256 + index * 64, 64));
        let long = |index: u64| LongWrite {
            written: Bytes::mib(index + 1),
            took: took(index),
            ended: (0..=index).map(took).sum(),
        };
        let stalled = (0..256 + pieces * 64).filter(|index| (index + 1).is_multiple_of(every));
        SustainedData {
            request: Bytes::mib(1),
            pieces: small.chain(large).collect(),
            long: stalled.map(long).collect(),
            ..SustainedData::default()
        }
    }

    #[test]
    fn rare_stalls_leave_a_course_to_be_seen() {
        for every in [48, 100, 300, 1024, 4096] {
            let data = stalling(every, Duration::from_secs(90), 236);
            assert_eq!(period(&data), Bytes::mib(every));
            let points = points(data.request, &equal(&data), Bytes::ZERO);
            assert!((40..=128).contains(&points.len()), "{every}: {}", points.len());
            assert!(stalled(&data).is_some_and(|stalled| stalled.points.len() >= 3));
        }
    }

    #[test]
    fn stalls_do_not_make_small_pieces_fast() {
        let data = stalling(16, Duration::from_millis(1760), 40);
        let points = points(data.request, &equal(&data), Bytes::ZERO);
        let mean = Bytes::mib(16).as_f64() / (15.0 * 0.04 + 1.76);
        assert!(
            points.len() >= 40 && points.iter().all(|point| (point.y / mean - 1.0).abs() < 0.01),
            "{points:?}"
        );
    }
}
