//! The verdict of `verify` in words, and a map of the device in one line.

use std::fmt::Write as _;

use flashscope_device::Bytes;
use flashscope_record::capacity::{
    BadPlaces, CapacityHint, CapacityKind, CapacityVerdict, PlaceState, SampledPlace,
};

use crate::commands::use_true_size;
use crate::printable::printable;
use crate::quantity::{counted, integer, seconds, significant};
use crate::terminal::wrapped;

/// Cells of the map.
const CELLS: usize = 64;
const LEGEND: &str = "# kept, x lost, . not tested";

/// The verdict as text: the answer, the map, what it means, and the cost.
#[must_use]
pub fn text(verdict: &CapacityVerdict, target: &str, width: usize) -> String {
    let headline = paragraphs(&[headline(verdict)], width);
    let details = paragraphs(&details(verdict, Some(target)), width);
    format!("{headline}\n{}\n{LEGEND}\n\n{details}", map(verdict))
}

/// The answer in one line.
#[must_use]
pub fn headline(verdict: &CapacityVerdict) -> String {
    let says = decimal(verdict.announced);
    match verdict.kind {
        CapacityKind::NoSign | CapacityKind::Undecided if verdict.is_unsteady() => format!(
            "BAD: no sign of a false capacity, but data was wrong or writes failed now and then on these {says}."
        ),
        CapacityKind::NoSign => no_sign(verdict),
        CapacityKind::Undecided => undecided(verdict),
        CapacityKind::Scattered => scattered(verdict, &says),
        kind => {
            let kept = verdict.true_size.unwrap_or_default();
            stores_less(kind, verdict.announced, kept, verdict.bad_share)
        }
    }
}

/// Bad places without a boundary: one of those that were tested, all of one part, or some everywhere.
fn scattered(verdict: &CapacityVerdict, says: &str) -> String {
    let is_failing = verdict.bad.iter().all(|bad| bad.state.is_error());
    let [loses, lose] = if is_failing { ["fails", "fail"] } else { ["loses data", "lose data"] };
    let tested = verdict.places.len();
    let lost = verdict.places.iter().filter(|place| is_lost(place, verdict)).count();
    match one_part(verdict) {
        Some(_) if lost == 1 => {
            format!(
                "BAD: says {says}, but one of {} that were tested {loses}.",
                counted(tested as u64, "place")
            )
        }
        Some([start, end]) => format!("BAD: says {says}, but {loses} between {start} and {end}."),
        None => {
            let share = share(verdict.bad_share);
            format!("BAD: says {says}, but {share} of all places {lose}, all over the device.")
        }
    }
}

/// Where all bad places lie, between the nearest good ones, if no good one is between them.
fn one_part(verdict: &CapacityVerdict) -> Option<[String; 2]> {
    let places = &verdict.places;
    let first = places.iter().position(|place| is_lost(place, verdict))?;
    let last = places.iter().rposition(|place| is_lost(place, verdict))?;
    let is_one = places.get(first..=last)?.iter().all(|place| is_lost(place, verdict));
    let start =
        first.checked_sub(1).and_then(|before| places.get(before)).map_or(Bytes::ZERO, |place| place.offset);
    let end = places.get(last + 1).map_or(verdict.announced, |place| place.offset);
    is_one.then(|| distinguished(start, end))
}

/// A device that stores `kept` of what it says: how it loses the rest.
pub(crate) fn stores_less(kind: CapacityKind, announced: Bytes, kept: Bytes, bad_share: f64) -> String {
    let [says, stores] = distinguished(announced, kept);
    let how = match kind {
        CapacityKind::Errors => {
            return format!(
                "BAD: says {says}, stores {stores}. Everything beyond {stores} fails with errors."
            );
        }
        _ if kept.is_zero() => return format!("FAKE: says {says}, stores nothing. All data is lost."),
        CapacityKind::Wrap => "wraps around",
        CapacityKind::Chain => "wraps around and drops writes",
        _ => "drops writes",
    };
    let also = match kind {
        CapacityKind::Mixed => format!(" {} below it is bad too.", share(bad_share)),
        _ => String::new(),
    };
    format!("FAKE: says {says}, stores {stores} ({how}). Data beyond {stores} is lost.{also}")
}

/// A paragraph that begins with these spaces is a command to paste.
pub(crate) const COMMAND_INDENT: &str = "    ";

/// Paragraphs in lines of at most `width` columns. A command stays on its line, since a broken one cannot be
/// pasted.
pub(crate) fn paragraphs(paragraphs: &[String], width: usize) -> String {
    let lines = |paragraph: &String| match paragraph.starts_with(COMMAND_INDENT) {
        true => vec![paragraph.clone()],
        false => wrapped(paragraph, width),
    };
    paragraphs.iter().flat_map(lines).map(|line| line + "\n").collect()
}

