//! Page and write unit from the time of writes by size.

use flashscope_device::Bytes;
use statrs::function::erf::erf;

use flashscope_record::figure::{speed, time};
use flashscope_record::finding::{Confidence, Finding, FindingId, Value};

use crate::thresholds::SURE_ENOUGH;

/// One rung: writes of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SweepPoint {
    /// Size of each write.
    pub size: Bytes,
    /// Time per write, seconds.
    pub seconds: f64,
    /// Its standard error as a share of it.
    pub relative_error: f64,
}

/// A write below the page costs at least this share of the page's.
const FLAT: f64 = 0.87;
/// Towards the page, time grows by at most this share of how it grows behind it.
const SLOPE: f64 = 0.35;
/// The largest size taken for a page: see `staircase`'s, with one octave more for writes to several planes.
const PAGE_MAX: Bytes = Bytes::mib(1);
/// From this share of the best speed on a request is efficient.
const EFFICIENT: f64 = 0.8;
/// The interval holds the requests that reach that share less or more this.
const BAND: f64 = 0.1;
/// Shares of a speed that differ by less are the same.
const ROOM: f64 = 0.015;
/// A rung less likely than this to be on the other side of the share is decided.
const DECIDED: f64 = 0.05;
/// From half of the largest request to all of it, speed has stopped rising if it grows by less.
const RISING: f64 = 1.15;
/// No speed is known better.
const ERROR_MIN: f64 = 0.004;

impl SweepPoint {
    fn speed(self) -> f64 {
        self.size.as_f64() / self.seconds
    }
}

/// The page: the largest size below which writes cost as much as it, and behind which they cost more.
#[must_use]
pub fn page(ladder: &[SweepPoint]) -> Finding {
    let id = FindingId::PageBytes;
    let mut ladder = ladder.to_vec();
    ladder.sort_by_key(|rung| rung.size);
    // A page above the smallest efficient request would contradict it: a dip of one rung is no page.
    let largest = write_unit(&ladder).bytes().map_or(PAGE_MAX, |unit| unit.min(PAGE_MAX));
    let judged: Vec<(usize, f64)> = (0..ladder.len())
        .filter(|index| ladder[*index].size <= largest)
        .filter_map(|index| Some((index, likelihood_of_page(&ladder, index)?)))
        .collect();
    let Some((index, likelihood)) = judged.iter().rev().find(|(_, likelihood)| *likelihood > 0.5) else {
        return Finding::unknown(
            id,
            "the time of writes grows with their size throughout: no size was seen below which it stays",
            "smaller writes, or fewer caches in between",
        );
    };
    // A larger size that nearly passed for the page is doubt about this one.
    let larger =
        judged.iter().filter(|(other, _)| other > index).map(|(_, other)| *other).fold(0.0, f64::max);
    let page = ladder[*index];
    let confidence = likelihood * (1.0 - larger) * 0.985;
    if confidence < SURE_ENOUGH {
        let reason = format!(
            "the times of writes fit a page of {} only with {:.0} % probability",
            page.size,
            confidence * 100.0
        );
        return Finding::unknown(id, reason, "more writes, on a quieter machine");
    }
    let confidence = Confidence::new(confidence);
    Finding::exact(id, Value::Bytes(page.size), confidence, page_evidence(&ladder, *index))
}

