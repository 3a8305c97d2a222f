//! The twin with the time of pages instead of times by size: it also knows what requests cost that begin or
//! end inside a page, as those of a filesystem do.
//!
//! A write takes an overhead, a time for each whole page, and another one for each part of a page. The extra
//! time of random writes is that of merges of a full log.

use std::ops::RangeInclusive;

use flashscope_device::Bytes;
use flashscope_record::finding::{Finding, FindingId, Value};
use flashscope_record::observation::Order;
use flashscope_sim::Profile;
use flashscope_sim::profile::{Curve, OpenBlocks, Policy, WritePath};

use crate::found::find;
use crate::measured::{Key, Measured};
use crate::summary::median;

/// A part of a page takes this many times a whole one if no write was smaller than a page. Guess: the rest of
/// the page is read and moved.
const PARTIAL_USUAL: f64 = 1.2;
/// Extra time of random writes below this share of the time is noise. Guess: twice that of repeated rows.
const EXTRA_MIN: f64 = 0.03;
/// The largest log of a unit, in erase blocks: that of the profile.
const LOG_MAX: u64 = 64;
/// The link limits whole pages if they take less than this many times their transfer. Guess: twice the noise
/// of rows, and the error of the rate.
const TRANSFER_BEYOND: f64 = 1.15;
/// A random merge is at least this share of another one. Guess: half of the erase block is copied.
const MERGE_MIN: f64 = 0.5;
/// A merge copies at most this many erase blocks: of a full log. Guess.
const COPIES_MAX: f64 = 4.0;

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
    let linear = writes(measured, Order::Linear, 1..=1);
    let transfer_s = page.as_f64() / (profile.link.timing().megabytes_per_s * 1e6);
    let pages = Pages::of(&linear, page.get(), transfer_s)?;
    let mut policy = policy.clone();
    use_findings(&mut policy, findings, measured);
    let merge_s = policy.merge_us.last_us() / 1e6;
    let most = policy.open_units_random;
    let beyond = writes(measured, Order::Random, most + 1..=u32::MAX);
    policy.random_merge_us = None;
    policy.random_merge_copies = copies(&beyond, pages, merge_s, page);
    let random_merge_s = policy.random_merge_copies * merge_s;
    let random = writes(measured, Order::Random, 0..=most);
    policy.random_log = Some(log(&random, pages, random_merge_s, profile.ftl.erase_block, page));
    policy.completes_broken_runs = true;
    let us = |seconds: f64| Some(rounded_us(seconds));
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
fn use_findings(policy: &mut OpenBlocks, findings: &[Finding], measured: &Measured) {
    if let Some(linear) = find(findings, FindingId::OpenUnitsLinear).and_then(Finding::count) {
        policy.open_units_linear = linear.max(1);
    }
    if let Some(random) = find(findings, FindingId::OpenUnitsRandom).and_then(Finding::count) {
        policy.open_units_random = random.min(policy.open_units_linear);
    }
    let found = find(findings, FindingId::MergeSeconds).and_then(Finding::value);
    let seconds = match found {
        Some(Value::Seconds(seconds)) => seconds,
        _ => seen_merge_s(measured, policy.open_units_linear),
    };
    policy.merge_us = Curve::Constant(rounded_us(seconds));
}

/// Seconds as microseconds, rounded to a tenth.
pub fn rounded_us(seconds: f64) -> f64 {
    (seconds * 1e7).round() / 10.0
}

/// What a write takes longer, on average, with more erase blocks open than stay so; zero if none was seen.
pub fn seen_merge_s(measured: &Measured, open_units: u32) -> f64 {
    let within = writes(measured, Order::Linear, 0..=open_units);
    let extra =
        writes(measured, Order::Linear, open_units + 1..=u32::MAX).into_iter().filter_map(|(bytes, s)| {
            let base = median(within.iter().filter(|write| write.0 == bytes).map(|write| write.1))?;
            Some((s - base).max(0.0))
        });
    let extra: Vec<f64> = extra.collect();
    // The sum of no numbers is -0.
    (extra.iter().sum::<f64>() / number(extra.len().max(1) as u64)).max(0.0)
}