fn no_sign(verdict: &CapacityVerdict) -> String {
    let says = decimal(verdict.announced);
    format!("OK: no sign of a false capacity. Says {says}, and kept the data in all places that were tested.")
}

fn undecided(verdict: &CapacityVerdict) -> String {
    let says = decimal(verdict.announced);
    format!(
        "UNKNOWN: says {says}, and kept the data in all places that were tested, but it may map flash on demand."
    )
}

/// The device from its first to its last byte: what each part kept.
#[must_use]
pub fn map(verdict: &CapacityVerdict) -> String {
    let mut cells = [None; CELLS];
    for place in &verdict.places {
        let cell = cell_of(place.offset, verdict.announced);
        let is_lost = is_lost(place, verdict);
        if let Some(cell) = cells.get_mut(cell) {
            *cell = Some(*cell == Some(true) || is_lost);
        }
    }
    if let Some(size) = verdict.true_size.filter(|size| *size < verdict.announced) {
        // The cell of the boundary itself is lost unless the boundary is its end.
        let first = cell_of(size, verdict.announced);
        cells.iter_mut().skip(first).for_each(|cell| *cell = Some(true));
    }
    let bar: String = cells
        .iter()
        .map(|cell| match cell {
            None => '.',
            Some(false) => '#',
            Some(true) => 'x',
        })
        .collect();
    format!("0 [{bar}] {}", decimal(verdict.announced))
}

fn is_lost(place: &SampledPlace, verdict: &CapacityVerdict) -> bool {
    let is_overwritten = place.state == PlaceState::OtherAddress && verdict.wrap_period.is_some();
    place.state != PlaceState::Kept && !is_overwritten
}

fn cell_of(offset: Bytes, capacity: Bytes) -> usize {
    let cell = u128::from(offset.get()) * CELLS as u128 / u128::from(capacity.get().max(1));
    usize::try_from(cell).unwrap_or(CELLS)
}

/// The verdict's details; of a bad `target` also how to use the rest of it.
pub(crate) fn details(verdict: &CapacityVerdict, target: Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(size) = verdict.true_size.filter(|_| verdict.kind.is_bad()) {
        lines.push(format!("Exact: {} of {} bytes.", integer(size.get()), integer(verdict.announced.get())));
    }
    if let Some(period) = verdict.wrap_period {
        lines.push(format!("Addresses repeat every {} bytes.", integer(period.get())));
    }
    lines.extend(returned(verdict));
    if let Some(cache) = verdict.cache_seen {
        lines.push(format!("A cache of about {cache} returned lost data for a while."));
    }
    if verdict.kind.is_bad() {
        lines.push("Do not store anything on it that you need. Return it.".to_owned());
        lines.extend(target.into_iter().flat_map(|target| usable(verdict.kind, verdict.true_size, target)));
    } else {
        lines.push(bound(verdict));
    }
    lines.extend(verdict.hints.iter().map(hint));
    let cost = &verdict.cost;
    lines.push(format!(
        "Wrote {} and read {} in {} ({}, seed {}).",
        cost.bytes_written,
        cost.bytes_read,
        seconds(cost.device_time.as_secs_f64()),
        counted(cost.requests, "request"),
        verdict.seed
    ));
    lines
}

/// The smallest part that is worth a partition. Guess.
const USABLE_MIN: Bytes = Bytes::mib(64);

/// How to use the part that stores data, in a sentence and commands. Where places below the boundary are bad
/// too, none is recommended.
pub(crate) fn usable(kind: CapacityKind, true_size: Option<Bytes>, target: &str) -> Vec<String> {
    let is_sound = kind.is_bad() && !matches!(kind, CapacityKind::Mixed | CapacityKind::Scattered);
    let Some(size) = true_size.filter(|size| *size >= USABLE_MIN && is_sound) else { return Vec::new() };
    let sentence = "If you must keep it, plan a partition that ends below the true size:".to_owned();
    let commands = use_true_size(target, size);
    let commands = commands.iter().map(|command| format!("{COMMAND_INDENT}{}", printable(command)));
    std::iter::once(sentence).chain(commands).collect()
}

/// What the test excludes, and what it cannot see.
fn bound(verdict: &CapacityVerdict) -> String {
    let excluded = verdict.cache_excluded;
    if verdict.kind == CapacityKind::Undecided {
        return format!(
            "Excluded: wrap-around, and dropped writes with a cache up to {excluded}. Whether it has the flash for all of it, only \
             `flashscope verify --full` can tell: it fills the drive, and a drive with too little flash may die of it."
        );
    }
    if excluded >= verdict.announced {
        return "The whole device was written before samples were read back, so only a cache of its whole size could hide a fake.".to_owned();
    }
    format!(
        "A cache larger than {excluded} could hide a fake (--cache-bound excludes larger ones). A drive that maps flash on \
         demand passes every quick test."
    )
}

