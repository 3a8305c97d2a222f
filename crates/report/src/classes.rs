//! The classes of the SD Association in words: what is claimed, what is reached, and why not.

use flashscope_infer::classes::{
    ClassResult, ClassSpeed, ClassTest, ClassVerdict, Classes, RANDOM_RANGE, RANDOM_REQUEST, classes_of,
};
use flashscope_record::claims::Untestable;
use flashscope_record::observation::{Data, Direction, Order};
use flashscope_record::run_file::RunFile;

use crate::Report;
use crate::bench_report::BenchReport;
use crate::chart::Table;
use crate::quantity::{integer, interval_ends, three_digits};
use crate::terms::order_name;
use crate::words::Sentence;

/// The title of the section.
pub const TITLE: &str = "Marks and classes";

/// The classes of a run in words.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassesText {
    /// Which claims pass, or which classes are reached.
    pub headline: Sentence,
    /// The claims, or the highest class of each kind that is reached and the next one.
    pub table: Table,
    /// Reasons and conditions.
    pub notes: Vec<Sentence>,
}

/// The classes of a run, for a report about more; `None` if nothing is claimed and nothing could be tested
/// over the ranges of the classes.
pub fn section(run: &RunFile) -> Option<ClassesText> {
    let classes = classes_of(run);
    let is_check = run.observations.iter().any(|seen| matches!(seen.data, Data::Align(_)));
    let is_asked = !classes.claimed.is_empty() || is_check || are_complete(&classes);
    (is_asked && (classes.is_testable() || !classes.claimed.is_empty())).then(|| text(&classes))
}

/// Whether every speed was measured that a class needs.
fn are_complete(classes: &Classes) -> bool {
    let mut tests = classes.all.iter().flat_map(|result| &result.tests);
    tests.all(|test| {
        test.measured.is_some() && test.verdict != ClassVerdict::NotTestable(Untestable::WideRange)
    })
}

/// The classes alone.
pub(crate) fn alone(report: &Report<'_>) -> BenchReport {
    let warning = crate::words::verdict(report).warning;
    let ClassesText { headline, table, notes } = text(&classes_of(report.run));
    let notes = warning.into_iter().chain(notes).collect();
    BenchReport { headline, title: TITLE, table, lists: vec![("Conditions", notes)] }
}

/// A failed claim in one line, for the first screen.
pub fn failed_claim(run: &RunFile) -> Option<String> {
    let classes = classes_of(run);
    let failed = classes.claimed.iter().find(|claim| claim.verdict == ClassVerdict::Fail)?;
    let test = failed.tests.iter().find(|test| test.verdict == ClassVerdict::Fail)?;
    let (value, unit) = test.measured.map(|speed| value(test, speed.bytes_per_s))?;
    let (needed, _) = value_of(test, test.required.bytes_per_s);
    let is_of_units = (test.required.order, test.required.direction) == (Order::Linear, Direction::Write);
    let where_slowest = classes.units.as_ref().filter(|_| is_of_units);
    let part = where_slowest.map_or_else(String::new, |units| format!(" in its slowest {}", units.unit));
    Some(format!("Fails its mark {}: {} {value} of {needed} {unit}{part}.", failed.mark, name(test)))
}

fn text(classes: &Classes) -> ClassesText {
    let shown: Vec<&ClassResult> =
        if classes.claimed.is_empty() { nearest(classes) } else { classes.claimed.iter().collect() };
    let header = ["mark", "requires", "measured", "interval", "verdict"].map(str::to_owned).to_vec();
    let rows = shown.iter().flat_map(|result| rows(result)).collect();
    ClassesText {
        headline: Sentence::new(headline(classes)),
        table: Table { header, rows },
        notes: notes(classes, &shown),
    }
}

/// Of each kind of class, the highest that is reached, and the lowest above it.
fn nearest(classes: &Classes) -> Vec<&ClassResult> {
    let kind = |result: &ClassResult| result.mark.to_string().chars().next();
    let of_kind = classes.all.chunk_by(|one, other| kind(one) == kind(other));
    of_kind.flat_map(around_highest).collect()
}

