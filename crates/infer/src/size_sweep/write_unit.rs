//! Page and write unit from the time of writes by size.

use flashscope_device::Bytes;
use statrs::function::erf::erf;

use flashscope_record::finding::{
    Confidence, Evidence, Finding, FindingId, Measurement, Quantity, Reason, Sample, SizeEvidence, Value,
    WouldDecide,
};

use crate::thresholds::{OUTLIER_RATIO, SURE, SURE_ENOUGH, THE_RULE};

/// One point of a size sweep: writes of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// Size of each write.
    pub size: Bytes,
    /// Time per write, seconds.
    pub seconds: f64,
    /// Its standard error as a share of it.
    pub relative_error: f64,
    /// The share of the writes that took more than [`OUTLIER_RATIO`] times as long as the fastest.
    pub outliers: f64,
}

/// A write below the page takes at least this share of the page's time. Guess.
const FLAT: f64 = 0.87;
/// Below the page, time grows by at most this share of the growth above it. Guess.
const SLOPE: f64 = 0.35;
/// The largest page. Guess: two planes of 512 KiB.
const PAGE_MAX: Bytes = Bytes::mib(1);
/// A request is efficient if it reaches this share of the best speed: the definition of the write unit
/// (docs/methods/write-size.md).
const EFFICIENT: f64 = 0.8;
/// The interval holds the requests that reach that share plus or minus this. Guess.
const BAND: f64 = 0.1;
/// Shares of a speed that differ by less are equal. Guess: two runs agree no better. With 0.02, two of 324
/// write units of the zoo (seeds 9301 and 9302) became unknown.
const ROOM: f64 = 0.015;
/// Speed still rises if the largest request is at least this many times as fast as half of it. Guess.
const RISING: f64 = 1.15;

impl SweepPoint {
    fn speed(self) -> f64 {
        self.size.as_f64() / self.seconds
    }
}

/// The page: the largest size that smaller writes cost as much as, and larger ones more.
#[must_use]
pub fn page(points: &[SweepPoint]) -> Finding {
    let id = FindingId::PageBytes;
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.size);
    // A page above the smallest efficient request would contradict it: a dip of one point is no page.
    let largest = write_unit(&points).bytes().map_or(PAGE_MAX, |unit| unit.min(PAGE_MAX));
    let judged: Vec<(usize, f64)> = (0..points.len())
        .filter(|index| points[*index].size <= largest)
        .filter_map(|index| Some((index, likelihood_of_page(&points, index)?)))
        .collect();
    let Some((index, likelihood)) = judged.iter().rev().find(|(_, likelihood)| *likelihood > 0.5) else {
        return Finding::unknown(id, Reason::NoFlatSizes, [WouldDecide::Smaller(Quantity::Requests)]);
    };
    // A larger size that nearly passed for the page lowers the confidence in this one.
    let larger =
        judged.iter().filter(|(other, _)| other > index).map(|(_, other)| *other).fold(0.0, f64::max);
    let page = points[*index];
    let confidence = likelihood * (1.0 - larger) * 0.985;
    let value = Value::Bytes(page.size);
    if confidence < SURE_ENOUGH {
        let reason = Reason::Likely { value, confidence: Confidence::new(confidence), because: None };
        let would_decide = [WouldDecide::More(Sample::Writes), WouldDecide::QuieterMachine];
        return Finding::unknown(id, reason, would_decide);
    }
    Finding::exact(id, value, Confidence::new(confidence), page_evidence(&points, *index))
}

fn page_evidence(points: &[SweepPoint], index: usize) -> Evidence {
    let page = points[index];
    let half = points[..index].iter().rev().find(|point| point.size * 2 <= page.size).copied();
    let double = points[index..].iter().find(|point| point.size >= page.size * 2).copied();
    let figures = |point: SweepPoint| (point.size, point.seconds);
    Evidence::Sizes(SizeEvidence::PageSweep {
        smaller: figures(half.unwrap_or(page)),
        page: figures(page),
        larger: figures(double.unwrap_or(page)),
    })
}

