//! What to take, and what the intervals hold.

use flashscope_device::Bytes;
use flashscope_infer::trials::summary::Cell;
use flashscope_infer::trials::{Comparison, Recommendation};
use flashscope_record::{TrialOperation, TrialWorkload, Writeback};

use super::{Compared, Fewer, TrialSource};
use crate::quantity;
use crate::words::{Sentence, confidence_level};

/// The most names in a sentence; the others are counted.
const NAMES_MAX: usize = 3;

/// What to take for each kind of files, one sentence or two for each.
#[must_use]
pub fn sentences(compared: &Compared<'_>) -> Vec<Sentence> {
    let summary = compared.summary;
    let sentence = |workload: TrialWorkload| {
        let found = summary.recommendations.iter().find(|each| each.workload == workload);
        Sentence::new(found.map_or_else(
            || without_recommendation(compared, workload),
            |each| recommendation(compared, each),
        ))
    };
    let sentences: Vec<Sentence> = summary.workloads().into_iter().map(sentence).collect();
    if sentences.is_empty() { vec![Sentence::new("no trial was completed")] } else { sentences }
}

/// Where no filesystem was tried that `plan` makes.
fn without_recommendation(compared: &Compared<'_>, workload: TrialWorkload) -> String {
    let mut cells = compared.summary.cells.iter();
    let (files, fastest) =
        (files(compared, workload), cells.find(|cell| cell.is(workload, TrialOperation::Write)));
    match fastest {
        Some(Cell { variant, estimate, .. }) => {
            let time = quantity::seconds(estimate.seconds);
            format!("{files}: {variant} writes fastest, in {time}, but no plan makes it")
        }
        None => format!("{files}: no write was completed"),
    }
}

/// The files of these trials, and how many where they were fewer.
fn files(compared: &Compared<'_>, workload: TrialWorkload) -> String {
    let purpose = purpose(workload);
    match compared.fewer.iter().find(|fewer| fewer.workload == workload) {
        Some(Fewer { written, wanted, .. }) => {
            let count = |number: u32| quantity::integer(u64::from(number));
            format!("{purpose} ({} of {})", count(*written), count(*wanted))
        }
        None => purpose.to_owned(),
    }
}

fn recommendation(compared: &Compared<'_>, each: &Recommendation) -> String {
    let (fastest, files) = (&each.fastest, files(compared, each.workload));
    let cell = compared.summary.cell(fastest, each.workload, TrialOperation::Write);
    let time = cell.map_or_else(String::new, |cell| quantity::seconds(cell.estimate.seconds));
    let also = |list: &[String], what: [&str; 2]| match list {
        [] => String::new(),
        [one] => format!("; {one} {}", what[0]),
        all => format!("; {} {}", names(all), what[1]),
    };
    let faster =
        also(&each.faster, ["is faster, but no plan makes it", "are faster, but no plan makes them"]);
    let (Some(baseline), Some(gain)) = (&each.baseline, each.gain) else {
        let alone = if each.faster.is_empty() { "; nothing else was tried" } else { "" };
        return format!("{files}: {fastest} writes in {time}{alone}{faster}");
    };
    if !gain.is_shown() {
        let others = each.equals.iter().filter(|name| *name != baseline).cloned();
        let all: Vec<String> = [fastest.clone(), baseline.clone()].into_iter().chain(others).collect();
        return format!("{files}: no difference that these trials can show between {}{faster}", names(&all));
    }
    let equal = also(&each.equals, ["may be as fast"; 2]);
    format!("{files}: take {fastest}. It writes in {time}, {}{faster}{equal}", times(&gain, baseline))
}

/// Where another filesystem reads faster than the one to take.
pub fn slower_reads(compared: &Compared<'_>) -> Vec<Sentence> {
    let sentence = |each: &Recommendation| {
        let (faster, by) = each.faster_read.as_ref()?;
        Some(Sentence::new(format!(
            "{}: {} reads {}, which writes faster",
            purpose(each.workload),
            faster,
            times(by, &each.fastest)
        )))
    };
    compared.summary.recommendations.iter().filter_map(sentence).collect()
}

/// `2.3 times as fast as vfat (2.1 to 2.5; very sure)`.
fn times(gain: &Comparison, baseline: &str) -> String {
    format!(
        "{} times as fast as {baseline} ({}; {})",
        quantity::ratio(gain.ratio),
        ratio_interval(gain),
        confidence_level(gain.confidence)
    )
}

