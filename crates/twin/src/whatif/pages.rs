//! The twin with the time of pages instead of times by size: it also knows what requests cost that begin
//! or end
//! inside a page, as those of a filesystem do.
//!
//! A write takes an overhead, a time for each whole page, and another one for each part of a page. The extra
//! time of random writes is that of merges of a full log.

use flashscope_device::Bytes;
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use flashscope_record::observation::Order;
use flashscope_sim::Profile;
use flashscope_sim::profile::{Curve, OpenBlocks, Policy, WritePath};

use crate::measured::{Key, Measured};
use crate::summary::median;

/// A part of a page takes this many times a whole one if no write was smaller than a page. Guess: the rest of
/// the page is read and moved.
const PARTIAL_USUAL: f64 = 1.2;
/// Extra time of random writes below this share of the time is noise. Guess: twice that of repeated rows.
const EXTRA_MIN: f64 = 0.03;
/// The log of a unit whose random writes take no extra time, in erase blocks: it never fills.
const LOG_MAX: u64 = 64;

/// A random merge is at least this share of another one. Guess: half of the erase block is copied.
const MERGE_MIN: f64 = 0.5;

/// A write in one erase block, or round-robin: bytes and seconds.
type Write = (u64, f64);

/// The times of pages, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pages {
    overhead_s: f64,
    page_s: f64,
    partial_s: f64,
}

/// `profile` with the times of pages of this size and the open units that were found; `None` if sequential
/// writes do not show times of pages.
pub fn with_pages(
    profile: &Profile,
    measured: &Measured,
    page: Bytes,
    findings: &[Finding],
) -> Option<Profile> {
    let Policy::OpenBlocks(policy) = &profile.policy else { return None };
    let linear = writes(measured, Order::Linear, 1);
    let pages = Pages::of(&linear, page.get())?;
    let mut policy = policy.clone();
    use_findings(&mut policy, findings);
    let merge = policy.random_merge_us.as_ref().unwrap_or(&policy.merge_us);
    let random = writes(measured, Order::Random, policy.open_units_random);
    policy.random_log = Some(log(&random, pages, merge, profile.ftl.erase_block, page));
    policy.completes_broken_runs = true;
    let us = |seconds: f64| Some((seconds * 1e7).round() / 10.0);
    let mut twin = profile.clone();
    twin.ftl.page = page;
    twin.policy = Policy::OpenBlocks(policy);
    twin.write = WritePath {
        basis: profile.write.basis,
        overhead_us: us(pages.overhead_s),
        page_program_us: us(pages.page_s),
        partial_page_us: us(pages.partial_s),
        curve: None,
    };
    twin.check().is_ok().then_some(twin)
}

/// Takes the numbers of open units from the findings, which rest on more than the fit does.
fn use_findings(policy: &mut OpenBlocks, findings: &[Finding]) {
    let units = |id| {
        let finding = findings.iter().find(|finding| finding.id == id)?;
        match &finding.outcome {
            Outcome::Found { value: Value::Count(count), .. } => Some(*count),
            _ => None,
        }
    };
    if let Some(linear) = units(FindingId::OpenUnitsLinear) {
        policy.open_units_linear = linear.max(1);
    }
    if let Some(random) = units(FindingId::OpenUnitsRandom) {
        policy.open_units_random = random.min(policy.open_units_linear);
    }
    let merge_us = policy.merge_us.last_us();
    if policy.random_merge_us.as_ref().is_some_and(|random| random.last_us() < MERGE_MIN * merge_us) {
        policy.random_merge_us = None;
    }
}

/// The writes of this order to at most `units` erase blocks.
fn writes(measured: &Measured, of: Order, most: u32) -> Vec<Write> {
    let write = |key: Key, seconds| match key {
        Key::OpenUnits { units, order, request } if order == of && units <= most => {
            Some((request.get(), seconds))
        }
        _ => None,
    };
    measured.cells().filter_map(|cell| write(cell.key, cell.seconds)).collect()
}