/// The highest class that is reached, and the one above it.
fn around_highest(results: &[ClassResult]) -> &[ClassResult] {
    let reached = results.iter().rposition(|result| result.verdict == ClassVerdict::Pass);
    let next = reached.map_or(0, |reached| reached + 1);
    let last = next.min(results.len().saturating_sub(1));
    results.get(reached.unwrap_or(next)..=last).unwrap_or_default()
}

fn headline(classes: &Classes) -> String {
    if classes.claimed.is_empty() {
        return match highest(classes).as_slice() {
            [] if !classes.is_testable() => "No class can be tested here".to_owned(),
            [] => no_class(classes),
            reached => format!("Reaches {}", marks(reached.iter().copied())),
        };
    }
    let with =
        |is: fn(ClassVerdict) -> bool| marks(classes.claimed.iter().filter(|result| is(result.verdict)));
    let parts = [
        ("passes", with(|verdict| verdict == ClassVerdict::Pass)),
        ("fails", with(|verdict| verdict == ClassVerdict::Fail)),
        ("not testable here", with(|verdict| matches!(verdict, ClassVerdict::NotTestable(_)))),
    ];
    let parts = parts.into_iter().filter(|(_, marks)| !marks.is_empty());
    let parts: Vec<String> = parts.map(|(verdict, marks)| format!("{verdict}: {marks}")).collect();
    format!("Claims {}. {}", marks(&classes.claimed), Sentence::new(parts.join("; ")))
}

/// No class is reached: by all that could be tested.
fn no_class(classes: &Classes) -> String {
    let is_failed = |result: &&&ClassResult| result.verdict == ClassVerdict::Fail;
    let nearest = nearest(classes);
    let failed: Vec<&ClassResult> = nearest.iter().filter(is_failed).copied().collect();
    if failed.len() == nearest.len() {
        return "Reaches no class".to_owned();
    }
    format!("Misses {}; the others cannot be tested here", marks(failed))
}

fn marks<'a>(results: impl IntoIterator<Item = &'a ClassResult>) -> String {
    results.into_iter().map(|result| result.mark.to_string()).collect::<Vec<_>>().join(", ")
}

/// The highest class of each kind that is reached.
fn highest(classes: &Classes) -> Vec<&ClassResult> {
    nearest(classes).into_iter().filter(|result| result.verdict == ClassVerdict::Pass).collect()
}

/// One row for each requirement; the first names the mark.
fn rows(result: &ClassResult) -> Vec<Vec<String>> {
    let row = |(index, test): (usize, &ClassTest)| {
        let mark = if index == 0 { result.mark.to_string() } else { String::new() };
        let (needed, unit) = value_of(test, test.required.bytes_per_s);
        let measured = test.measured.map_or_else(String::new, |speed| value(test, speed.bytes_per_s).0);
        let interval = test.measured.map_or_else(String::new, |speed| interval(test, speed));
        let verdict = verdict(test.verdict).to_owned();
        vec![mark, format!("{} {needed} {unit}", name(test)), measured, interval, verdict]
    };
    result.tests.iter().enumerate().map(row).collect()
}

/// `sequential write`.
fn name(test: &ClassTest) -> String {
    format!("{} {}", order_name(test.required.order), test.required.direction.as_str())
}

/// A measured speed in the unit of the class.
fn value(test: &ClassTest, bytes_per_s: f64) -> (String, &'static str) {
    let (divisor, unit) = scale(test);
    (three_digits(bytes_per_s / divisor), unit)
}

/// A required speed: a whole number.
fn value_of(test: &ClassTest, bytes_per_s: f64) -> (String, &'static str) {
    let (divisor, unit) = scale(test);
    let number = bytes_per_s / divisor;
    let whole = (number.fract() == 0.0).then(|| integer(number as u64));
    (whole.unwrap_or_else(|| three_digits(number)), unit)
}

const fn scale(test: &ClassTest) -> (f64, &'static str) {
    match test.required.order {
        Order::Linear => (1e6, "MB/s"),
        Order::Random => (RANDOM_REQUEST.as_f64(), "IOPS"),
    }
}