/// The probability that every smaller point down to half of the one at `index` costs as much as it, given the
/// points' errors; `None` if nothing smaller or nothing larger was measured.
fn likelihood_of_page(points: &[SweepPoint], index: usize) -> Option<f64> {
    let page = points[index];
    let slope = points[index + 1..]
        .iter()
        .take_while(|point| point.size <= page.size * 2)
        .map(|point| (point.seconds - page.seconds) / (point.size - page.size).as_f64())
        .reduce(f64::min)?;
    let smaller = || points[..index].iter().filter(|point| point.size * 2 >= page.size);
    smaller().next()?;
    let has_stall = smaller().any(|point| point.seconds > page.seconds * OUTLIER_RATIO);
    let grows = !has_stall && slope > page.seconds * 0.02 / page.size.as_f64();
    let towards = |point: &SweepPoint| {
        let allowed = (1.0 - FLAT) * page.seconds;
        let by_slope = SLOPE * slope * (page.size - point.size).as_f64();
        let error = point.relative_error.hypot(page.relative_error) * page.seconds;
        normal((allowed.min(by_slope) - (page.seconds - point.seconds)) / error)
    };
    Some(if grows { smaller().map(towards).fold(1.0, f64::min) } else { 0.0 })
}

/// The probability that a standard normal variable is below `x`.
#[must_use]
pub fn normal(x: f64) -> f64 {
    f64::midpoint(1.0, erf(x / std::f64::consts::SQRT_2))
}

/// The smallest point with at least this speed.
fn smallest_reaching(points: &[SweepPoint], speed: f64) -> Option<SweepPoint> {
    points.iter().filter(|point| point.speed() >= speed).min_by_key(|point| point.size).copied()
}

/// The fastest point, the write unit, and the next smaller point.
fn around_the_unit(points: &[SweepPoint]) -> Option<(SweepPoint, SweepPoint, Option<SweepPoint>)> {
    let best = points.iter().copied().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let unit = smallest_reaching(points, best.speed() * EFFICIENT)?;
    let below = points.iter().filter(|point| point.size < unit.size).max_by_key(|point| point.size);
    Some((best, unit, below.copied()))
}

/// Whether the best speed is that of the largest request, and half of it is much slower: the next would be
/// faster.
fn is_still_rising(points: &[SweepPoint], best: SweepPoint) -> bool {
    let is_largest = points.iter().all(|point| point.size <= best.size);
    let half = points.iter().filter(|point| point.size * 2 <= best.size).max_by_key(|point| point.size);
    is_largest && half.is_none_or(|half| best.speed() > half.speed() * RISING)
}

/// Whether no request of at least twice the size of the fastest comes near it. If its own writes are of two
/// speeds, a cache took some of them.
fn is_faster_than_larger(points: &[SweepPoint], best: SweepPoint) -> bool {
    let larger = points.iter().filter(|point| point.size >= best.size * 2);
    larger.map(|point| point.speed()).reduce(f64::max).is_some_and(|speed| speed < best.speed() * EFFICIENT)
}

/// The probability that a point reaches `share` of the best speed.
fn reaches(point: SweepPoint, best: SweepPoint, share: f64) -> f64 {
    if point.size == best.size {
        return 1.0;
    }
    let error = point.relative_error.hypot(best.relative_error);
    normal((point.speed() / best.speed()).ln() / error - share.ln() / error)
}

/// The sizes that have to be written again before the write unit is known; none if it is.
#[must_use]
pub fn deciding(points: &[SweepPoint]) -> Vec<Bytes> {
    let Some((best, unit, _)) = around_the_unit(points) else { return Vec::new() };
    let above = reaches(unit, best, EFFICIENT - ROOM);
    let nearly: Vec<Bytes> = points
        .iter()
        .filter(|point| point.size < unit.size && reaches(**point, best, EFFICIENT + ROOM) > 1.0 - SURE)
        .map(|point| point.size)
        .collect();
    if nearly.is_empty() && above > SURE {
        return Vec::new();
    }
    let mut sizes = nearly;
    sizes.extend([unit.size, best.size]);
    sizes.dedup();
    sizes
}

/// The write unit if the same writes took another time at the end, in seconds: then sizes written in between
/// cannot be compared.
#[must_use]
pub fn of_another_speed((first_s, last_s): (f64, f64)) -> Finding {
    let reason = Reason::SpeedChanged { first_s, last_s };
    Finding::unknown(FindingId::WriteUnitBytes, reason, [WouldDecide::Rest])
}

