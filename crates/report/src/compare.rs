//! Several devices side by side: long streams of writes in one chart, and what their first bytes took.

use flashscope_device::Bytes;
use flashscope_infer::streams::sustained::{SoFar, so_far};
use flashscope_infer::streams::throughput_profile::stalls_of;
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::{Data, SustainedData};
use flashscope_record::run_file::RunFile;
use maud::html;

use crate::chart::{Axis, Chart, Colour, Drawn, Marker, Point, Scale, Series, Table, Unit};
use crate::{Style, html as page, printable, quantity, terminal};

/// What a photo, an album and a film take: keys for `--json`, and how many bytes.
pub const FIRST_BYTES: [(&str, Bytes); 3] = [
    ("first_10_mb_bytes_per_s", Bytes::new(10_000_000)),
    ("first_100_mb_bytes_per_s", Bytes::new(100_000_000)),
    ("first_1_gb_bytes_per_s", Bytes::new(1_000_000_000)),
];
/// The same for people.
const FIRST_NAMES: [&str; 3] = ["first 10 MB", "first 100 MB", "first 1 GB"];
const UNKNOWN: &str = "unknown";
/// Points of a curve lie this factor apart: fewer than a hundred from a megabyte to a terabyte.
const STEP: f64 = 1.25;

/// One device of a comparison.
#[derive(Debug)]
pub struct Compared<'a> {
    /// What it is called in the comparison.
    pub name: String,
    /// Its long stream.
    stream: &'a SustainedData,
    /// The speed in the long run, known or not.
    pub sustained: Option<Finding>,
}

impl<'a> Compared<'a> {
    /// The device of a run under this name; `None` if no long stream was measured.
    #[must_use]
    pub fn of(name: &str, run: &'a RunFile) -> Option<Self> {
        let stream = run.observations.iter().rev().find_map(|seen| match &seen.data {
            Data::Sustained(data) if !data.pieces.is_empty() => Some(data),
            _ => None,
        })?;
        let findings = flashscope_infer::relevant_findings_of(run);
        let sustained = findings.into_iter().find(|each| each.id == FindingId::SustainedWriteBytesPerS);
        Some(Self { name: printable(name), stream, sustained })
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

    /// How fast it was in the end, whether or not that lasts; `None` from too few writes.
    #[must_use]
    pub fn so_far(&self) -> Option<SoFar> {
        so_far(self.stream)
    }

    /// The speed that lasts; or the one so far, with over how much.
    fn lasts(&self) -> String {
        if let Some(Value::BytesPerSecond(rate)) = self.sustained.as_ref().and_then(Finding::value) {
            return quantity::speed(rate);
        }
        self.so_far().map_or_else(
            || UNKNOWN.to_owned(),
            |so_far| format!("{UNKNOWN} ({} over {})", quantity::speed(so_far.bytes_per_s), so_far.bytes),
        )
    }

    fn pieces(&self) -> impl Iterator<Item = (f64, f64)> {
        let request = self.stream.request.as_f64();
        let pieces = self.stream.pieces.iter().filter(|piece| piece.requests > 0);
        pieces.map(move |piece| (request * f64::from(piece.requests), piece.time.as_secs_f64()))
    }

    /// The speed between places that lie a step apart, at their ends.
    fn points(&self) -> Vec<Point> {
        let (mut written, mut next, mut begun, mut seconds) = (0.0, 1e6, 0.0, 0.0);
        let mut points = Vec::new();
        for (length, took) in self.pieces() {
            (written, seconds) = (written + length, seconds + took);
            if written >= next && seconds > 0.0 {
                points.push(Point::new(written, (written - begun) / seconds));
                (begun, next, seconds) = (written, written * STEP, 0.0);
            }
        }
        points
    }

    fn row(&self) -> Vec<String> {
        let first = FIRST_BYTES.map(|(_, bytes)| {
            self.speed_of_first(bytes.as_f64()).map_or_else(|| UNKNOWN.to_owned(), quantity::speed)
        });
        let stalls = stalls_of(self.stream).map_or_else(String::new, |stalls| {
            format!("{} every {}", quantity::seconds(stalls.seconds), crate::speeds::about(stalls.period))
        });
        std::iter::once(self.name.clone()).chain(first).chain([self.lasts(), stalls]).collect()
    }
}

/// One row per device.
fn table(devices: &[Compared<'_>]) -> Table {
    let header = std::iter::once("device").chain(FIRST_NAMES).chain(["in the long run", "stalls"]);
    let rows = devices.iter().map(Compared::row).collect();
    Table { header: header.map(str::to_owned).collect(), rows }.without_empty_columns()
}

/// The curves, one over the other; `None` if none has a point.
#[must_use]
pub fn chart(devices: &[Compared<'_>]) -> Option<Chart> {
    let series: Vec<Series> = devices.iter().enumerate().map(|(index, device)| line(index, device)).collect();
    let values = |of: fn(&Point) -> f64| series.iter().flat_map(|line| &line.points).map(of);
    Some(Chart {
        id: "compare",
        title: "Speed of long streams of writes".to_owned(),
        description: "Each point is the mean speed since the point before it.".to_owned(),
        x: Axis::around("written so far", Unit::Bytes, Scale::Log2, values(|point| point.x))?,
        y: Axis::around("speed", Unit::BytesPerSecond, Scale::Log10, values(|point| point.y))?,
        notes: Vec::new(),
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
        drawn: Drawn::Line,
        points: device.points(),
    }
}

/// The comparison as text, lines at most `width` columns wide.
#[must_use]
pub fn text(devices: &[Compared<'_>], width: usize, style: Style) -> String {
    terminal::plain(&table(devices), chart(devices).as_ref(), width, style)
}

/// The comparison as one self-contained page.
#[must_use]
pub fn html_page(devices: &[Compared<'_>]) -> String {
    let charts: Vec<Chart> = chart(devices).into_iter().collect();
    let main = html! {
        header { h1 { "Long streams of writes, side by side" } }
        section class="speeds" { h2 { "Speeds" } (page::plain_table(&table(devices))) }
        (page::charts::section(&charts))
    };
    page::page(&format!("{} devices compared", devices.len()), &main)
}
