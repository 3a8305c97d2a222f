//! The latency of sequential writes over the request size, as the diagnosis uses it.

use flashscope_device::Bytes;

use flashscope_record::observation::{Data, Observations, Source};

use crate::diagnosis::gain::DIFFERS;
use crate::size_sweep::sweep::sweep_points;
use crate::size_sweep::write_unit::SweepPoint;
use crate::thresholds::SEVERAL;

/// Up to this size, *write-size* repeats every request several times (docs/methods/write-size.md).
const REPEATED_MAX: Bytes = Bytes::kib(256);
/// From this size on, the transfer of a write over a full link takes longer than the program time of a page.
/// Guess.
pub const LINE_REQUEST_MIN: Bytes = Bytes::kib(48);

/// The latency of a write as a linear function of its size, seconds.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// For each byte.
    pub per_byte: f64,
    /// For each command, besides its data.
    pub per_command: f64,
}

/// The points of *write-size* in ascending order of request size; at least one.
#[derive(Debug, Clone)]
pub struct SizeSweep {
    points: Vec<SweepPoint>,
    /// The least time per byte in the long run, seconds, if a write buffer absorbs single writes.
    time_per_byte_min: Option<f64>,
}

impl SizeSweep {
    /// `None` if *write-size* was not measured. Speeds of a log do not count: into how many blocks they were
    /// written is not known.
    pub fn of(observations: &[Observations]) -> Option<Self> {
        let measured = observations.iter().filter(|each| each.conditions.source == Source::Measured);
        let data = measured.filter_map(|each| match &each.data {
            Data::WriteSize(data) => Some(data.cells.iter().cloned()),
            _ => None,
        });
        let cells: Vec<_> = data.flatten().collect();
        let is_valid = |point: &SweepPoint| {
            let time_per_byte = point.seconds / point.size.as_f64();
            time_per_byte.is_finite() && time_per_byte > 0.0
        };
        let mut points: Vec<SweepPoint> = sweep_points(&cells).into_iter().filter(is_valid).collect();
        points.sort_by_key(|point| point.size);
        clip_outliers(&mut points);
        (!points.is_empty()).then_some(Self { points, time_per_byte_min: None })
    }

    /// The same sweep, with this least time per byte in the long run, seconds.
    #[must_use]
    pub fn with_time_per_byte_min(self, time_per_byte_min: Option<f64>) -> Self {
        Self { time_per_byte_min, ..self }
    }

    /// The least time per byte in the long run, seconds, if a write buffer absorbs single writes.
    pub const fn time_per_byte_min(&self) -> Option<f64> {
        self.time_per_byte_min
    }

    /// Whether a write buffer absorbs writes of this size faster than the flash takes them.
    pub fn is_absorbed_by_write_buffer(&self, size: Bytes) -> bool {
        self.time_per_byte_min.is_some_and(|min| self.measured_time_per_byte(size) < min)
    }

    /// The time per byte of many requests of this size, seconds.
    pub fn time_per_byte(&self, size: Bytes) -> f64 {
        self.measured_time_per_byte(size).max(self.time_per_byte_min.unwrap_or(0.0))
    }

    /// The time per byte of single requests, seconds. Latencies are interpolated between points and constant
    /// outside them.
    fn measured_time_per_byte(&self, size: Bytes) -> f64 {
        let below = self.points.iter().rfind(|point| point.size <= size);
        let above = self.points.iter().find(|point| point.size >= size);
        match (below, above) {
            (Some(below), Some(above)) if above.size > below.size => {
                let share = (size - below.size).as_f64() / (above.size - below.size).as_f64();
                (below.seconds + (above.seconds - below.seconds) * share) / size.as_f64()
            }
            (Some(point), _) => point.seconds / point.size.as_f64(),
            // A smaller write takes as long as the smallest measured one.
            (None, Some(point)) => point.seconds / size.as_f64().max(1.0),
            (None, None) => 0.0,
        }
    }

    /// The least time per byte of all points, seconds.
    pub fn best_time_per_byte(&self) -> f64 {
        let times = self.points.iter().map(|point| point.seconds / point.size.as_f64());
        times.fold(f64::INFINITY, f64::min)
    }

    /// Whether no write as small as this was measured.
    pub fn starts_above(&self, size: Bytes) -> bool {
        self.points.first().is_none_or(|point| point.size > size)
    }

    /// The lowest latency of all points, seconds.
    pub fn lowest_latency_s(&self) -> f64 {
        self.points.iter().map(|point| point.seconds).fold(f64::INFINITY, f64::min)
    }

