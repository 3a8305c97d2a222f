//! What writes of every size take, one behind the other at multiples of their size.

use flashscope_device::Bytes;

use flashscope_record::observation::{Data, Observations};

use crate::size_sweep::sweep::sweep_points;
use crate::size_sweep::write_unit::SweepPoint;

/// Up to this size each rung writes several times (docs/methods/write-size.md).
const OFTEN_MAX: Bytes = Bytes::kib(256);
/// A larger write that takes so many times its share of the next smaller one was held up.
const HELD_UP: f64 = 1.15;
/// Writes of this size and more are longer on their way than a page is programmed, where the link is full.
pub const LINE_MIN: Bytes = Bytes::kib(48);
/// Fewer sizes make no line.
const LINE_RUNGS: usize = 4;

/// What writes take, seconds.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    /// For each byte.
    pub per_byte: f64,
    /// Beside their data.
    pub per_write: f64,
}

/// The rungs of *write-size*, ascending; at least one.
#[derive(Debug, Clone)]
pub struct Ladder {
    rungs: Vec<SweepPoint>,
    /// What a byte takes at least, seconds, where memory of the controller takes the writes of all rungs.
    least: Option<f64>,
}

impl Ladder {
    /// `None` if no writes of every size were measured.
    pub fn of(observations: &[Observations]) -> Option<Self> {
        let data = observations.iter().filter_map(|seen| match &seen.data {
            Data::WriteSize(data) => Some(data.cells.iter().cloned()),
            _ => None,
        });
        let cells: Vec<_> = data.flatten().collect();
        let is_sound = |rung: &SweepPoint| {
            let pace = rung.seconds / rung.size.as_f64();
            pace.is_finite() && pace > 0.0
        };
        let mut rungs: Vec<SweepPoint> = sweep_points(&cells).into_iter().filter(is_sound).collect();
        rungs.sort_by_key(|rung| rung.size);
        clip(&mut rungs);
        (!rungs.is_empty()).then_some(Self { rungs, least: None })
    }

    /// The same, where memory takes single writes at once, and each byte of many takes `least` seconds.
    #[must_use]
    pub fn behind_memory(self, least: Option<f64>) -> Self {
        Self { least, ..self }
    }

    /// What a byte takes at least, seconds, where memory of the controller takes single writes at once.
    pub const fn least(&self) -> Option<f64> {
        self.least
    }

    /// Whether memory of the controller takes writes of this size faster than they get into the flash.
    pub fn is_memorys(&self, size: Bytes) -> bool {
        self.least.is_some_and(|least| self.measured(size) < least)
    }

    /// What a byte takes in requests of this size, seconds, however many of them there are.
    pub fn seconds_per_byte(&self, size: Bytes) -> f64 {
        self.measured(size).max(self.least.unwrap_or(0.0))
    }

    /// What a byte takes in requests of this size, seconds. Between rungs, times grow evenly; beyond them, the nearest counts.
    fn measured(&self, size: Bytes) -> f64 {
        let below = self.rungs.iter().rfind(|rung| rung.size <= size);
        let above = self.rungs.iter().find(|rung| rung.size >= size);
        match (below, above) {
            (Some(below), Some(above)) if above.size > below.size => {
                let share = (size - below.size).as_f64() / (above.size - below.size).as_f64();
                (below.seconds + (above.seconds - below.seconds) * share) / size.as_f64()
            }
            (Some(rung), _) => rung.seconds / rung.size.as_f64(),
            // Smaller writes than were measured take as long as the smallest that was.
            (None, Some(rung)) => rung.seconds / size.as_f64().max(1.0),
            (None, None) => 0.0,
        }
    }

    /// What a byte takes in the best requests, seconds.
    pub fn best(&self) -> f64 {
        let paces = self.rungs.iter().map(|rung| rung.seconds / rung.size.as_f64());
        paces.fold(f64::INFINITY, f64::min)
    }

    /// What the smallest writes take, seconds.
    pub fn smallest_seconds(&self) -> f64 {
        self.rungs.iter().map(|rung| rung.seconds).fold(f64::INFINITY, f64::min)
    }

    /// What writes of these sizes take by pieces and bytes, if the host cuts them at `cut`: the least squares of the shares by which
    /// times differ from that. `None` of too few sizes, or where more bytes do not take longer.
    pub fn line(&self, cut: Option<Bytes>, of: impl Fn(Bytes) -> bool) -> Option<Line> {
        let (mut nn, mut ns, mut ss, mut n, mut s) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let rungs = self.rungs.iter().filter(|rung| of(rung.size));
        for rung in rungs.clone() {
            let pieces = pieces(rung.size, cut.unwrap_or(rung.size)) / rung.seconds;
            let bytes = rung.size.as_f64() / rung.seconds;
            (nn, ns, ss) = (nn + pieces * pieces, ns + pieces * bytes, ss + bytes * bytes);
            (n, s) = (n + pieces, s + bytes);
        }
        let determinant = nn * ss - ns * ns;
        let line =
            Line { per_byte: (nn * s - ns * n) / determinant, per_write: (ss * n - ns * s) / determinant };
        let is_sound = rungs.count() >= LINE_RUNGS && line.per_byte.is_finite() && line.per_byte > 0.0;
        is_sound.then(|| Line { per_write: line.per_write.max(0.0), ..line })
    }