/// The erase-block copies of a merge of random writes: what the median write to one unit more than stay open
/// takes beyond its pages, as merges; one without such writes.
fn copies(beyond: &[Write], pages: Pages, merge_s: f64, page: Bytes) -> f64 {
    let merges = beyond
        .iter()
        .map(|(bytes, seconds)| (seconds - pages.seconds(*bytes, page.get())) / merge_s)
        .filter(|merges| *merges >= MERGE_MIN);
    median(merges).filter(|copies| copies.is_finite()).unwrap_or(1.0).clamp(1.0, COPIES_MAX)
}

/// The writes of this order to these numbers of erase blocks, round-robin.
fn writes(measured: &Measured, of: Order, numbers: RangeInclusive<u32>) -> Vec<Write> {
    let write = |key: Key, seconds| match key {
        Key::OpenUnits { units, order, request } if order == of && numbers.contains(&units) => {
            Some((request.get(), seconds))
        }
        _ => None,
    };
    measured.cells().filter_map(|cell| write(cell.key, cell.seconds)).collect()
}

impl Pages {
    /// The straight line through the times of whole pages, weighted by relative errors, and the median of the
    /// rest of smaller writes.
    fn of(linear: &[Write], page: u64, transfer_s: f64) -> Option<Self> {
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
        let partial = median(linear.iter().filter(|(bytes, _)| *bytes < page).map(|(_, s)| s - overhead_s));
        // The transfer of a page takes longer than its programming: parts of pages show the latter.
        let is_hidden = page_s < TRANSFER_BEYOND * transfer_s;
        let page_s = match partial {
            Some(partial_s) if is_hidden => page_s.min(partial_s),
            _ => page_s,
        };
        let partial_s = partial.unwrap_or(page_s * PARTIAL_USUAL).max(page_s);
        (page_s > 0.0).then_some(Self { overhead_s, page_s, partial_s })
    }

    /// The time of a write that starts with a page.
    fn seconds(&self, bytes: u64, page: u64) -> f64 {
        let partial = if bytes.is_multiple_of(page) { 0.0 } else { self.partial_s };
        self.overhead_s + number(bytes / page) * self.page_s + partial
    }
}

