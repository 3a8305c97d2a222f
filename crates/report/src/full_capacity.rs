//! The verdict of `verify --full` in words, and a map of the device in one line.

use flashscope_device::Bytes;
use flashscope_record::capacity::{CapacityKind, PlaceState};
use flashscope_record::full_capacity::{
    FullPhase, FullProgress, FullRegion, FullVerdict, RegionState, Trouble,
};

use crate::capacity::{decimal, one, paragraphs, share, stores_less, usable};
use crate::quantity::{counted, integer, seconds, speed};

/// Cells of the map. With its ends it stays below 78 characters.
const CELLS: u64 = 64;
/// The longest time between two reads that is not worth a word, seconds. Guess.
const LONG_S: f64 = 1.0;

/// What was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A whole device.
    Device,
    /// The free space of a filesystem.
    FreeSpace {
        /// The capacity of the stick, or of the filesystem if the stick is unknown.
        of: Bytes,
    },
}

/// The verdict on `target` as text: the answer, the map, the throughput, what it means, and the cost.
#[must_use]
pub fn text(verdict: &FullVerdict, scope: Scope, target: &str, width: usize) -> String {
    let lines = paragraphs(&details(verdict, scope, target), width);
    headline(verdict, scope) + "\n\n" + &map(verdict) + "\n" + LEGEND + "\n\n" + &lines
}

/// The answer in one line.
#[must_use]
pub fn headline(verdict: &FullVerdict, scope: Scope) -> String {
    let says = decimal(verdict.announced);
    if verdict.kind == CapacityKind::NoSign {
        return match (verdict.is_unsteady, scope) {
            (true, _) => {
                "BAD: the data was kept in the end, but requests failed or data was wrong now and then."
                    .to_owned()
            }
            (false, Scope::Device) => format!("OK: stores all of the {says} that it says."),
            (false, Scope::FreeSpace { .. }) => format!("OK: kept all data in {says} of free space."),
        };
    }
    let lost = share(lost_share(verdict));
    if verdict.is_unsteady {
        return format!(
            "BAD: lost {lost} of the data, and bad places move: a bad contact or a dying device."
        );
    }
    match scope {
        Scope::Device => of_device(verdict, &says, &lost),
        Scope::FreeSpace { .. } if is_other_address(verdict) => {
            format!(
                "FAKE: {lost} of the data in {says} of free space was replaced by data of another address."
            )
        }
        Scope::FreeSpace { .. } => format!("BAD: lost {lost} of the data in {says} of free space."),
    }
}

fn of_device(verdict: &FullVerdict, says: &str, lost: &str) -> String {
    match verdict.kind {
        CapacityKind::Scattered => {
            format!("BAD: says {says}, but loses {lost} of its data, in places that stay the same.")
        }
        kind => {
            let kept = verdict.true_size.unwrap_or_default();
            stores_less(kind, verdict.announced, kept, verdict.bad_share)
        }
    }
}

fn is_other_address(verdict: &FullVerdict) -> bool {
    verdict.bad.first().is_some_and(|bad| bad.state == PlaceState::OtherAddress)
}

/// The share of all sectors that lost their data.
fn lost_share(verdict: &FullVerdict) -> f64 {
    let sectors: u64 = verdict.bad.iter().map(|bad| bad.count).sum();
    let lost = flashscope_device::SECTOR * sectors;
    if verdict.announced.is_zero() { 0.0 } else { lost.as_f64() / verdict.announced.as_f64() }
}

/// What a test that was interrupted has seen; `None` before it has written anything.
#[must_use]
pub fn so_far(progress: &FullProgress) -> Option<String> {
    let (written, read) = match progress.phase {
        FullPhase::Write => (progress.position, Bytes::ZERO),
        FullPhase::Read => (progress.capacity, progress.position),
        FullPhase::SecondLook => (progress.capacity, progress.capacity),
    };
    if written.is_zero() {
        return None;
    }
    let lost: u64 = progress.regions.iter().flat_map(|region| &region.bad).map(|bad| bad.count).sum();
    let errors = progress.write_errors.first().map(|range| range.offset);
    let extent = progress.extents.first().map(|extent| extent.range.offset);
    let failed =
        errors.map_or_else(String::new, |at| format!("; a write failed at byte {}", integer(at.get())));
    let seen = match (read.is_zero(), extent) {
        (true, _) if errors.is_some() => format!("{} are written{failed}", decimal(written)),
        (true, _) => {
            format!("{} are written without an error, and nothing is read back", decimal(written))
        }
        (false, None) => format!("{} are read back, and nothing of it is lost{failed}", decimal(read)),
        (false, Some(at)) => {
            let lost = counted(lost, "sector");
            format!(
                "{} are read back, and {lost} lost, the first at byte {}",
                decimal(read),
                integer(at.get())
            )
        }
    };
    Some(format!("so far {seen}"))
}