fn page_evidence(ladder: &[SweepPoint], index: usize) -> String {
    let page = ladder[index];
    let half = ladder[..index].iter().rev().find(|rung| rung.size * 2 <= page.size).copied().unwrap_or(page);
    let double = ladder[index..].iter().find(|rung| rung.size >= page.size * 2).copied().unwrap_or(page);
    let against = if half.seconds > page.seconds * 1.15 { "even longer than" } else { "as long as" };
    format!(
        "a write of {} takes {}, {against} one of {} ({}); only beyond does more data take more time ({}: {})",
        half.size,
        time(half.seconds),
        page.size,
        time(page.seconds),
        double.size,
        time(double.seconds)
    )
}
/// The probability, given the rungs' errors, that every smaller rung down to half of the one at `index` costs as much as
/// this one; `None` if nothing smaller or nothing larger was measured.
fn likelihood_of_page(ladder: &[SweepPoint], index: usize) -> Option<f64> {
    let page = ladder[index];
    let slope = ladder[index + 1..]
        .iter()
        .take_while(|rung| rung.size <= page.size * 2)
        .map(|rung| (rung.seconds - page.seconds) / (rung.size - page.size).as_f64())
        .reduce(f64::min)?;
    let smaller = || ladder[..index].iter().filter(|rung| rung.size * 2 >= page.size);
    smaller().next()?;
    let grows = slope > page.seconds * 0.02 / page.size.as_f64();
    let towards = |rung: &SweepPoint| {
        let allowed = (1.0 - FLAT) * page.seconds;
        let by_slope = SLOPE * slope * (page.size - rung.size).as_f64();
        let error = rung.relative_error.hypot(page.relative_error) * page.seconds;
        normal((allowed.min(by_slope) - (page.seconds - rung.seconds)) / error)
    };
    Some(if grows { smaller().map(towards).fold(1.0, f64::min) } else { 0.0 })
}

/// The probability that a standard normal variable is below `x`.
#[must_use]
pub fn normal(x: f64) -> f64 {
    f64::midpoint(1.0, erf(x / std::f64::consts::SQRT_2))
}

/// The smallest rung that reaches a share of the best speed.
fn smallest_reaching(ladder: &[SweepPoint], speed: f64) -> Option<SweepPoint> {
    ladder.iter().filter(|rung| rung.speed() >= speed).min_by_key(|rung| rung.size).copied()
}

/// The fastest rung, the write unit, and the next smaller rung.
fn around_the_unit(ladder: &[SweepPoint]) -> Option<(SweepPoint, SweepPoint, Option<SweepPoint>)> {
    let best = ladder.iter().copied().max_by(|a, b| a.speed().total_cmp(&b.speed()))?;
    let unit = smallest_reaching(ladder, best.speed() * EFFICIENT)?;
    let below = ladder.iter().filter(|rung| rung.size < unit.size).max_by_key(|rung| rung.size);
    Some((best, unit, below.copied()))
}

/// Whether the best speed is that of the largest request, and half of it is much slower: the next would be faster.
fn is_still_rising(ladder: &[SweepPoint], best: SweepPoint) -> bool {
    let is_largest = ladder.iter().all(|rung| rung.size <= best.size);
    let half = ladder.iter().filter(|rung| rung.size * 2 <= best.size).max_by_key(|rung| rung.size);
    is_largest && half.is_none_or(|half| best.speed() > half.speed() * RISING)
}

/// The probability that a rung reaches `share` of the best speed.
fn reaches(rung: SweepPoint, best: SweepPoint, share: f64) -> f64 {
    if rung.size == best.size {
        return 1.0;
    }
    let error = rung.relative_error.hypot(best.relative_error).max(ERROR_MIN);
    normal((rung.speed() / best.speed()).ln() / error - share.ln() / error)
}

/// The sizes that have to be written again before the write unit is known; none if it is.
#[must_use]
pub fn deciding(ladder: &[SweepPoint]) -> Vec<Bytes> {
    let Some((best, unit, _)) = around_the_unit(ladder) else { return Vec::new() };
    let above = reaches(unit, best, EFFICIENT - ROOM);
    let nearly: Vec<Bytes> = ladder
        .iter()
        .filter(|rung| rung.size < unit.size && reaches(**rung, best, EFFICIENT + ROOM) > DECIDED)
        .map(|rung| rung.size)
        .collect();
    if nearly.is_empty() && above > 1.0 - DECIDED {
        return Vec::new();
    }
    let mut sizes = nearly;
    sizes.extend([unit.size, best.size]);
    sizes.dedup();
    sizes
}