/// The ends of the interval of a ratio: `2.1 to 2.5`.
fn ratio_interval(gain: &Comparison) -> String {
    let [low, high] = [gain.low, gain.high].map(quantity::ratio);
    if low == high {
        quantity::interval_ends(gain.low, gain.high).join(" to ")
    } else {
        format!("{low} to {high}")
    }
}

fn names(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if all.len() <= NAMES_MAX => format!("{} and {last}", first.join(", ")),
        all => format!("{} and {} others", all[..NAMES_MAX - 1].join(", "), all.len() - NAMES_MAX + 1),
    }
}

/// The files in a few words.
pub const fn purpose(workload: TrialWorkload) -> &'static str {
    match workload {
        TrialWorkload::Tree => "source tree",
        TrialWorkload::Large => "large files",
        TrialWorkload::Small => "small files",
        TrialWorkload::Like => "files like yours",
    }
}

/// What the intervals hold, one sentence each.
pub fn in_the_interval(compared: &Compared<'_>) -> Vec<Sentence> {
    if let TrialSource::Measured { .. } = compared.source {
        return vec![Sentence::new("95 % for the mean of many rounds on this stick: their spread")];
    }
    let both = if has_both_limits(&compared.summary.cells) {
        "late and early writeback: a host with much memory and one that waits for the stick; most lie between"
    } else {
        ""
    };
    let sentences = [
        "95 % for the mean of many recordings: their spread, by the draws of the allocator (1 to 10 % were seen)",
        both,
        "0.7 % for timers and the emulated processor, as measured on sticks that were slow while they recorded",
    ];
    sentences.into_iter().filter(|text| !text.is_empty()).map(Sentence::new).collect()
}

/// What the intervals do not hold, one sentence each.
pub fn not_in_the_interval(compared: &Compared<'_>) -> Vec<Sentence> {
    let (kernels, memories, capacities) = match compared.source {
        TrialSource::Replayed { kernels, memories, capacities } => (kernels, memories, capacities),
        TrialSource::Measured { kernel } => return not_measured(kernel),
    };
    let sizes = |sizes: &[Bytes]| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let one_limit = if has_both_limits(&compared.summary.cells) {
        String::new()
    } else {
        "another writeback than the recorded one: late and early were not both recorded for each filesystem"
            .to_owned()
    };
    let sentences = [
        format!("another kernel than {}", kernels.join(", ")),
        format!("another memory of the host than {}", sizes(memories)),
        format!("another capacity of the filesystem than {}", sizes(capacities)),
        one_limit,
        "the time that the host's processor takes, and the error of the virtual stick itself".to_owned(),
    ];
    sentences.into_iter().filter(|text| !text.is_empty()).map(Sentence::new).collect()
}

/// What the intervals of measured trials do not hold.
fn not_measured(kernel: &str) -> Vec<Sentence> {
    let sentences = [
        format!("another kernel than {kernel}, or a host with another memory"),
        "a stick that is full, or that has rested longer: trials follow each other at once".to_owned(),
    ];
    sentences.into_iter().map(Sentence::new).collect()
}

/// Whether every cell has late and early writeback.
fn has_both_limits(cells: &[Cell]) -> bool {
    let has = |cell: &Cell, writeback| cell.estimate.by_writeback.iter().any(|(each, _)| *each == writeback);
    cells.iter().all(|cell| has(cell, Writeback::Late) && has(cell, Writeback::Early))
}

#[cfg(test)]
mod tests {
    use flashscope_record::finding::Confidence;

    use super::*;

    #[test]
    fn three_names_are_given_and_of_more_the_others_are_counted() {
        let all = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let texts: Vec<String> = (0..=5).map(|count| names(&all[..count])).collect();
        assert_eq!(texts, ["", "a", "a and b", "a, b and c", "a, b and 2 others", "a, b and 3 others"]);
    }

    #[test]
    fn ends_of_an_interval_have_more_digits_where_they_would_be_equal() {
        let of = |low, high| {
            ratio_interval(&Comparison { ratio: low, low, high, confidence: Confidence::new(0.99) })
        };
        let intervals = [of(2.1, 2.5), of(2.11, 2.14), of(12.0, 14.0)];
        assert_eq!(intervals, ["2.1 to 2.5", "2.11 to 2.14", "12 to 14"]);
    }
}