const LEGEND: &str = "# kept, s slow, E errors, x lost";

/// The device from its first to its last byte. Each cell shows the worst of its regions.
#[must_use]
pub fn map(verdict: &FullVerdict) -> String {
    let edge = |cell: u64| {
        let at = u128::from(verdict.announced.get()) * u128::from(cell) / u128::from(CELLS);
        Bytes::new(u64::try_from(at).unwrap_or(u64::MAX))
    };
    let bar: String = (0..CELLS)
        .map(|cell| {
            let (start, end) = (edge(cell), edge(cell + 1).max(edge(cell) + Bytes::new(1)));
            let inside = |region: &&FullRegion| region.offset < end && region.offset + region.length > start;
            let regions = verdict.regions.iter().filter(inside);
            regions.map(|region| mark(region, verdict)).max_by_key(|mark| rank(*mark)).unwrap_or(' ')
        })
        .collect();
    format!("0 [{bar}] {}", decimal(verdict.announced))
}

/// Where addresses wrap around, the start holds the data of the end. The map shows what the device has.
fn mark(region: &FullRegion, verdict: &FullVerdict) -> char {
    match (region.state, verdict.wrap_period.and(verdict.true_size)) {
        (RegionState::Bad, _) => 'E',
        (_, Some(size)) => {
            if region.offset < size {
                '#'
            } else {
                'x'
            }
        }
        (RegionState::Lying, None) => 'x',
        (RegionState::Slow, None) => 's',
        (RegionState::Good, None) => '#',
    }
}

fn rank(mark: char) -> usize {
    "#sxE".find(mark).unwrap_or_default()
}

fn details(verdict: &FullVerdict, scope: Scope, target: &str) -> Vec<String> {
    let mut lines = speeds(verdict);
    if let Scope::FreeSpace { of } = scope {
        lines.push(coverage(verdict, of));
    } else if let Some(size) = verdict.true_size.filter(|_| verdict.kind.is_bad()) {
        lines.push(format!("Exact: {} of {} bytes.", integer(size.get()), integer(verdict.announced.get())));
    }
    if let (Some(period), Scope::Device) = (verdict.wrap_period, scope) {
        lines.push(format!("Addresses repeat every {} bytes.", integer(period.get())));
    }
    if let Some((first, rest)) = verdict.bad.split_first() {
        let rest: String = rest.iter().map(|bad| format!(", {}", one(bad))).collect();
        lines.push(format!("Lost sectors returned: {}{rest}.", one(first)));
    }
    if let Some(cache) = verdict.cache_seen {
        lines.push(format!("A cache of about {cache} returned lost data for a while."));
    }
    lines.extend(trouble(&verdict.trouble));
    lines.push(advice(verdict).to_owned());
    if scope == Scope::Device && !verdict.is_unsteady {
        lines.extend(usable(verdict.kind, verdict.true_size, target));
    }
    lines.push(cost(verdict));
    lines
}

fn advice(verdict: &FullVerdict) -> &'static str {
    match (verdict.is_unsteady, verdict.kind) {
        (true, _) => {
            "Test again in another port or reader and with another cable. If places are bad again, the device is dying: copy what \
             is on it elsewhere first, and replace it."
        }
        (false, CapacityKind::NoSign) => "Every sector was written and read back.",
        (false, CapacityKind::Dropped | CapacityKind::Mixed) => {
            "It has less flash than it says, or maps flash on demand and ran out of it. Do not store anything on it that you \
             need. Return it."
        }
        (false, CapacityKind::Scattered | CapacityKind::Errors) => {
            "The same places are bad again after a second write. Do not store anything on it that you need."
        }
        (false, _) => "Do not store anything on it that you need. Return it.",
    }
}