fn returned(verdict: &CapacityVerdict) -> Option<String> {
    let lost: Vec<&BadPlaces> = verdict
        .bad
        .iter()
        .filter(|bad| verdict.wrap_period.is_none() || bad.state != PlaceState::OtherAddress)
        .collect();
    let (first, rest) = lost.split_first()?;
    let mut text = format!("Lost places returned: {}", one(first));
    for bad in rest {
        let _ = write!(text, ", {}", one(bad));
    }
    Some(text + ".")
}

pub(crate) fn one(bad: &BadPlaces) -> String {
    let what = match bad.state {
        PlaceState::Kept => "the data",
        PlaceState::OtherAddress => "data of another address",
        PlaceState::Zeros => "zeros",
        PlaceState::Ones => "bytes of 0xff",
        PlaceState::Previous => "the previous contents",
        PlaceState::Garbage => "garbage",
        PlaceState::ReadError => "a read error",
        PlaceState::WriteError => "a write error",
    };
    format!("{what} ({})", integer(bad.count))
}

fn hint(hint: &CapacityHint) -> String {
    match hint {
        CapacityHint::UnwrittenReadsFast { unwritten, written } => format!(
            "Seen: areas that were never written read in {} and are all equal, written ones in {}. So the drive may map flash \
             only when it is written, and may have less than it says.",
            seconds(unwritten.as_secs_f64()),
            seconds(written.as_secs_f64())
        ),
        CapacityHint::FailedOnce { writes } => format!(
            "Hint: {} failed once and worked when repeated. Try another port or reader; save your data if it happens again.",
            counted(*writes, "write")
        ),
        CapacityHint::WrongOnce { places } => format!(
            "Hint: {} wrong once and right when tried again. Try another port or reader; save your data if it happens again.",
            counted_were(*places)
        ),
    }
}

fn counted_were(places: u64) -> String {
    let verb = if places == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(places, "place"))
}

/// The most digits of a size. Guess: a sector of the largest stick needs eleven.
const DIGITS_MAX: usize = 12;

/// Two sizes as they are printed on packages, with three digits, or with as many more as it takes to
/// distinguish them: `2.01 GB` and `2.012 GB`.
fn distinguished(first: Bytes, second: Bytes) -> [String; 2] {
    let both = |digits| [first, second].map(|size| decimal_with(size, digits));
    let differ = |[first, second]: &[String; 2]| first != second;
    (3..=DIGITS_MAX).map(both).find(differ).unwrap_or_else(|| both(3))
}

/// A size as it is printed on packages: `128 GB`, `7.30 GB`, `67.1 MB`.
pub(crate) fn decimal(size: Bytes) -> String {
    decimal_with(size, 3)
}

fn decimal_with(size: Bytes, digits: usize) -> String {
    let bytes = size.as_f64();
    let (unit, name) = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")]
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .unwrap_or((1.0, "B"));
    format!("{} {name}", significant(bytes / unit, digits))
}