/// The 95 % interval, or the lowest unit and the median.
fn interval(test: &ClassTest, speed: ClassSpeed) -> String {
    let (divisor, _) = scale(test);
    let ends = interval_ends(speed.low / divisor, speed.high / divisor);
    match (test.required.order, test.required.direction) {
        (Order::Linear, Direction::Write) => format!("median {}", ends[1]),
        _ => ends.join(" to "),
    }
}

/// The verdict in words.
#[must_use]
pub const fn verdict(verdict: ClassVerdict) -> &'static str {
    match verdict {
        ClassVerdict::Pass => "pass",
        ClassVerdict::Fail => "fail",
        ClassVerdict::NotTestable(_) => "not testable here",
    }
}

/// The conditions, and each reason once.
fn notes(classes: &Classes, shown: &[&ClassResult]) -> Vec<Sentence> {
    let mut notes = Vec::new();
    if classes.claimed.is_empty() && classes.registers_hidden {
        notes.push(
            "The USB reader hides the registers of the card, so that nothing is claimed; name the marks printed on it: --claimed U3,A1"
                .to_owned(),
        );
    }
    if let Some(units) = &classes.units {
        notes.push(format!(
            "Sequential write: the slowest of {} allocation units of {} decides, not the mean; the first is left out",
            units.count(),
            units.unit
        ));
        notes.extend(shown.iter().flat_map(|result| slow_units(classes, result)));
    }
    for result in shown {
        for test in &result.tests {
            if let ClassVerdict::NotTestable(why) = test.verdict {
                notes.push(format!("{}, {}: not testable here: {}", result.mark, name(test), reason(why)));
            }
        }
    }
    notes.into_iter().map(Sentence::new).collect()
}

/// How many units missed a class.
fn slow_units(classes: &Classes, result: &ClassResult) -> Option<String> {
    let is_of_units = |test: &&ClassTest| {
        (test.required.order, test.required.direction) == (Order::Linear, Direction::Write)
            && test.verdict == ClassVerdict::Fail
    };
    let needed = result.tests.iter().find(is_of_units)?.required.bytes_per_s;
    let units = classes.units.as_ref()?;
    Some(format!("{}: {} of {} units were slower", result.mark, units.below(needed), units.count()))
}