/// The write unit: the smallest request that reaches 80 % of the best speed; its interval holds 70 to 90 %.
#[must_use]
pub fn write_unit(points: &[SweepPoint]) -> Finding {
    let id = FindingId::WriteUnitBytes;
    let Some((best, unit, below)) = around_the_unit(points) else {
        let reason = Reason::NotMeasured(Measurement::WriteSizes);
        return Finding::unknown(id, reason, [WouldDecide::WriteTests]);
    };
    let Some(below) = below else {
        let reason = Reason::SmallestIsFastest(unit.size);
        return Finding::unknown(id, reason, [WouldDecide::Smaller(Quantity::Requests)]);
    };
    if is_still_rising(points, best) {
        let reason = Reason::LargestStillFaster(best.size);
        return Finding::unknown(id, reason, [WouldDecide::Larger(Quantity::Requests)]);
    }
    if best.outliers >= THE_RULE && is_faster_than_larger(points, best) {
        return Finding::unknown(id, Reason::LargerMuchSlower(best.size), [WouldDecide::Rest]);
    }
    let figures = |point: SweepPoint| (point.size, point.speed());
    let evidence = Evidence::Sizes(SizeEvidence::WriteUnit {
        unit: figures(unit),
        below: figures(below),
        best: figures(best),
    });
    let error = unit.relative_error.hypot(best.relative_error);
    let (low, high) = (EFFICIENT - BAND, EFFICIENT + BAND);
    let margin = (unit.speed() / best.speed() - low).min(high - below.speed() / best.speed());
    let confidence = Confidence::new(normal(margin / error.max(0.01)) * 0.98);
    let size =
        |share: f64| smallest_reaching(points, best.speed() * share).map_or(unit.size, |point| point.size);
    // Where sizes in between were not measured, the smallest of them may do as well.
    let is_gap = unit.size > below.size * 2;
    let smallest = if is_gap { next_size(below.size).min(size(low)) } else { size(low) };
    Finding::exact(id, Value::Bytes(unit.size), confidence, evidence)
        .within(Value::Bytes(smallest), Value::Bytes(size(high)))
}

