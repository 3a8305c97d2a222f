//! Devices compared: their sustained writes in one chart, and the speed of their first bytes in a table.

mod ratio;

use flashscope_device::Bytes;
use flashscope_infer::streams::sustained::{SoFar, so_far};
use flashscope_infer::streams::throughput_profile::stalls_of;
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::{Data, SustainedData};
use flashscope_record::run_file::RunFile;
use maud::html;

use crate::chart::{Axis, Chart, Colour, Marker, Point, Scale, Series, SeriesStyle, Table, Unit};
use crate::speeds::rounded;
use crate::{Style, html as page, printable, quantity, terminal};

pub use ratio::{SpeedRatio, ratios, sentences};

/// The keys in `--json`, and the sizes: a photo, an album and a film.
pub const FIRST_BYTES: [(&str, Bytes); 3] = [
    ("first_10_mb_bytes_per_s", Bytes::new(10_000_000)),
    ("first_100_mb_bytes_per_s", Bytes::new(100_000_000)),
    ("first_1_gb_bytes_per_s", Bytes::new(1_000_000_000)),
];
/// The column titles of these sizes.
const FIRST_NAMES: [&str; 3] = ["first 10 MB", "first 100 MB", "first 1 GB"];
const UNKNOWN: &str = "unknown";
/// The ratio between the bytes written at neighbouring points: at most 62 points from 1 MB to 1 TB.
const POINT_RATIO: f64 = 1.25;

/// One device of a comparison.
#[derive(Debug)]
pub struct Compared<'a> {
    /// Its name in the comparison.
    pub name: String,
    /// Its sustained write.
    sustained_write: &'a SustainedData,
    /// Its steady-state write speed, known or unknown.
    pub sustained: Option<Finding>,
}

impl<'a> Compared<'a> {
    /// The device of a run under this name; `None` if no sustained write was measured.
    #[must_use]
    pub fn of(name: &str, run: &'a RunFile) -> Option<Self> {
        let sustained_write =
            run.observations.iter().rev().find_map(|observations| match &observations.data {
                Data::Sustained(data) if !data.pieces.is_empty() => Some(data),
                _ => None,
            })?;
        let findings = flashscope_infer::relevant_findings_of(run);
        let sustained = findings.into_iter().find(|each| each.id == FindingId::SustainedWriteBytesPerS);
        Some(Self { name: printable(name), sustained_write, sustained })
    }

    /// The speed over the first `bytes`; `None` if fewer were written.
    #[must_use]
    pub fn speed_of_first(&self, bytes: f64) -> Option<f64> {
        let (mut written, mut seconds) = (0.0, 0.0);
        for (length, took) in self.pieces() {
            if written + length >= bytes {
                return Some(bytes / (seconds + took * (bytes - written) / length));
            }
            (written, seconds) = (written + length, seconds + took);
        }
        None
    }

    /// The speed at the end of the measurement, steady state or not; `None` with too few writes.
    #[must_use]
    pub fn so_far(&self) -> Option<SoFar> {
        so_far(self.sustained_write)
    }

    /// The steady-state speed; if unknown, the speed so far with the bytes written.
    fn sustained_text(&self) -> String {
        if let Some(Value::BytesPerSecond(rate)) = self.sustained.as_ref().and_then(Finding::value) {
            return quantity::speed(rate);
        }
        self.so_far().map_or_else(
            || UNKNOWN.to_owned(),
            |so_far| {
                format!("{UNKNOWN} ({} over {})", quantity::speed(so_far.bytes_per_s), rounded(so_far.bytes))
            },
        )
    }

    /// Bytes and seconds of each piece of the sustained write.
    fn pieces(&self) -> impl Iterator<Item = (f64, f64)> {
        let request = self.sustained_write.request.as_f64();
        let pieces = self.sustained_write.pieces.iter().filter(|piece| piece.requests > 0);
        pieces.map(move |piece| (request * f64::from(piece.requests), piece.time.as_secs_f64()))
    }

    /// The mean speed since the previous point, at the end of each interval.
    fn points(&self) -> Vec<Point> {
        let (mut written, mut next, mut start, mut seconds) = (0.0, 1e6, 0.0, 0.0);
        let mut points = Vec::new();
        for (length, took) in self.pieces() {
            (written, seconds) = (written + length, seconds + took);
            if written >= next && seconds > 0.0 {
                points.push(Point::new(written, (written - start) / seconds));
                (start, next, seconds) = (written, written * POINT_RATIO, 0.0);
            }
        }
        points
    }

    fn row(&self) -> Vec<String> {
        let first = FIRST_BYTES.map(|(_, bytes)| {
            self.speed_of_first(bytes.as_f64()).map_or_else(|| UNKNOWN.to_owned(), quantity::speed)
        });
        let stalls = stalls_of(self.sustained_write).map_or_else(String::new, |stalls| {
            format!("{} every {}", quantity::seconds(stalls.seconds), rounded(stalls.period))
        });
        std::iter::once(self.name.clone()).chain(first).chain([self.sustained_text(), stalls]).collect()
    }
}

