//! The first screen of a check: what it is, the answer, four numbers, where the time goes, and what to do.
//!
//! One model, drawn by the terminal and the page, and written into JSON.

mod actions;
mod cause;
mod cut_short;
mod identity;
mod time_bar;

use flashscope_device::Bytes;
use flashscope_infer::streams::speed::is_one_request;
use flashscope_infer::verdict::rows_of;
use flashscope_infer::verdict_of;
use flashscope_record::diagnosis::{Bottleneck, Conclusion};
use flashscope_record::observation::{Direction, Order, is_in_file};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Mark, SpeedNumber, U3_BYTES_PER_S, Verdict, VerdictState};

use crate::quantity::{interval_ends, three_digits};
use crate::speeds::rounded;
use crate::terms::order_name;
use crate::{Report, printable};

use cut_short::{CutShort, cut_short};

pub use actions::ActionText;
pub use time_bar::TimePart;

/// The first screen of a check. All text is printable.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstScreen {
    /// The verdict that everything here is written from.
    pub verdict: Verdict,
    /// What it is: name, capacity, link, filesystem.
    pub identity: Vec<String>,
    /// The answer: `Slow: only 3 erase blocks can be open`.
    pub headline: String,
    /// The four speeds.
    pub numbers: Vec<NumberText>,
    /// Where the time of an everyday copy goes; empty if that is not known.
    pub time: Vec<TimePart>,
    /// What to do, at most three.
    pub actions: Vec<ActionText>,
    /// What limits it where nothing helps, without a full stop.
    pub limit: Option<String>,
    /// What the verdict does not cover.
    pub scope: Option<String>,
    /// A claim that the device fails: `Fails its mark A1: random write 300 of 500 IOPS.`
    pub failed_claim: Option<String>,
}

/// One of the four speeds in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberText {
    /// `sequential read`.
    pub name: String,
    /// `33.9`; empty if it was not measured.
    pub value: String,
    /// `MB/s` or `IOPS`.
    pub unit: &'static str,
    /// The 95 % interval, `33.1 to 34.6`; empty if it was not measured.
    pub interval: String,
    /// The mark, and why there is none.
    pub mark: Option<Mark>,
    /// `poor`, `not measured`, or `one long stall`.
    pub mark_text: &'static str,
    /// The yardstick: `A1 asks 500`.
    pub yardstick: &'static str,
}

/// The first screen of a report; `None` if it is not of a check.
#[must_use]
pub fn first_screen(report: &Report<'_>) -> Option<FirstScreen> {
    let verdict = verdict_of(report.run, report.findings, &report.predicted)?;
    let has_gain = verdict.actions.iter().any(|action| action.gain.is_some());
    let is_unknown = matches!(verdict.diagnosis.conclusion, Conclusion::Unknown { .. });
    let partly = only_a_part(report);
    let is_limit_known = !is_unknown && partly.is_none() && !verdict.state.is_alarm();
    Some(FirstScreen {
        identity: identity::facts(report),
        headline: printable(&headline(&verdict, report)),
        numbers: verdict.numbers.iter().map(|each| number(each, report.run)).collect(),
        // The shares of what was tested say nothing about the rest.
        time: if is_unknown { Vec::new() } else { time_bar::parts(&verdict.diagnosis) },
        actions: verdict.actions.iter().map(|action| actions::text(action, report)).collect(),
        limit: (!has_gain && is_limit_known).then(|| limit(&verdict)).flatten(),
        scope: partly
            .map(str::to_owned)
            .or_else(|| verdict.diagnosis.copy_max.map(|most| scope(most, report.run))),
        failed_claim: crate::classes::failed_claim(report.run),
        verdict,
    })
}