/// The write unit, where the same writes took so many seconds at first and at the end: sizes that were written in between cannot be compared.
#[must_use]
pub fn of_another_speed((first, last): (f64, f64)) -> Finding {
    let reason = format!(
        "the same writes took {} at first and {} later: the device became {} meanwhile",
        time(first),
        time(last),
        if last > first { "slower" } else { "quicker" }
    );
    Finding::unknown(
        FindingId::WriteUnitBytes,
        reason,
        "a stick left alone for a while, and the measurement once more",
    )
}

/// The write unit: the smallest request that reaches 80 % of the best speed; its interval holds 70 to 90 %.
#[must_use]
pub fn write_unit(ladder: &[SweepPoint]) -> Finding {
    let id = FindingId::WriteUnitBytes;
    let Some((best, unit, below)) = around_the_unit(ladder) else {
        return Finding::unknown(id, "no writes in linear order were measured", "write tests (--erase)");
    };
    let Some(below) = below else {
        return Finding::unknown(
            id,
            format!("even the smallest request tried ({}) reaches the best speed", unit.size),
            "smaller requests",
        );
    };
    if is_still_rising(ladder, best) {
        let reason = format!("the largest request tried ({}) is much faster than half of it", best.size);
        return Finding::unknown(id, reason, "larger requests");
    }
    let evidence = format!(
        "requests of {} write {}, those of {} only {}; the best was {} at {}",
        unit.size,
        speed(unit.speed()),
        below.size,
        speed(below.speed()),
        speed(best.speed()),
        best.size
    );
    let error = unit.relative_error.hypot(best.relative_error);
    let (low, high) = (EFFICIENT - BAND, EFFICIENT + BAND);
    let margin = (unit.speed() / best.speed() - low).min(high - below.speed() / best.speed());
    let confidence = Confidence::new(normal(margin / error.max(0.01)) * 0.98);
    let size =
        |share: f64| smallest_reaching(ladder, best.speed() * share).map_or(unit.size, |rung| rung.size);
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

    fn ladder(rungs: &[(u64, f64)]) -> Vec<SweepPoint> {
        rungs
            .iter()
            .map(|(kib, millis)| SweepPoint {
                size: Bytes::kib(*kib),
                seconds: millis / 1e3,
                relative_error: 0.003,
            })
            .collect()
    }

    /// The Patriot's own figures, three open units (docs/methods/write-size.md).
    #[test]
    fn writes_below_the_page_may_cost_more_than_the_page() {
        let rungs =
            [(4, 4.76), (8, 4.9), (16, 5.25), (32, 3.0), (64, 4.0), (128, 10.0), (256, 20.0), (512, 33.4)];
        assert_eq!(page(&ladder(&rungs)).bytes(), Some(Bytes::kib(32)));
        assert_eq!(write_unit(&ladder(&rungs)).bytes(), Some(Bytes::kib(64)));
    }

    #[test]
    fn an_overhead_larger_than_the_transfer_does_not_pass_for_a_page() {
        let rungs: Vec<(u64, f64)> =
            [1, 2, 4, 8, 16, 32, 64].map(|kib| (kib, 5.0 + 0.3 * (kib as f64 / 4.0).max(1.0))).into();
        assert_eq!(page(&ladder(&rungs)).bytes(), Some(Bytes::kib(4)));
    }

    #[test]
    fn sizes_that_were_not_measured_may_be_write_units() {
        let found = |rungs: &[(u64, f64)]| match write_unit(&ladder(rungs)).outcome {
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
        let rungs = [(12, 2.0), (16, 2.0), (24, 2.0), (32, 2.5), (48, 2.0), (64, 3.3), (96, 3.0), (192, 5.0)];
        assert_eq!(page(&ladder(&rungs)).bytes(), Some(Bytes::kib(48)));
    }

    #[test]
    fn a_device_without_pages_has_none() {
        let rungs: Vec<(u64, f64)> =
            [1, 2, 4, 8, 16, 32, 64].map(|kib| (kib, 0.1 + 0.05 * kib as f64)).into();
        assert_eq!(page(&ladder(&rungs)).bytes(), None);
    }
}