impl Pages {
    /// The straight line through the times of whole pages, weighted by relative errors, and the median of the
    /// rest of smaller writes.
    fn of(linear: &[Write], page: u64) -> Option<Self> {
        let whole: Vec<(f64, f64)> = linear
            .iter()
            .filter(|(bytes, _)| bytes.is_multiple_of(page))
            .map(|(bytes, seconds)| (number(bytes / page), *seconds))
            .collect();
        let sum =
            |of: fn(f64, f64) -> f64| whole.iter().map(|(pages, s)| of(*pages, *s) / (s * s)).sum::<f64>();
        let [n, x, y, xx, xy] =
            [sum(|_, _| 1.0), sum(|x, _| x), sum(|_, y| y), sum(|x, _| x * x), sum(|x, y| x * y)];
        let determinant = n * xx - x * x;
        if whole.len() < 2 || determinant <= 1e-9 * n * xx {
            return None;
        }
        let page_s = (n * xy - x * y) / determinant;
        // A negative overhead is noise: the line goes through the origin then.
        let overhead_s = ((y - page_s * x) / n).max(0.0);
        let page_s = if overhead_s > 0.0 { page_s } else { xy / xx };
        let partial = linear.iter().filter(|(bytes, _)| *bytes < page).map(|(_, s)| s - overhead_s);
        let partial_s = median(partial).unwrap_or(page_s * PARTIAL_USUAL).max(page_s);
        (page_s > 0.0).then_some(Self { overhead_s, page_s, partial_s })
    }

    /// The time of a write that starts with a page.
    fn seconds(&self, bytes: u64, page: u64) -> f64 {
        let partial = if bytes.is_multiple_of(page) { 0.0 } else { self.partial_s };
        self.overhead_s + number(bytes / page) * self.page_s + partial
    }
}

/// The bytes of random writes after which a unit is merged: what their extra time pays for.
fn log(random: &[Write], pages: Pages, merge: &Curve, erase_block: Bytes, page: Bytes) -> Bytes {
    let merge_s = merge.last_us() / 1e6;
    let extra =
        random.iter().filter(|(bytes, _)| Bytes::new(*bytes) < erase_block).map(|(bytes, seconds)| {
            let extra_s = seconds - pages.seconds(*bytes, page.get());
            // As the log counts whole pages.
            let logged = bytes.div_ceil(page.get()) * page.get();
            if extra_s < EXTRA_MIN * seconds { f64::INFINITY } else { merge_s / extra_s * number(logged) }
        });
    let most = erase_block * LOG_MAX;
    let bytes = median(extra).unwrap_or(f64::INFINITY).min(most.as_f64());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64 erase blocks")]
    Bytes::new(bytes as u64).round_up(page).max(page)
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
const fn number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 16 << 10;

    #[test]
    fn times_of_pages_are_those_of_the_line() {
        let time = |pages: u64| (pages * PAGE, 0.001 + 0.002 * number(pages));
        let mut writes: Vec<Write> = [1, 2, 8, 64].map(time).into();
        let without = Pages::of(&writes, PAGE).unwrap();
        assert!((without.overhead_s - 0.001).abs() < 1e-9 && (without.page_s - 0.002).abs() < 1e-9);
        assert!((without.partial_s - 0.0024).abs() < 1e-9);
        writes.push((PAGE / 2, 0.004));
        let with = Pages::of(&writes, PAGE).unwrap();
        assert!((with.partial_s - 0.003).abs() < 1e-9);
        assert!((with.seconds(PAGE + 512, PAGE) - 0.006).abs() < 1e-9);
        assert_eq!(Pages::of(&writes[..1], PAGE), None);
    }

    #[test]
    fn log_is_what_the_extra_time_of_random_writes_pays_for() {
        let pages = Pages { overhead_s: 0.001, page_s: 0.002, partial_s: 0.003 };
        let (erase_block, page, merge) = (Bytes::mib(4), Bytes::kib(16), Curve::Constant(256_000.0));
        // 256 pages, each with a millisecond of a merge.
        let slower: Vec<Write> =
            [1, 4].map(|n| (n * PAGE, pages.seconds(n * PAGE, PAGE) + 0.001 * number(n))).into();
        assert_eq!(log(&slower, pages, &merge, erase_block, page), Bytes::mib(4));
        let equal: Vec<Write> = [1, 4].map(|n| (n * PAGE, pages.seconds(n * PAGE, PAGE))).into();
        assert_eq!(log(&equal, pages, &merge, erase_block, page), erase_block * LOG_MAX);
    }
}
