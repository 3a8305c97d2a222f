//! Write speed over the bytes written: the throughput profile of a sustained write.

use flashscope_device::Bytes;
use flashscope_infer::streams::changes::Change;
use flashscope_infer::streams::throughput_profile::{stalled_writes, stalls_of, throughput_profile};
use flashscope_record::finding::FindingId;
use flashscope_record::observation::{LongWrite, Piece, Resumed, SustainedData};

use super::{Annotation, Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use crate::words::{change_name, sustained_write};
use crate::{Report, quantity};

/// The fewest pieces that are drawn. Guess: fewer show no profile.
const PIECES_MIN: usize = 8;
/// The most points of the profile. Guess: more would overlap.
const POINTS_MAX: u64 = 128;
/// The fewest points at which stalls are averaged. Guess: fewer show no profile.
const POINTS_MIN: u64 = 48;
/// The stall periods averaged in a point, if the profile is long enough. Guess: one stall more or less then
/// hardly shows.
const PERIODS_MAX: u64 = 4;

pub fn chart(report: &Report<'_>) -> Option<Chart> {
    let data = sustained_write(report).filter(|data| data.pieces.len() >= PIECES_MIN)?;
    let points = points(data.request, &equal_pieces(data), Bytes::ZERO);
    let table = table(&points);
    let series: Vec<Series> =
        std::iter::once(profile(points)).chain(stalled(data)).chain(resumed(data)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|series| &series.points).map(of);
    Some(Chart {
        id: "sustained",
        title: "Speed of a sustained sequential write".to_owned(),
        description: description(data),
        x: Axis::around("bytes written", Unit::Bytes, Scale::Linear, values(|point| point.x).chain([0.0]))?,
        y: Axis::around(
            "write speed",
            Unit::BytesPerSecond,
            Scale::Linear,
            values(|point| point.y).chain([0.0]),
        )?,
        annotations: annotations(report, data),
        table,
        series,
    })
}

fn description(data: &SustainedData) -> String {
    let (request, written) = (data.request, data.written());
    if data.is_spread {
        return format!("One dot per sampled write of {request} with its flush; {written} in all.");
    }
    let after_idle: Bytes = data.resumed.iter().map(|resumed| data.bytes_of(&resumed.pieces)).sum();
    let after_idle =
        if after_idle.is_zero() { String::new() } else { format!(", and {after_idle} after idle pauses") };
    format!(
        "Sequential writes of {request}: {written} in all{after_idle}. Each dot is the mean speed of an equal share, stalls included."
    )
}

/// The pieces merged to about equal sizes, each of several stall periods where these are short. Recorded
/// pieces hold one write at first and many later, so unmerged small pieces between stalls would look fast.
/// Samples are not merged.
fn equal_pieces(data: &SustainedData) -> Vec<Piece> {
    if data.is_spread {
        return data.pieces.clone();
    }
    merged(data.request, &data.pieces, piece_size(data.written(), period(data)))
}

/// The size of a merged piece. A stall period longer than this gives each stall its own piece.
fn piece_size(written: Bytes, period: Bytes) -> Bytes {
    let periods = if period.is_zero() { 0 } else { (written / POINTS_MIN / period).min(PERIODS_MAX) };
    (written / POINTS_MAX).max(period * periods)
}

/// The bytes from one stall to the next; zero without periodic stalls.
fn period(data: &SustainedData) -> Bytes {
    stalls_of(data).map_or(Bytes::ZERO, |stalls| stalls.period)
}

/// The same writes in pieces of at least `least` bytes.
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

fn profile(points: Vec<Point>) -> Series {
    Series {
        name: "sequential writes".to_owned(),
        colour: Colour::Blue,
        marker: Marker::Circle,
        style: SeriesStyle::Dots,
        points,
    }
}

/// Stalled writes, each at its own speed; at most `POINTS_MAX`, evenly spaced.
fn stalled(data: &SustainedData) -> Option<Series> {
    let stalled = stalled_writes(data);
    let step = stalled.len().div_ceil(POINTS_MAX as usize).max(1);
    let point = |write: &LongWrite| {
        Point::new(write.written.as_f64(), data.request.as_f64() / write.took.as_secs_f64())
    };
    let points: Vec<Point> = stalled.iter().step_by(step).map(point).collect();
    let name = if step == 1 { "stalled writes" } else { "stalled writes (a selection)" };
    (!points.is_empty()).then(|| Series {
        name: name.to_owned(),
        colour: Colour::Grey,
        marker: Marker::Cross,
        style: SeriesStyle::Dots,
        points,
    })
}

/// The writes after idle pauses, continuing along the axis.
fn resumed(data: &SustainedData) -> Vec<Series> {
    let mut written = data.written();
    let least = period(data).min(piece_size(written, period(data)));
    let series = |(index, resumed): (usize, &Resumed)| {
        let points = points(data.request, &merged(data.request, &resumed.pieces, least), written);
        written += data.bytes_of(&resumed.pieces);
        Series {
            name: format!("after {} s idle", resumed.pause.as_secs()),
            colour: Colour::BAD[index % Colour::BAD.len()],
            marker: Marker::FILLED[(index + 1) % Marker::FILLED.len()],
            style: SeriesStyle::Dots,
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

/// The changes of speed; without any, the size of the SLC cache.
fn annotations(report: &Report<'_>, data: &SustainedData) -> Vec<Annotation> {
    let annotation =
        |change: &Change| Annotation { x: change.written.as_f64(), label: change_name(report, change) };
    let annotations: Vec<Annotation> = throughput_profile(data).changes.iter().map(annotation).collect();
    if annotations.is_empty() { slc_cache(report).into_iter().collect() } else { annotations }
}

fn slc_cache(report: &Report<'_>) -> Option<Annotation> {
    let cache = report.size(FindingId::SlcCacheBytes)?;
    Some(Annotation { x: cache.as_f64(), label: format!("SLC cache {cache}") })
}

/// The slowest and fastest point in each eighth of the profile.
fn table(points: &[Point]) -> Table {
    let header = ["bytes written", "slowest", "fastest"].map(str::to_owned).to_vec();
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
    fn a_piece_is_drawn_at_its_end_with_its_mean_speed() {
        let piece = |milliseconds| Piece { requests: 2, time: Duration::from_millis(milliseconds) };
        let points = points(Bytes::mib(1), &[piece(100), piece(0), piece(200)], Bytes::ZERO);
        assert_eq!(points.len(), 2, "a piece of zero duration has no speed");
        assert!((points[1].x - Bytes::mib(6).as_f64()).abs() < 1.0);
        assert!((points[1].y - Bytes::mib(10).as_f64()).abs() < 1.0);
    }

    /// Writes of 1 MiB, one stall in `every`, in pieces of one write at first and of 64 later.
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
    fn rare_stalls_leave_a_visible_profile() {
        for every in [48, 100, 300, 1024, 4096] {
            let data = stalling(every, Duration::from_secs(90), 236);
            assert_eq!(period(&data), Bytes::mib(every));
            let points = points(data.request, &equal_pieces(&data), Bytes::ZERO);
            assert!((40..=128).contains(&points.len()), "{every}: {}", points.len());
            assert!(stalled(&data).is_some_and(|stalled| stalled.points.len() >= 3));
        }
    }

    #[test]
    fn small_pieces_between_stalls_do_not_look_fast() {
        let data = stalling(16, Duration::from_millis(1760), 40);
        let points = points(data.request, &equal_pieces(&data), Bytes::ZERO);
        let mean = Bytes::mib(16).as_f64() / (15.0 * 0.04 + 1.76);
        assert!(
            points.len() >= 40 && points.iter().all(|point| (point.y / mean - 1.0).abs() < 0.01),
            "{points:?}"
        );
    }
}