/// What kept the check from its end, unless it was a budget.
fn only_a_part(report: &Report<'_>) -> Option<&'static str> {
    match cut_short(report.run)? {
        CutShort::Interrupt => Some("Interrupted: only a part was measured."),
        CutShort::Device => Some("The device failed or vanished: only a part was measured."),
        CutShort::Budget => None,
    }
}

/// The answer in one sentence.
fn headline(verdict: &Verdict, report: &Report<'_>) -> String {
    if let Some(alarm) = crate::words::alarm(report) {
        return alarm.as_str().to_owned();
    }
    let state = match verdict.state {
        VerdictState::FalseCapacity => "Fake",
        VerdictState::LosesData => "Loses data",
        VerdictState::Failing => "Failing",
        VerdictState::Slow => "Slow",
        VerdictState::SlowSmallWrites => "OK with large files, slow with small ones",
        VerdictState::Usual => "OK",
        VerdictState::Fast => "Fast",
        VerdictState::Unknown => "Unknown",
    };
    let cause = match verdict.state {
        VerdictState::Failing => "requests failed; the device or its contacts are bad".to_owned(),
        _ => cause::text(verdict, report.run),
    };
    format!("{state}: {cause}.")
}

/// What the verdict covers, where only a brief stream of writes was measured.
fn scope(copy_max: Bytes, run: &RunFile) -> String {
    let copy_max = rounded(copy_max);
    // A file in a directory is no longer than the stream.
    let longer = if is_in_file(&run.observations) { "flashscope bench sustained" } else { "--sustained" };
    format!("Measured over a stream of {copy_max}; {longer} measures longer copies.")
}

fn number(number: &SpeedNumber, run: &RunFile) -> NumberText {
    let (unit, divisor, size) = match number.order {
        Order::Linear => ("MB/s", 1e6, String::new()),
        Order::Random => ("IOPS", number.request.as_f64(), format!(" {}", number.request)),
    };
    let text = NumberText {
        name: format!("{} {}{size}", order_name(number.order), number.direction.as_str()),
        value: String::new(),
        unit,
        interval: String::new(),
        mark: number.mark(),
        mark_text: if is_one_stall(number, run) { "one long stall" } else { "not measured" },
        yardstick: number.yardstick.name,
    };
    let Some(speed) = number.speed else { return text };
    NumberText {
        value: three_digits(speed.bytes_per_s / divisor),
        interval: interval_ends(speed.low / divisor, speed.high / divisor).join(" to "),
        mark_text: number.mark().map_or(not_of_flash(number.direction), Mark::as_str),
        ..text
    }
}

/// Guess: a row that ended early has fewer.
const STALL_REQUESTS_MIN: usize = 8;

/// Whether one stall took most of a row, which has no speed then.
fn is_one_stall(number: &SpeedNumber, run: &RunFile) -> bool {
    // Of fewer requests one takes most of the time on any device.
    rows_of(&run.observations, number.direction, number.order)
        .any(|(_, cell)| cell.took_ns.len() >= STALL_REQUESTS_MIN && is_one_request(cell))
}

/// What answered instead of flash.
const fn not_of_flash(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "page cache",
        Direction::Write => "not kept",
    }
}

/// What limits a device that nothing makes faster, and how much faster a better one is.
fn limit(verdict: &Verdict) -> Option<String> {
    let [_, write, ..] = &verdict.numbers;
    let speed = write.speed.filter(|speed| !speed.is_cached)?;
    let is_stalled = verdict.diagnosis.time_shares.iter().any(|part| part.bottleneck == Bottleneck::SlcCache);
    let pauses = if is_stalled { ", its pauses included," } else { "" };
    let speed_text = three_digits(speed.bytes_per_s / 1e6);
    // A longer copy may be slower.
    let over = verdict
        .diagnosis
        .copy_max
        .map_or_else(String::new, |copy_max| format!(", in a stream of {}", rounded(copy_max)));
    if verdict.diagnosis.bottleneck() == Some(Bottleneck::Link) {
        let carries = format!("{speed_text} MB/s{pauses} is all that this link carries{over}");
        return Some(format!("Nothing makes it faster: {carries}, and no faster link is known for it"));
    }
    if verdict.diagnosis.bottleneck() == Some(Bottleneck::SlcCache) {
        return Some(format!(
            "Shorter copies, and pauses between them, may help: once its fast cache is full, {speed_text} MB/s is all that it \
             writes{over}. Whether a pause empties the cache was not tested"
        ));
    }
    let all = format!(
        "Nothing makes it faster: {speed_text} MB/s{pauses} is all that its flash does in large writes{over}"
    );
    let ratio = U3_BYTES_PER_S / speed.bytes_per_s;
    Some(if ratio >= BETTER_RATIO_MIN {
        format!("{all}; a U3 card or stick (30 MB/s) is {} times as fast", crate::quantity::ratio(ratio))
    } else {
        all
    })
}