pub(crate) fn share(share: f64) -> String {
    let digits = usize::from(share < 0.01);
    format!("{:.digits$} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use flashscope_record::capacity::CapacityCost;

    use super::*;

    fn verdict(kind: CapacityKind, true_size: u64) -> CapacityVerdict {
        let place = |gb: u64, state| SampledPlace { offset: Bytes::new(gb * 1_000_000_000), state };
        CapacityVerdict {
            kind,
            announced: Bytes::new(128_000_000_000),
            true_size: Some(Bytes::new(true_size)),
            wrap_period: None,
            cache_excluded: Bytes::mib(256),
            cache_seen: None,
            bad_share: 0.0,
            bad: vec![BadPlaces { state: PlaceState::Zeros, count: 2 }],
            hints: Vec::new(),
            places: vec![
                place(1, PlaceState::Kept),
                place(60, PlaceState::Zeros),
                place(127, PlaceState::Zeros),
            ],
            seed: 1,
            cost: CapacityCost::default(),
        }
    }

    #[test]
    fn the_first_line_is_the_answer() {
        let fake = headline(&verdict(CapacityKind::Dropped, 7_300_000_000));
        assert_eq!(fake, "FAKE: says 128 GB, stores 7.30 GB (drops writes). Data beyond 7.30 GB is lost.");
        assert!(headline(&verdict(CapacityKind::Wrap, 7_300_000_000)).contains("(wraps around)"));
        assert!(headline(&verdict(CapacityKind::Dropped, 0)).contains("stores nothing"));
        assert!(headline(&verdict(CapacityKind::NoSign, 128_000_000_000)).starts_with("OK: no sign"));
    }

    #[test]
    fn the_answer_distinguishes_sizes() {
        let verdict = CapacityVerdict {
            announced: Bytes::new(2_014_314_496),
            ..verdict(CapacityKind::Dropped, 2_012_217_344)
        };
        let fake = headline(&verdict);
        assert!(fake.starts_with("FAKE: says 2.014 GB, stores 2.012 GB (drops writes)."), "{fake}");
        assert!(fake.contains("Data beyond 2.012 GB"), "{fake}");
    }

    #[test]
    fn a_command_stays_on_one_line() {
        let verdict = verdict(CapacityKind::Wrap, 1 << 30);
        let text = text(&verdict, "-a stick with a long name and spaces in it.img", 60);
        let command = text.lines().find(|line| line.contains("flashscope plan"));
        let expected =
            "    flashscope plan './-a stick with a long name and spaces in it.img' --true-size 1073741824";
        assert!(command.is_some_and(|line| line.starts_with(expected)), "{text}");
    }

    #[test]
    fn the_text_keeps_to_its_width() {
        for kind in [CapacityKind::NoSign, CapacityKind::Undecided] {
            let text = text(&verdict(kind, 0), "sim:x", 80);
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(text.contains(LEGEND), "{text}");
        }
    }

    #[test]
    fn a_device_that_was_written_whole_has_no_bound() {
        let part = verdict(CapacityKind::NoSign, 0);
        let whole = CapacityVerdict { cache_excluded: part.announced, ..part.clone() };
        assert!(
            bound(&part).starts_with("A cache larger than 256 MiB could hide a fake"),
            "{}",
            bound(&part)
        );
        assert!(bound(&whole).starts_with("The whole device was written"), "{}", bound(&whole));
    }

    #[test]
    fn bad_places_in_one_part_are_not_all_over_the_device() {
        let bad = verdict(CapacityKind::Scattered, 0);
        let places = |states: &[PlaceState]| {
            let place = |(gb, state): (u64, &PlaceState)| SampledPlace {
                offset: Bytes::new(gb * 1_000_000_000),
                state: *state,
            };
            CapacityVerdict { places: (1..).zip(states).map(place).collect(), ..bad.clone() }
        };
        let (good, lost) = (PlaceState::Kept, PlaceState::ReadError);
        let one = headline(&places(&[good, good, lost, lost, good]));
        assert_eq!(one, "BAD: says 128 GB, but loses data between 2.00 GB and 5.00 GB.");
        let single = headline(&places(&[good, lost, good]));
        assert_eq!(single, "BAD: says 128 GB, but one of 3 places that were tested loses data.");
        let many = places(&[good, lost, good, lost, good]);
        assert!(headline(&many).ends_with("lose data, all over the device."));
        let failing =
            CapacityVerdict { bad: vec![BadPlaces { state: PlaceState::WriteError, count: 2 }], ..many };
        assert!(headline(&failing).ends_with("of all places fail, all over the device."));
    }

    #[test]
    fn writes_that_failed_once_are_not_ok() {
        let hints = vec![CapacityHint::FailedOnce { writes: 2 }];
        let unsteady = CapacityVerdict { hints, ..verdict(CapacityKind::NoSign, 0) };
        assert!(headline(&unsteady).starts_with("BAD: no sign of a false capacity, but"), "{unsteady:?}");
        assert!(details(&unsteady, None).iter().any(|line| line.starts_with("Hint: 2 writes failed once")));
    }

    #[test]
    fn the_map_shows_the_lost_part() {
        let map = map(&verdict(CapacityKind::Dropped, 64_000_000_000));
        let bar = &map[map.find('[').unwrap() + 1..map.find(']').unwrap()];
        assert_eq!((bar.len(), &bar[..2], &bar[32..]), (CELLS, "#.", "x".repeat(32).as_str()));
    }

    #[test]
    fn a_cell_of_the_map_is_lost_if_any_of_its_places_is() {
        let (kept, lost) = (PlaceState::Kept, PlaceState::Zeros);
        // Two places in each cell of 2 GB.
        let states = [kept, kept, lost, kept, kept, lost, lost, lost];
        let place =
            |(gb, state): (u64, PlaceState)| SampledPlace { offset: Bytes::new(gb * 1_000_000_000), state };
        let places = (0..).zip(states).map(place).collect();
        let verdict = CapacityVerdict { true_size: None, places, ..verdict(CapacityKind::Scattered, 0) };
        assert_eq!(map(&verdict), format!("0 [#xxx{}] 128 GB", ".".repeat(60)));
    }
}