fn speeds(verdict: &FullVerdict) -> Vec<String> {
    let ends = |of: fn(&FullRegion) -> Option<f64>| {
        let all = || verdict.regions.iter().filter_map(of);
        (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
    };
    let line = |name: &str, mean: Option<f64>, (low, high): (f64, f64)| {
        let range = format!("slowest region {}, fastest {}", speed(low), speed(high));
        mean.map(|mean| format!("{name} {} ({range}).", speed(mean)))
    };
    let slow = verdict.regions.iter().filter(|region| region.state == RegionState::Slow).count();
    let slow = (slow > 0).then(|| format!("{} much slower than the median.", counted(slow as u64, "region")));
    [
        line("Write", verdict.write_bytes_per_s, ends(|region| region.write_bytes_per_s)),
        line("Read", verdict.read_bytes_per_s, ends(|region| region.read_bytes_per_s)),
        slow,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn coverage(verdict: &FullVerdict, of: Bytes) -> String {
    let part = if of.is_zero() { 0.0 } else { verdict.announced.as_f64() / of.as_f64() };
    format!(
        "The free space is {} of {}. The rest was not tested, and wrap-around is seen only within the free space.",
        share(part),
        decimal(of)
    )
}

fn trouble(trouble: &Trouble) -> Option<String> {
    let mut parts = Vec::new();
    let mut add = |count: u64, noun: &str, what: &str| {
        if count > 0 {
            parts.push(format!("{} {what}", counted(count, noun)));
        }
    };
    add(trouble.failed_requests, "request", "failed twice");
    add(trouble.repeated_requests, "request", "failed once and worked when repeated");
    add(trouble.slow_reads, "read", "took a second or more");
    add(trouble.right_when_read_again, "bad place", "right when read again");
    add(trouble.right_after_second_write, "bad place", "right after a second write");
    let longest = trouble.longest_read.as_secs_f64();
    if longest >= LONG_S {
        parts.push(format!("longest read {}", seconds(longest)));
    }
    if parts.is_empty() {
        return None;
    }
    let looked_at = match trouble.looked_at {
        0 => String::new(),
        count => format!(" ({} tried again)", counted(count, "place")),
    };
    Some(format!("Trouble: {}{looked_at}.", parts.join(", ")))
}

fn cost(verdict: &FullVerdict) -> String {
    let cost = &verdict.cost;
    let continued = match verdict.continued {
        0 => String::new(),
        count => format!(", continued {}", counted(u64::from(count), "time")),
    };
    format!(
        "Wrote {} and read {} in {} ({}, seed {}{continued}).",
        cost.bytes_written,
        cost.bytes_read,
        seconds(cost.device_time.as_secs_f64()),
        counted(cost.requests, "request"),
        verdict.seed
    )
}

#[cfg(test)]
mod tests {
    use flashscope_device::ByteRange;
    use flashscope_record::capacity::{BadPlaces, CapacityCost};
    use flashscope_record::full_capacity::BadExtent;

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn verdict(kind: CapacityKind, states: &[RegionState]) -> FullVerdict {
        let length = Bytes::new(GB);
        let regions = (0..).zip(states).map(|(index, state)| FullRegion {
            offset: length * index,
            length,
            state: *state,
            write_bytes_per_s: Some(1e7),
            read_bytes_per_s: Some(2e7),
            bad: Vec::new(),
        });
        let regions: Vec<FullRegion> = regions.collect();
        FullVerdict {
            kind,
            is_unsteady: false,
            announced: length * states.len() as u64,
            true_size: Some(length * 2),
            wrap_period: None,
            cache_seen: None,
            bad_share: 0.0,
            bad: vec![BadPlaces { state: PlaceState::Zeros, count: GB / 512 }],
            trouble: Trouble::default(),
            write_bytes_per_s: Some(1e7),
            read_bytes_per_s: Some(2e7),
            regions,
            continued: 0,
            seed: 1,
            cost: CapacityCost::default(),
        }
    }

    #[test]
    fn an_interrupted_test_says_what_it_has_seen() {
        let capacity = Bytes::new(4 * GB);
        let mut progress = FullProgress::new(1, capacity, capacity);
        assert_eq!(so_far(&progress), None);
        progress.position = Bytes::new(GB);
        let seen = |progress: &FullProgress| so_far(progress).unwrap_or_default();
        assert!(seen(&progress).starts_with("so far 1.00 GB are written without an error"));
        progress.phase = FullPhase::Read;
        assert_eq!(seen(&progress), "so far 1.00 GB are read back, and nothing of it is lost");
        let range = ByteRange::new(Bytes::new(4096), Bytes::new(1024));
        progress.write_errors = vec![range];
        assert!(seen(&progress).ends_with("nothing of it is lost; a write failed at byte 4,096"));
        progress.extents = vec![BadExtent { range, state: PlaceState::Zeros }];
        progress.regions[0].bad = vec![BadPlaces { state: PlaceState::Zeros, count: 2 }];
        progress.phase = FullPhase::SecondLook;
        let lost = "so far 4.00 GB are read back, and 2 sectors lost, the first at byte 4,096";
        assert_eq!(seen(&progress), lost);
    }

    const STATES: [RegionState; 4] =
        [RegionState::Good, RegionState::Slow, RegionState::Lying, RegionState::Bad];

    #[test]
    fn map_shows_the_worst_of_each_cell_within_78_characters() {
        let seen = verdict(CapacityKind::Dropped, &STATES);
        let line = map(&seen);
        let bar = ["#", "s", "x", "E"].map(|mark| mark.repeat(16)).concat();
        assert_eq!(line, format!("0 [{bar}] 4.00 GB"));
        assert!(line.len() <= 78);
        let many: Vec<RegionState> = (0..512).map(|index| STATES[index / 128]).collect();
        assert_eq!(map(&verdict(CapacityKind::Dropped, &many)), format!("0 [{bar}] 512 GB"));
        let wrap = FullVerdict {
            wrap_period: Some(Bytes::new(2 * GB)),
            ..verdict(CapacityKind::Wrap, &[RegionState::Lying, RegionState::Lying, RegionState::Good])
        };
        assert!(map(&wrap).starts_with("0 [###") && map(&wrap).contains("xxx]"));
    }

    #[test]
    fn first_line_is_the_answer() {
        let of = |kind, is_unsteady, scope| {
            let seen = FullVerdict { is_unsteady, ..verdict(kind, &STATES) };
            headline(&seen, scope)
        };
        let free = Scope::FreeSpace { of: Bytes::new(8 * GB) };
        let lost = "FAKE: says 4.00 GB, stores 2.00 GB (drops writes). Data beyond 2.00 GB is lost.";
        assert_eq!(of(CapacityKind::Dropped, false, Scope::Device), lost);
        assert_eq!(
            of(CapacityKind::NoSign, false, Scope::Device),
            "OK: stores all of the 4.00 GB that it says."
        );
        assert_eq!(of(CapacityKind::NoSign, false, free), "OK: kept all data in 4.00 GB of free space.");
        assert_eq!(
            of(CapacityKind::Dropped, false, free),
            "BAD: lost 25 % of the data in 4.00 GB of free space."
        );
        assert!(of(CapacityKind::NoSign, true, Scope::Device).starts_with("BAD: the data was kept"));
        assert!(of(CapacityKind::Scattered, true, Scope::Device).contains("dying device"));
    }

    #[test]
    fn part_that_a_fake_stores_is_planned_and_that_of_a_bad_device_is_not() {
        let command = "flashscope plan /dev/sdb --true-size 2000000000 --for share";
        let free = Scope::FreeSpace { of: Bytes::new(8 * GB) };
        for (kind, is_unsteady, scope, is_advised) in [
            (CapacityKind::Wrap, false, Scope::Device, true),
            (CapacityKind::Dropped, false, Scope::Device, true),
            (CapacityKind::Errors, false, Scope::Device, true),
            (CapacityKind::Mixed, false, Scope::Device, false),
            (CapacityKind::Scattered, false, Scope::Device, false),
            (CapacityKind::NoSign, false, Scope::Device, false),
            (CapacityKind::Dropped, true, Scope::Device, false),
            (CapacityKind::Dropped, false, free, false),
        ] {
            let seen = FullVerdict { is_unsteady, ..verdict(kind, &STATES) };
            let text = text(&seen, scope, "/dev/sdb", 400);
            assert_eq!(text.contains(command), is_advised, "{kind:?}, unsteady {is_unsteady}: {text}");
        }
    }

    #[test]
    fn details_name_coverage_trouble_and_what_to_do() {
        let trouble =
            Trouble { repeated_requests: 9, looked_at: 4, right_when_read_again: 3, ..Trouble::default() };
        let seen = FullVerdict { is_unsteady: true, trouble, ..verdict(CapacityKind::NoSign, &STATES) };
        let text = text(&seen, Scope::FreeSpace { of: Bytes::new(8 * GB) }, "/media/stick", 400);
        for part in
            ["50 % of 8.00 GB", "9 requests failed once", "3 bad places", "another cable", "10.0 MB/s"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