/// The next of the sizes 2^n and 3 x 2^n.
fn next_size(size: Bytes) -> Bytes {
    if size.get().is_power_of_two() { size * 3 / 2 } else { size * 4 / 3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(rows: &[(u64, f64)]) -> Vec<SweepPoint> {
        rows.iter()
            .map(|(kib, millis)| SweepPoint {
                size: Bytes::kib(*kib),
                seconds: millis / 1e3,
                relative_error: 0.003,
                outliers: 0.0,
            })
            .collect()
    }

    /// An SLC cache took some of the small writes.
    #[test]
    fn a_small_request_faster_than_all_larger_ones_decides_nothing() {
        let rows = [(8, 0.49), (16, 0.52), (24, 0.54), (32, 1.5), (64, 2.5), (256, 8.6), (1024, 33.6)];
        let mut points = sweep(&rows);
        assert_eq!(write_unit(&points).bytes(), Some(Bytes::kib(24)));
        points[2].outliers = 0.75;
        let reason = write_unit(&points).reason().cloned();
        assert_eq!(reason, Some(Reason::LargerMuchSlower(Bytes::kib(24))));
        // Twice the size counts as larger, and comes near it here.
        (points[3].size, points[3].seconds) = (Bytes::kib(48), 1.2e-3);
        assert_eq!(write_unit(&points).bytes(), Some(Bytes::kib(24)));
    }

    /// The Patriot's own figures, three open units (docs/methods/write-size.md).
    #[test]
    fn writes_below_the_page_may_cost_more_than_the_page() {
        let rows =
            [(4, 4.76), (8, 4.9), (16, 5.25), (32, 3.0), (64, 4.0), (128, 10.0), (256, 20.0), (512, 33.4)];
        assert_eq!(page(&sweep(&rows)).bytes(), Some(Bytes::kib(32)));
        assert_eq!(write_unit(&sweep(&rows)).bytes(), Some(Bytes::kib(64)));
    }

    #[test]
    fn an_overhead_larger_than_the_transfer_does_not_pass_for_a_page() {
        let rows: Vec<(u64, f64)> =
            [1, 2, 4, 8, 16, 32, 64].map(|kib| (kib, 5.0 + 0.3 * (kib as f64 / 4.0).max(1.0))).into();
        assert_eq!(page(&sweep(&rows)).bytes(), Some(Bytes::kib(4)));
    }

    #[test]
    fn sizes_that_were_not_measured_may_be_write_units() {
        let found = |rows: &[(u64, f64)]| match write_unit(&sweep(rows)).outcome {
            flashscope_record::finding::Outcome::Found { value, low, high, .. } => [value, low, high],
            unknown => panic!("{unknown:?}"),
        };
        let whole = [(4, 2.0), (8, 2.0), (16, 2.0), (32, 2.0), (48, 3.0), (64, 4.0)];
        assert_eq!(found(&whole), [32, 32, 32].map(|kib| Value::Bytes(Bytes::kib(kib))));
        let lacking = [(4, 2.0), (8, 2.0), (32, 2.0), (48, 3.0), (64, 4.0)];
        assert_eq!(found(&lacking), [32, 12, 32].map(|kib| Value::Bytes(Bytes::kib(kib))));
    }

    /// Pages of 48 KiB: writes of 32 KiB cross every second boundary, those of 16 and 24 KiB never.
    #[test]
    fn a_page_of_three_is_found_beside_powers_of_two() {
        let rows = [(12, 2.0), (16, 2.0), (24, 2.0), (32, 2.5), (48, 2.0), (64, 3.3), (96, 3.0), (192, 5.0)];
        assert_eq!(page(&sweep(&rows)).bytes(), Some(Bytes::kib(48)));
    }

    #[test]
    fn a_device_without_pages_has_none() {
        let rows: Vec<(u64, f64)> = [1, 2, 4, 8, 16, 32, 64].map(|kib| (kib, 0.1 + 0.05 * kib as f64)).into();
        assert_eq!(page(&sweep(&rows)).bytes(), None);
    }

    fn with_error(relative_error: f64, rows: &[(u64, f64)]) -> Vec<SweepPoint> {
        sweep(rows).into_iter().map(|point| SweepPoint { relative_error, ..point }).collect()
    }

    #[test]
    fn only_sizes_within_the_error_of_80_per_cent_of_the_best_speed_are_written_again() {
        // Writes of 16 KiB reach 79 % of the best speed, those of 32 KiB 98 %.
        let rows = [(4, 2.0), (8, 2.0), (16, 1.234), (32, 2.0), (48, 3.0), (64, 3.9)];
        assert_eq!(deciding(&with_error(0.003, &rows)), [], "quiet");
        assert_eq!(deciding(&with_error(0.03, &rows)), [16, 32, 64].map(Bytes::kib), "noisy");
        // Writes of 16 KiB reach 81 %.
        let above = rows.map(|(kib, millis)| (kib, if kib == 16 { 1.204 } else { millis }));
        assert_eq!(deciding(&with_error(0.003, &above)), [], "quiet");
        assert_eq!(deciding(&with_error(0.03, &above)), [16, 64].map(Bytes::kib), "noisy");
    }

    #[test]
    fn a_larger_size_that_nearly_passes_for_the_page_lowers_the_confidence() {
        let confidence = |double_ms: f64| {
            let rows = [(4, 2.0), (8, 2.0), (16, 2.0), (32, double_ms), (64, 2.0 * double_ms)];
            let found = page(&with_error(0.015, &rows));
            assert_eq!(found.bytes(), Some(Bytes::kib(16)), "{found:?}");
            found.confidence().get()
        };
        // 16 KiB are the page with 94 %, and 32 KiB with 8 %.
        assert!((confidence(2.38) - 0.852).abs() < 2e-3, "{}", confidence(2.38));
        // 16 KiB are the page with 99 %, and 32 KiB surely not.
        assert!((confidence(2.6) - 0.978).abs() < 2e-3, "{}", confidence(2.6));
    }

    #[test]
    fn the_confidence_in_a_write_unit_falls_with_the_nearer_end_of_its_band() {
        let confidence = |half_ms: f64| {
            let unit = write_unit(&with_error(0.07, &[(8, 2.0), (16, half_ms), (32, 2.0), (64, 4.2)]));
            (unit.bytes(), unit.confidence().get())
        };
        // Both ends of the band are far, or one of them is 0.12 away, which are 1.21 standard errors.
        for (share, kib, sure) in [(0.5, 32, 0.979), (0.78, 32, 0.87), (0.82, 16, 0.87)] {
            let (unit, confidence) = confidence(1.0 / share);
            assert_eq!(unit, Some(Bytes::kib(kib)), "{share}");
            assert!((confidence - sure).abs() < 2e-3, "{share}: {confidence}");
        }
    }
}