/// One row per device.
fn table(devices: &[Compared<'_>]) -> Table {
    let header = std::iter::once("device").chain(FIRST_NAMES).chain(["sustained", "stalls"]);
    let rows = devices.iter().map(Compared::row).collect();
    Table { header: header.map(str::to_owned).collect(), rows }.without_empty_columns()
}

/// The write speed of each device over the bytes written; `None` without a point.
#[must_use]
pub fn chart(devices: &[Compared<'_>]) -> Option<Chart> {
    let series: Vec<Series> = devices.iter().enumerate().map(|(index, device)| line(index, device)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|line| &line.points).map(of);
    Some(Chart {
        id: "compare",
        title: "Write speed over the bytes written".to_owned(),
        description: "One line per device. Each point is the mean speed since the previous point.".to_owned(),
        x: Axis::around("bytes written", Unit::Bytes, Scale::Log2, values(|point| point.x))?,
        y: Axis::around("write speed", Unit::BytesPerSecond, Scale::Log10, values(|point| point.y))?,
        annotations: Vec::new(),
        table: table(devices),
        series,
    })
}

fn line(index: usize, device: &Compared<'_>) -> Series {
    let colours = [Colour::Blue, Colour::Red, Colour::Green, Colour::Orange, Colour::Violet, Colour::Teal];
    let markers = [Marker::FILLED, Marker::OPEN].concat();
    Series {
        name: device.name.clone(),
        colour: colours[index % colours.len()],
        marker: markers[index % markers.len()],
        style: SeriesStyle::Line,
        points: device.points(),
    }
}

/// The comparison as text, lines at most `width` columns wide: who is faster, the speeds, and a chart.
#[must_use]
pub fn text(devices: &[Compared<'_>], width: usize, style: Style) -> String {
    let verdict: String = sentences(devices)
        .iter()
        .flat_map(|sentence| terminal::wrapped(sentence, width))
        .map(|line| line + "\n")
        .collect();
    verdict + "\n" + &terminal::speed_table(&table(devices), chart(devices).as_ref(), width, style)
}

/// The comparison as one self-contained page.
#[must_use]
pub fn html_page(devices: &[Compared<'_>]) -> String {
    let charts: Vec<Chart> = chart(devices).into_iter().collect();
    let main = html! {
        header {
            h1 { "Sustained writes compared" }
            @for sentence in sentences(devices) { p { (sentence) } }
        }
        section class="speeds" { h2 { "Speeds" } (page::plain_table(&table(devices))) }
        (page::charts::section(&charts))
    };
    page::page(&format!("{} devices compared", devices.len()), &main)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::observation::Piece;

    use super::*;

    /// A stream of these numbers of MB, and their milliseconds.
    fn stream(pieces: &[(u32, u64)]) -> SustainedData {
        let piece = |(requests, milliseconds): &(u32, u64)| Piece {
            requests: *requests,
            time: Duration::from_millis(*milliseconds),
        };
        SustainedData {
            request: Bytes::new(1_000_000),
            pieces: pieces.iter().map(piece).collect(),
            ..SustainedData::default()
        }
    }

    #[test]
    fn point_of_a_line_is_the_speed_since_the_previous_one_after_a_quarter_more_bytes() {
        let sustained_write = stream(&[(2, 100), (0, 5000), (4, 400), (1, 100), (1, 400)]);
        let device = Compared { name: String::new(), sustained_write: &sustained_write, sustained: None };
        let points: Vec<(f64, f64)> =
            device.points().iter().map(|point| (point.x / 1e6, (point.y / 1e5).round() / 10.0)).collect();
        assert_eq!(points, [(2.0, 20.0), (6.0, 10.0), (8.0, 4.0)]);
    }

    #[test]
    fn speed_of_the_first_bytes_counts_a_part_of_the_piece_they_end_in() {
        let sustained_write = stream(&[(2, 100), (0, 5000), (4, 400)]);
        let device = Compared { name: String::new(), sustained_write: &sustained_write, sustained: None };
        let speed = |megabytes: f64| {
            let speed = device.speed_of_first(megabytes * 1e6)?;
            Some((speed / 1e5).round() / 10.0)
        };
        let seen = [1.0, 2.0, 3.0, 6.0].map(speed);
        assert_eq!(seen, [Some(20.0), Some(20.0), Some(15.0), Some(12.0)]);
        assert_eq!(speed(6.1), None, "fewer were written");
    }

    /// The first MB took no time that the clock shows, so it has no speed of its own.
    #[test]
    fn bytes_that_took_no_time_have_no_point() {
        let sustained_write = SustainedData {
            request: Bytes::new(100_000),
            ..stream(&[(10, 0), (10, 100), (4, 40), (1, 10), (6, 60)])
        };
        let device = Compared { name: String::new(), sustained_write: &sustained_write, sustained: None };
        assert_eq!(line(0, &device).points, [Point::new(2e6, 2e7), Point::new(2.5e6, 1e7)]);
    }
}