/// Why a class cannot be tested here.
#[must_use]
pub fn reason(why: Untestable) -> String {
    match why {
        Untestable::ReadOnly => "only reads are permitted (--scratch or --erase permits writes)".to_owned(),
        Untestable::NotMeasured => "it was not measured, or too briefly".to_owned(),
        Untestable::Link => "the link carries no more; use a faster port or reader".to_owned(),
        Untestable::LinkLatency => {
            "the USB commands may take the time that is missing; use a USB 3 reader or a card slot".to_owned()
        }
        Untestable::PageCache => "the page cache answered, not the device".to_owned(),
        Untestable::NoDirectIo => "the filesystem refuses direct I/O, so that the page cache answers; unmount it and test the disk: \
             check /dev/sdX --class --scratch"
            .to_owned(),
        Untestable::CommandQueue => {
            "the class is defined with the card's command queue and cache, which this host does not use"
                .to_owned()
        }
        Untestable::WideRange => {
            format!("random requests went all over the device; check TARGET --class uses {RANDOM_RANGE}")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_device::{ByteRange, Bytes};
    use flashscope_infer::classes::Requirement;
    use flashscope_record::claims::SpeedMark;
    use flashscope_record::observation::{
        AlignData, Conditions, Ended, Observations, Piece, Source, SpeedCase, SpeedCell, SpeedData,
        SustainedData,
    };

    use super::*;

    /// A card that claims this. Of its 24 units after the first 64 MiB, every third is written at 5.2 MB/s,
    /// the others at 21 MB/s.
    fn card(mark: SpeedMark) -> RunFile {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let mut run = RunFile::parse(text).unwrap();
        run.attachment.claims.marks = vec![mark];
        let piece = |index: u64| {
            let milliseconds = if index.is_multiple_of(3) { 800 } else { 200 };
            Piece { requests: 4, time: Duration::from_millis(milliseconds) }
        };
        let pieces = (0..40).map(piece).collect();
        let data = SustainedData { request: Bytes::mib(1), pieces, ..SustainedData::default() };
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        run.observations.push(Observations {
            data: Data::Sustained(data),
            conditions,
            ended: Ended::Complete,
        });
        run
    }

    #[test]
    fn a_missed_class_of_sequential_writes_counts_the_slower_units() {
        let notes = |mark| -> Vec<String> {
            let notes = text(&classes_of(&card(mark))).notes;
            notes.iter().map(|note| note.as_str().to_owned()).collect()
        };
        let units = "Sequential write: the slowest of 24 allocation units of 4 MiB decides, not the mean; \
                     the first is left out.";
        assert_eq!(notes(SpeedMark::SpeedClass(10)), [units, "C10: 8 of 24 units were slower."]);
        assert_eq!(notes(SpeedMark::UhsGrade(3)), [units, "U3: 24 of 24 units were slower."]);
        assert_eq!(notes(SpeedMark::SpeedClass(4)), [units], "no unit is slower than 4 MB/s");
    }

    #[test]
    fn a_missed_class_of_random_writes_counts_no_units() {
        let required = Requirement { direction: Direction::Write, order: Order::Random, bytes_per_s: 10e6 };
        let test = ClassTest { required, measured: None, verdict: ClassVerdict::Fail };
        let mark = SpeedMark::ApplicationClass(1);
        let missed = ClassResult { mark, verdict: ClassVerdict::Fail, tests: vec![test] };
        assert_eq!(slow_units(&classes_of(&card(mark)), &missed), None);
    }

    /// Random reads and writes over the first bytes of a card, of about 10 ms each.
    fn random_requests(range: Bytes) -> Observations {
        let cell = |direction| {
            let (order, request) = (Order::Random, RANDOM_REQUEST);
            let mut cell = SpeedCell::new(SpeedCase { direction, order, request, queue_depth: 1 });
            let mut ended = Duration::ZERO;
            for index in 0..400 {
                let took = Duration::from_millis(10 + index % 2);
                ended += took;
                cell.keep(took, ended);
            }
            cell
        };
        let cells = [Direction::Read, Direction::Write].map(cell).into();
        let region = Some(ByteRange::new(Bytes::ZERO, range));
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region, is_in_file: false, seed: 1 };
        let data = Data::Speed(SpeedData { cells, ..SpeedData::default() });
        Observations { data, conditions, ended: Ended::Complete }
    }

    #[test]
    fn other_reports_have_classes_if_they_are_claimed_or_checked_or_all_of_them_were_tested() {
        let claimed = card(SpeedMark::SpeedClass(4));
        assert!(section(&claimed).is_some());
        let mut stream = claimed.clone();
        stream.attachment.claims.marks.clear();
        assert_eq!(section(&stream), None, "random requests were not measured");
        let and = |others: Observations| {
            let mut run = stream.clone();
            run.observations.push(others);
            section(&run).is_some()
        };
        assert!(and(random_requests(RANDOM_RANGE)));
        assert!(!and(random_requests(Bytes::gib(8))), "a class needs only a small range");
        let checked =
            Observations { data: Data::Align(AlignData::default()), ..random_requests(Bytes::gib(8)) };
        assert!(and(checked));
    }

    /// What is said of these observations where nothing is claimed.
    fn said_without_claims(observations: Vec<Observations>) -> String {
        let mut run = card(SpeedMark::SpeedClass(4));
        run.attachment.claims.marks.clear();
        run.observations = observations;
        text(&classes_of(&run)).headline.as_str().to_owned()
    }

    #[test]
    fn classes_that_nothing_claims_are_reached_missed_or_not_testable() {
        assert_eq!(said_without_claims(Vec::new()), "No class can be tested here.");
        let stream = card(SpeedMark::SpeedClass(4)).observations;
        assert_eq!(said_without_claims(stream), "Reaches C4.");
        let random = vec![random_requests(RANDOM_RANGE)];
        assert_eq!(said_without_claims(random), "Misses A1; the others cannot be tested here.");
    }
}