    /// What a byte more takes in large requests, seconds: the slope between the largest one and a quarter of it.
    pub fn slope(&self) -> f64 {
        let Some(last) = self.rungs.last() else { return 0.0 };
        let quarter = self.rungs.iter().rfind(|rung| rung.size * 4 <= last.size);
        let slope = quarter
            .map(|quarter| (last.seconds - quarter.seconds) / (last.size - quarter.size).as_f64().max(1.0));
        slope.filter(|slope| *slope > 0.0).unwrap_or_else(|| self.best())
    }
}

/// In how many commands a request is sent.
pub fn pieces(request: Bytes, cut: Bytes) -> f64 {
    (request.as_f64() / cut.as_f64().max(1.0)).ceil()
}

/// Large writes are timed once or twice: one that takes much longer than its share of a smaller one was held up.
fn clip(rungs: &mut [SweepPoint]) {
    for index in 1..rungs.len() {
        let (below, rung) = (rungs[index - 1], &mut rungs[index]);
        if rung.size > OFTEN_MAX {
            let share = rung.size.as_f64() / below.size.as_f64();
            rung.seconds = rung.seconds.min(below.seconds * share * HELD_UP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(rungs: &[(u64, f64)]) -> Ladder {
        let rung = |(kib, seconds): &(u64, f64)| SweepPoint {
            size: Bytes::kib(*kib),
            seconds: *seconds,
            relative_error: 0.01,
        };
        Ladder { rungs: rungs.iter().map(rung).collect(), least: None }
    }

    #[test]
    fn times_between_rungs_grow_evenly_and_end_at_the_nearest() {
        let ladder = ladder(&[(4, 1e-3), (32, 2e-3), (64, 4e-3), (1024, 64e-3)]);
        let time = |kib: u64| ladder.seconds_per_byte(Bytes::kib(kib)) * Bytes::kib(kib).as_f64();
        for (kib, seconds) in [(4, 1e-3), (18, 1.5e-3), (48, 3e-3), (2, 1e-3), (2048, 128e-3)] {
            assert!((time(kib) / seconds - 1.0).abs() < 1e-9, "{kib}: {}", time(kib));
        }
        let cut = ladder.line(None, |_| true);
        assert!(
            ladder.line(None, |size| size > Bytes::kib(32)).is_none() && cut.is_some(),
            "two sizes are no line: {cut:?}"
        );
        assert!((ladder.slope() * Bytes::kib(960).as_f64() - 60e-3).abs() < 1e-9);
        assert!((ladder.best() * Bytes::kib(1024).as_f64() - 64e-3).abs() < 1e-9);
    }

    #[test]
    fn what_memory_takes_at_once_goes_on_as_slowly_as_the_flash() {
        let ladder = ladder(&[(4, 1e-4), (64, 2e-3)]).behind_memory(Some(3e-2 / 1_048_576.0));
        assert!(ladder.is_memorys(Bytes::kib(4)) && !ladder.is_memorys(Bytes::kib(64)));
        let time = |kib: u64| ladder.seconds_per_byte(Bytes::kib(kib)) * Bytes::kib(kib).as_f64();
        assert!((time(4) / (3e-2 / 256.0) - 1.0).abs() < 1e-9 && (time(64) / 2e-3 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn requests_are_cut_into_whole_and_a_rest() {
        assert!((pieces(Bytes::mib(1), Bytes::kib(120)) - 9.0).abs() < f64::EPSILON);
        assert!((pieces(Bytes::kib(64), Bytes::kib(120)) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn pieces_and_bytes_are_told_apart() {
        let takes = |kib: u64| 2e-4 * kib.div_ceil(120) as f64 + 3e-8 * Bytes::kib(kib).as_f64();
        let rungs = [48, 64, 96, 128, 256, 1024].map(|kib| (kib, takes(kib)));
        let line = ladder(&rungs).line(Some(Bytes::kib(120)), |_| true).unwrap();
        assert!(
            (line.per_write / 2e-4 - 1.0).abs() < 1e-6 && (line.per_byte / 3e-8 - 1.0).abs() < 1e-6,
            "{line:?}"
        );
    }
}