/// The bytes of random writes after which a unit is merged: what their extra time pays for.
fn log(random: &[Write], pages: Pages, merge_s: f64, erase_block: Bytes, page: Bytes) -> Bytes {
    let extra =
        random.iter().filter(|(bytes, _)| Bytes::new(*bytes) < erase_block).map(|(bytes, seconds)| {
            let extra_s = seconds - pages.seconds(*bytes, page.get());
            // As the log counts whole pages.
            let logged = bytes.div_ceil(page.get()) * page.get();
            if extra_s < EXTRA_MIN * seconds { f64::INFINITY } else { merge_s / extra_s * number(logged) }
        });
    let most = erase_block * LOG_MAX;
    // Too few random writes to fill the log: it is one erase block, as in FAST.
    let bytes = median(extra).filter(|bytes| bytes.is_finite()).unwrap_or(erase_block.as_f64());
    let bytes = bytes.min(most.as_f64());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64 erase blocks")]
    Bytes::new(bytes as u64).round_up(page).max(page)
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
const fn number(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use flashscope_device::{ByteRange, Device, DeviceExt, Op, Pattern};
    use flashscope_flashbench::Command;
    use flashscope_record::finding::{BlockEvidence, Confidence, Evidence};
    use flashscope_sim::VirtualStick;

    use super::*;
    use crate::measured::{Cell, Table};

    const PAGE: u64 = 16 << 10;

    #[test]
    fn times_of_pages_are_those_of_the_line() {
        let time = |pages: u64| (pages * PAGE, 0.001 + 0.002 * number(pages));
        let mut writes: Vec<Write> = [1, 2, 8, 64].map(time).into();
        let without = Pages::of(&writes, PAGE, 0.0).unwrap();
        assert!((without.overhead_s - 0.001).abs() < 1e-9 && (without.page_s - 0.002).abs() < 1e-9);
        assert!((without.partial_s - 0.0024).abs() < 1e-9);
        writes.push((PAGE / 2, 0.004));
        let with = Pages::of(&writes, PAGE, 0.0).unwrap();
        assert!((with.partial_s - 0.003).abs() < 1e-9);
        assert!((with.seconds(PAGE + 512, PAGE) - 0.006).abs() < 1e-9);
        assert_eq!(Pages::of(&writes[..1], PAGE, 0.0), None);
    }

    /// The time of a page would be that of a rounding error.
    #[test]
    fn writes_of_one_size_show_no_times_of_pages() {
        for seconds in [[0.003, 0.005], [0.006, 0.009], [0.007, 0.008], [0.01, 0.012]] {
            let writes: Vec<Write> = seconds.map(|seconds| (3 * PAGE, seconds)).into();
            assert_eq!(Pages::of(&writes, PAGE, 0.0), None, "{seconds:?}");
        }
    }

    #[test]
    fn log_is_what_the_extra_time_of_random_writes_pays_for() {
        let pages = Pages { overhead_s: 0.001, page_s: 0.002, partial_s: 0.003 };
        let (erase_block, page, merge_s) = (Bytes::mib(4), Bytes::kib(16), 0.256);
        let of = |seconds: fn(u64, f64) -> f64| {
            let writes = [1, 4].map(|n| (n * PAGE, seconds(n, pages.seconds(n * PAGE, PAGE))));
            log(&writes, pages, merge_s, erase_block, page)
        };
        // 256 or 128 pages, each with one or two milliseconds of a merge.
        assert_eq!(of(|n, usual| usual + 0.001 * number(n)), Bytes::mib(4));
        assert_eq!(of(|n, usual| usual + 0.002 * number(n)), Bytes::mib(2));
        assert_eq!(of(|_, usual| usual), erase_block, "no merge was seen");
        assert_eq!(of(|_, usual| 1.01 * usual), erase_block, "one hundredth is noise");
        let slower = |n: u64, extra_s: f64| (n * PAGE, pages.seconds(n * PAGE, PAGE) + extra_s);
        let logged = log(&[slower(1, 0.002), slower(256, 0.256)], pages, merge_s, erase_block, page);
        assert_eq!(logged, Bytes::mib(2), "a whole erase block leaves nothing to merge");
    }

    /// The best line through these times begins below zero.
    #[test]
    fn pages_without_an_overhead_take_all_of_the_time() {
        let writes: Vec<Write> = vec![(PAGE, 0.002), (2 * PAGE, 0.005), (4 * PAGE, 0.0125)];
        let pages = Pages::of(&writes, PAGE, 0.0).unwrap();
        assert!(pages.overhead_s.abs() < 1e-12 && (pages.page_s - 1.0 / 420.0).abs() < 1e-9, "{pages:?}");
    }

    #[test]
    fn programming_is_what_parts_of_a_page_take_where_the_link_is_slower() {
        // A page takes 5 ms on the link and 1 ms in the flash.
        let writes: Vec<Write> =
            vec![(PAGE / 4, 0.0012), (PAGE / 2, 0.0024), (PAGE, 0.005), (2 * PAGE, 0.01), (8 * PAGE, 0.04)];
        let limited = Pages::of(&writes, PAGE, 0.005).unwrap();
        assert!((limited.page_s - 0.0018).abs() < 1e-9, "{limited:?}");
        let free = Pages::of(&writes, PAGE, 0.0005).unwrap();
        assert!((free.page_s - 0.005).abs() < 1e-9, "{free:?}");
    }

    #[test]
    fn merges_take_what_was_seen_and_nothing_where_none_was() {
        let cell = |units, seconds| {
            let key = Key::OpenUnits { units, order: Order::Linear, request: Bytes::new(PAGE) };
            Cell { key, seconds }
        };
        let command = Command::OpenUnits {
            erase_block: Bytes::mib(4),
            open_units: 4,
            smallest: Bytes::new(PAGE),
            order: Order::Linear,
        };
        let cells = vec![cell(1, 0.002), cell(4, 0.003), cell(5, 0.1), cell(6, 0.2), cell(7, 0.001)];
        let measured = Measured::of_tables(vec![Table { command, lines: 0..=0, cells }]);
        let mean = (0.0975 + 0.1975) / 3.0;
        assert!((seen_merge_s(&measured, 4) - mean).abs() < 1e-9);
        assert!(seen_merge_s(&measured, 7).abs() < 1e-9, "no write beyond seven was measured");
    }

    /// The twin of a stick with pages of 2 ms and merges of 0.26 s. A random write within the two open units
    /// pays for 0.6 of them, one beyond for 1.5.
    fn twin_of(profile: &Profile) -> Profile {
        let cell = |units, order, pages: u64, merges: f64| {
            let key = Key::OpenUnits { units, order, request: Bytes::new(pages * PAGE) };
            Cell { key, seconds: 0.002 * number(pages) + 0.26 * merges }
        };
        let linear = [1, 2, 8].map(|pages| cell(1, Order::Linear, pages, 0.0));
        let random =
            [(1, 0.6), (2, 0.6), (3, 1.5)].map(|(units, merges)| cell(units, Order::Random, 1, merges));
        let command = Command::OpenUnits {
            erase_block: Bytes::mib(4),
            open_units: 3,
            smallest: Bytes::new(PAGE),
            order: Order::Random,
        };
        let table = Table { command, lines: 0..=0, cells: linear.into_iter().chain(random).collect() };
        let measured = Measured::of_tables(vec![table]);
        let merge = Finding::exact(
            FindingId::MergeSeconds,
            Value::Seconds(0.26),
            Confidence::new(0.99),
            Evidence::Blocks(BlockEvidence::ShortMerge { extra_s: 0.26 }),
        );
        with_pages(profile, &measured, Bytes::new(PAGE), &[merge]).unwrap()
    }

    #[test]
    fn random_merges_are_those_of_writes_beyond_the_open_units() {
        let twin = twin_of(&Profile::builtin("transcend-8g").unwrap());
        let Policy::OpenBlocks(policy) = &twin.policy else { panic!("{twin:?}") };
        assert!((policy.random_merge_copies - 1.5).abs() < 0.01, "{policy:?}");
    }

    /// A profile with times by size does not complete it, as those times include the copies.
    #[test]
    fn write_that_breaks_a_sequential_run_waits_until_the_erase_block_is_copied() {
        let mut by_size = Profile::builtin("transcend-8g").unwrap();
        let Policy::OpenBlocks(policy) = &mut by_size.policy else { panic!("no open blocks") };
        policy.completes_broken_runs = false;
        let mut stick = VirtualStick::new(&twin_of(&by_size), 1);
        let mut write_s = |offset: Bytes| {
            let before = stick.now();
            stick.run(Op::write(ByteRange::new(offset, Bytes::new(PAGE)), Pattern::new(1))).unwrap();
            stick.now().since(before).as_secs_f64()
        };
        let first_s = write_s(Bytes::mib(32));
        let second_s = write_s(Bytes::mib(33));
        assert!(first_s < 0.1 && (0.2..0.3).contains(&second_s), "{first_s} {second_s}");
    }

    #[test]
    fn copies_are_the_merges_of_a_random_write_beyond_the_open_units() {
        let pages = Pages { overhead_s: 0.0, page_s: 0.002, partial_s: 0.003 };
        let page = Bytes::new(PAGE);
        let of = |seconds: &[f64]| {
            let beyond: Vec<Write> = seconds.iter().map(|seconds| (PAGE, 0.002 + seconds)).collect();
            copies(&beyond, pages, 0.1, page)
        };
        assert!((of(&[0.15, 0.16, 0.14, 0.001]) - 1.5).abs() < 1e-9, "writes without a merge do not count");
        assert!((of(&[0.06]) - 1.0).abs() < 1e-9 && (of(&[]) - 1.0).abs() < 1e-9);
        assert!((of(&[9.0]) - COPIES_MAX).abs() < 1e-9);
    }
}