/// A better device is named from this ratio on. Guess: less is no reason to buy one.
const BETTER_RATIO_MIN: f64 = 1.5;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_record::diagnosis::{Cost, Diagnosis, DiagnosisEvidence, Gain, TimeShare};
    use flashscope_record::observation::{
        AlignData, Conditions, Data, Ended, Observations, Source, SpeedCase, SpeedCell, SpeedData,
    };
    use flashscope_record::verdict::{MeasuredSpeed, Yardstick};

    use super::*;

    /// The verdict on sequential writes of this speed. The other speeds are far from it.
    fn verdict(write_bytes_per_s: f64, bottleneck: Bottleneck) -> Verdict {
        let numbers = [
            (Direction::Read, Order::Linear, 90e6),
            (Direction::Write, Order::Linear, write_bytes_per_s),
            (Direction::Read, Order::Random, 7e6),
            (Direction::Write, Order::Random, 3e6),
        ]
        .map(|(direction, order, bytes_per_s)| SpeedNumber {
            direction,
            order,
            request: Bytes::mib(1),
            speed: Some(MeasuredSpeed { bytes_per_s, low: bytes_per_s, high: bytes_per_s, is_cached: false }),
            yardstick: Yardstick { poor_below: 6e6, good_from: 10e6, name: "10 is good" },
        });
        let evidence = DiagnosisEvidence::Flash { single_bytes_per_s: 1.0, long_bytes_per_s: 1.0 };
        let conclusion = match bottleneck {
            Bottleneck::Flash => Conclusion::Flash(evidence),
            _ => Conclusion::Bottleneck(Cost { bottleneck, gain: Gain::NONE, evidence }),
        };
        let diagnosis = Diagnosis::new(conclusion);
        Verdict { state: VerdictState::Usual, numbers, diagnosis, actions: Vec::new() }
    }

    #[test]
    fn limit_names_the_write_speed_and_how_much_faster_a_better_stick_is() {
        let text = |megabytes: f64| limit(&verdict(megabytes * 1e6, Bottleneck::Flash)).unwrap();
        let of_flash = "MB/s is all that its flash does in large writes";
        let better = "a U3 card or stick (30 MB/s) is";
        let slow = format!("Nothing makes it faster: 12.3 {of_flash}; {better} 2.4 times as fast");
        assert_eq!(text(12.3), slow);
        let least = format!("20.0 {of_flash}; {better} 1.5 times as fast");
        assert!(text(20.0).ends_with(&least), "{}", text(20.0));
        assert_eq!(text(25.0), format!("Nothing makes it faster: 25.0 {of_flash}"));
    }

    #[test]
    fn limit_names_pauses_the_stream_the_link_and_a_full_cache() {
        let mut stalling = verdict(25e6, Bottleneck::Flash);
        stalling.diagnosis.time_shares = vec![TimeShare { bottleneck: Bottleneck::SlcCache, share: 0.1 }];
        stalling.diagnosis.copy_max = Some(Bytes::mib(64));
        let text = limit(&stalling).unwrap();
        assert!(text.contains("25.0 MB/s, its pauses included, is all that its flash does"), "{text}");
        assert!(text.ends_with("in large writes, in a stream of 64 MiB"), "{text}");
        let text = limit(&verdict(12.3e6, Bottleneck::Link)).unwrap();
        assert!(text.contains("12.3 MB/s is all that this link carries, and no faster link"), "{text}");
        let text = limit(&verdict(12.3e6, Bottleneck::SlcCache)).unwrap();
        assert!(text.starts_with("Shorter copies, and pauses between them, may help"), "{text}");
        assert!(text.contains("12.3 MB/s is all that it writes. Whether a pause"), "{text}");
    }

    #[test]
    fn scope_names_what_measures_longer_copies_to_a_device_and_to_a_directory() {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let mut run = RunFile::parse(text).unwrap();
        let of_device = "Measured over a stream of 64 MiB; --sustained measures longer copies.";
        assert_eq!(scope(Bytes::mib(64), &run), of_device);
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: true, seed: 1 };
        let data = Data::Align(AlignData::default());
        run.observations.push(Observations { data, conditions, ended: Ended::Complete });
        let in_directory =
            "Measured over a stream of 64 MiB; flashscope bench sustained measures longer copies.";
        assert_eq!(scope(Bytes::mib(64), &run), in_directory);
    }

    #[test]
    fn speed_of_the_page_cache_limits_nothing() {
        let mut cached = verdict(12.3e6, Bottleneck::Flash);
        let [_, write, ..] = &mut cached.numbers;
        write.speed = write.speed.map(|speed| MeasuredSpeed { is_cached: true, ..speed });
        assert_eq!(limit(&cached), None);
        let [_, write, ..] = &mut cached.numbers;
        write.speed = None;
        assert_eq!(limit(&cached), None);
    }

    /// What is said of a speed that does not follow from a row of writes with these times, milliseconds.
    fn said_of_row(milliseconds: &[u64]) -> &'static str {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let mut run = RunFile::parse(text).unwrap();
        let [_, mut write, ..] = verdict(12.3e6, Bottleneck::Flash).numbers;
        write.speed = None;
        let (direction, order) = (write.direction, write.order);
        let case = SpeedCase { direction, order, request: Bytes::mib(1), queue_depth: 1 };
        let mut cell = SpeedCell::new(case);
        let mut ended = Duration::ZERO;
        for each in milliseconds {
            let took = Duration::from_millis(*each);
            ended += took;
            cell.keep(took, ended);
        }
        let conditions =
            Conditions { source: Source::Measured, capacity: None, region: None, is_in_file: false, seed: 1 };
        let data = Data::Speed(SpeedData { cells: vec![cell], ..SpeedData::default() });
        run.observations.push(Observations { data, conditions, ended: Ended::Complete });
        number(&write, &run).mark_text
    }

    #[test]
    fn one_long_stall_is_named_where_it_took_most_of_eight_requests() {
        assert_eq!(said_of_row(&[]), "not measured");
        assert_eq!(said_of_row(&[40; 8]), "not measured");
        assert_eq!(said_of_row(&[40, 40, 40, 400, 40, 40, 40, 40]), "one long stall");
        assert_eq!(said_of_row(&[40, 40, 40, 400, 40, 40, 40]), "not measured", "too few requests");
    }

    #[test]
    fn speeds_and_their_intervals_have_the_unit_of_their_order() {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let run = RunFile::parse(text).unwrap();
        let speed = |bytes_per_s, low, high| Some(MeasuredSpeed { bytes_per_s, low, high, is_cached: false });
        let [_, mut sequential, _, mut random] = verdict(12.3e6, Bottleneck::Flash).numbers;
        sequential.speed = speed(12.3e6, 11.8e6, 12.9e6);
        random.request = Bytes::kib(4);
        random.speed = speed(1200.0 * 4096.0, 1150.0 * 4096.0, 1260.0 * 4096.0);
        let texts = [sequential, random].map(|each| {
            let NumberText { name, value, unit, interval, .. } = number(&each, &run);
            format!("{name}: {value} {unit}, {interval}")
        });
        let of_sequential = "sequential write: 12.3 MB/s, 11.8 to 12.9";
        assert_eq!(texts, [of_sequential, "random write 4 KiB: 1,200 IOPS, 1,150 to 1,260"]);
    }
}
