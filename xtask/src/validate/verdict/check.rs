//! What a first screen must not contradict.

use flashscope_record::diagnosis::{Bottleneck, Conclusion, GAIN_REPORTED_MIN};
use flashscope_record::verdict::{ActionKind, Mark, VerdictState};

use super::seen::Seen;

/// The size of the screen.
const LINES_MAX: usize = 20;
const COLUMNS_MAX: usize = 80;

/// Every contradiction; empty if there is none.
pub fn contradictions(seen: &Seen) -> Vec<String> {
    [size(seen), state(seen), numbers(seen), times(seen), actions(seen), details(seen)].concat()
}

/// The text, if a claim does not hold.
fn unless(holds: bool, text: impl Into<String>) -> Option<String> {
    (!holds).then(|| text.into())
}

fn size(seen: &Seen) -> Vec<String> {
    let lines = seen.text.lines().count();
    let columns = seen.text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let found = [
        unless(lines <= LINES_MAX, format!("{lines} lines")),
        unless(columns <= COLUMNS_MAX, format!("{columns} columns")),
    ];
    found.into_iter().flatten().collect()
}

fn state(seen: &Seen) -> Vec<String> {
    let verdict = &seen.screen.verdict;
    let marks: Vec<Option<Mark>> =
        verdict.numbers.iter().map(flashscope_record::verdict::SpeedNumber::mark).collect();
    let has_poor_write = [marks[1], marks[3]].contains(&Some(Mark::Poor));
    let is_slow = matches!(verdict.state, VerdictState::Slow | VerdictState::SlowSmallWrites);
    let is_unknown = matches!(verdict.diagnosis.conclusion, Conclusion::Unknown { .. });
    let is_limited = matches!(verdict.diagnosis.conclusion, Conclusion::Bottleneck(_));
    let found = [
        unless(
            verdict.state != VerdictState::Fast || !marks.contains(&Some(Mark::Poor)),
            "fast, with a poor number",
        ),
        unless(!is_unknown || seen.screen.limit.is_none(), "nothing helps, though the cause is unknown"),
        unless(is_slow || !has_poor_write, "a poor write speed, and not slow"),
        unless(!is_slow || has_poor_write || is_limited, "slow, without a poor write speed or a bottleneck"),
    ];
    found.into_iter().flatten().collect()
}

fn numbers(seen: &Seen) -> Vec<String> {
    let speeds = seen.screen.verdict.numbers.iter().filter_map(|number| number.speed);
    let outside = speeds.filter(|speed| !(speed.low..=speed.high).contains(&speed.bytes_per_s));
    outside.map(|speed| format!("a speed outside its interval: {speed:?}")).collect()
}

fn times(seen: &Seen) -> Vec<String> {
    let sum: u32 = seen.screen.time.iter().map(|part| part.percent).sum();
    unless(sum == 100 || seen.screen.time.is_empty(), format!("the time sums to {sum} %"))
        .into_iter()
        .collect()
}

/// Each action removes a bottleneck that is named, and gains something.
fn actions(seen: &Seen) -> Vec<String> {
    let diagnosis = &seen.screen.verdict.diagnosis;
    let is_named = |bottlenecks: &[Bottleneck]| {
        let costs = diagnosis.costs.iter().chain(&diagnosis.small_files);
        costs.into_iter().any(|cost| bottlenecks.contains(&cost.bottleneck))
    };
    let wrong = seen.screen.verdict.actions.iter().filter_map(|action| {
        let is_named = match action.kind {
            ActionKind::FasterPort => is_named(&[Bottleneck::Link]),
            ActionKind::FasterReader => is_named(&[Bottleneck::Reader]),
            ActionKind::LargerCommands => is_named(&[Bottleneck::Driver]),
            ActionKind::Realign => is_named(&[Bottleneck::Alignment, Bottleneck::Filesystem]),
            ActionKind::UseExt4 => is_named(&[
                Bottleneck::SmallWrites,
                Bottleneck::OpenUnits,
                Bottleneck::Alignment,
                Bottleneck::Filesystem,
            ]),
            ActionKind::Archive => is_named(&[Bottleneck::SmallWrites, Bottleneck::OpenUnits]),
            ActionKind::RestBetweenCopies(_) => is_named(&[Bottleneck::SlcCache]),
            ActionKind::BackUp
            | ActionKind::KeepNoData
            | ActionKind::UseTrueSize(_)
            | ActionKind::Return
            | ActionKind::VerifyCapacity
            | ActionKind::NameStick
            | ActionKind::MeasureWrites
            | ActionKind::MeasureLongStream => true,
        };
        let gains = action.gain.is_none_or(|gain| {
            gain.likely >= GAIN_REPORTED_MIN && (gain.low..=gain.high).contains(&gain.likely)
        });
        unless(is_named && gains, format!("{:?} is not founded: {:?}", action.kind, action.gain))
    });
    wrong.collect()
}

/// The details agree with the screen: writes were made, and no FAT area is advised to a partition behind it.
fn details(seen: &Seen) -> Vec<String> {
    let has = |text: &str| seen.details.contains(text);
    let starts = || seen.run.attachment.volumes.iter().map(|volume| volume.start);
    let area = seen
        .findings
        .iter()
        .find(|finding| finding.id == flashscope_record::FindingId::FatAreaBytes)
        .and_then(flashscope_record::Finding::bytes)
        .unwrap_or_default();
    let is_behind = starts().count() > 0 && starts().all(|start| start >= area);
    let found = [
        unless(!has("no write was measured"), "no write was measured, after writes"),
        unless(!is_behind || !has("Keep the file allocation table"), "a FAT area before the first partition"),
    ];
    found.into_iter().flatten().collect()
}