    /// The latency by commands and bytes, over the sizes that `is_used`, if the host splits requests at
    /// `command_max`: least squares of the relative errors. `None` with too few sizes, or if the fitted time
    /// per byte is not positive.
    pub fn line(&self, command_max: Option<Bytes>, is_used: impl Fn(Bytes) -> bool) -> Option<Line> {
        let (mut nn, mut ns, mut ss, mut n, mut s) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let points = self.points.iter().filter(|point| is_used(point.size));
        for point in points.clone() {
            let commands = commands(point.size, command_max.unwrap_or(point.size)) / point.seconds;
            let bytes = point.size.as_f64() / point.seconds;
            (nn, ns, ss) = (nn + commands * commands, ns + commands * bytes, ss + bytes * bytes);
            (n, s) = (n + commands, s + bytes);
        }
        let determinant = nn * ss - ns * ns;
        let line =
            Line { per_byte: (nn * s - ns * n) / determinant, per_command: (ss * n - ns * s) / determinant };
        let is_valid = points.count() >= SEVERAL && line.per_byte.is_finite() && line.per_byte > 0.0;
        is_valid.then(|| Line { per_command: line.per_command.max(0.0), ..line })
    }

    /// The time of one more byte in a large request, seconds: the slope between the largest request and a
    /// quarter of it.
    pub fn slope(&self) -> f64 {
        let Some(last) = self.points.last() else { return 0.0 };
        let quarter = self.points.iter().rfind(|point| point.size * 4 <= last.size);
        let slope = quarter
            .map(|quarter| (last.seconds - quarter.seconds) / (last.size - quarter.size).as_f64().max(1.0));
        slope.filter(|slope| *slope > 0.0).unwrap_or_else(|| self.best_time_per_byte())
    }
}

/// How many commands a request needs.
pub fn commands(request: Bytes, command_max: Bytes) -> f64 {
    (request.as_f64() / command_max.as_f64().max(1.0)).ceil()
}

/// Limits each large write to its share of the next smaller one: large writes have one or two samples, so
/// that no median removes a stall.
fn clip_outliers(points: &mut [SweepPoint]) {
    for index in 1..points.len() {
        let (below, point) = (points[index - 1], &mut points[index]);
        if point.size > REPEATED_MAX {
            let share = point.size.as_f64() / below.size.as_f64();
            point.seconds = point.seconds.min(below.seconds * share * DIFFERS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(points: &[(u64, f64)]) -> SizeSweep {
        let point = |(kib, seconds): &(u64, f64)| SweepPoint {
            size: Bytes::kib(*kib),
            seconds: *seconds,
            relative_error: 0.01,
            outliers: 0.0,
        };
        SizeSweep { points: points.iter().map(point).collect(), time_per_byte_min: None }
    }

    #[test]
    fn latency_is_interpolated_between_points_and_clamped_outside_them() {
        let sweep = sweep(&[(4, 1e-3), (32, 2e-3), (64, 4e-3), (1024, 64e-3)]);
        let latency = |kib: u64| sweep.time_per_byte(Bytes::kib(kib)) * Bytes::kib(kib).as_f64();
        for (kib, seconds) in [(4, 1e-3), (18, 1.5e-3), (48, 3e-3), (2, 1e-3), (2048, 128e-3)] {
            assert!((latency(kib) / seconds - 1.0).abs() < 1e-9, "{kib}: {}", latency(kib));
        }
        let line = sweep.line(None, |_| true);
        assert!(
            sweep.line(None, |size| size > Bytes::kib(32)).is_none() && line.is_some(),
            "two sizes are too few for a line: {line:?}"
        );
        assert!((sweep.slope() * Bytes::kib(960).as_f64() - 60e-3).abs() < 1e-9);
        assert!((sweep.best_time_per_byte() * Bytes::kib(1024).as_f64() - 64e-3).abs() < 1e-9);
    }

    #[test]
    fn writes_absorbed_by_the_write_buffer_take_the_long_run_time_per_byte() {
        let sweep = sweep(&[(4, 1e-4), (64, 2e-3)]).with_time_per_byte_min(Some(3e-2 / 1_048_576.0));
        assert!(sweep.is_absorbed_by_write_buffer(Bytes::kib(4)));
        assert!(!sweep.is_absorbed_by_write_buffer(Bytes::kib(64)));
        let latency = |kib: u64| sweep.time_per_byte(Bytes::kib(kib)) * Bytes::kib(kib).as_f64();
        assert!((latency(4) / (3e-2 / 256.0) - 1.0).abs() < 1e-9 && (latency(64) / 2e-3 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_last_command_of_a_request_may_be_shorter() {
        assert!((commands(Bytes::mib(1), Bytes::kib(120)) - 9.0).abs() < f64::EPSILON);
        assert!((commands(Bytes::kib(64), Bytes::kib(120)) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn line_fit_separates_time_per_command_from_time_per_byte() {
        let latency = |kib: u64| 2e-4 * kib.div_ceil(120) as f64 + 3e-8 * Bytes::kib(kib).as_f64();
        let points = [48, 64, 96, 128, 256, 1024].map(|kib| (kib, latency(kib)));
        let line = sweep(&points).line(Some(Bytes::kib(120)), |_| true).unwrap();
        assert!(
            (line.per_command / 2e-4 - 1.0).abs() < 1e-6 && (line.per_byte / 3e-8 - 1.0).abs() < 1e-6,
            "{line:?}"
        );
    }
}
