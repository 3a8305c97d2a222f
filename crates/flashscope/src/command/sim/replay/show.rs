//! The comparison as text and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use flashscope_report::printable;

use super::histogram;
use super::summary::{Comparison, KindOutcome, Outcome};
use crate::document::{
    KindDocument, OutcomeDocument, SimReplayDocument, StatisticsDocument, StickDocument, TraceDocument,
};

/// The percentiles that are shown, in thousandths.
const PERCENTILES: [usize; 4] = [500, 900, 990, 999];

/// The comparison as text, in lines of `width` columns.
pub fn text(comparison: &Comparison, width: usize) -> String {
    let mut text = String::new();
    let label = printable(&comparison.label);
    let requests = comparison.played.len();
    let lines = [
        format!(
            "{requests} requests of {} ({label}) on {}, seed {}",
            comparison.trace, comparison.stick, comparison.seed
        ),
        String::new(),
        format!("{:<10}{:>12}{:>12}{:>14}", "", "time", "data", "throughput"),
        total("recorded", &comparison.recorded),
        total("replayed", &comparison.replayed),
        String::new(),
        format!(
            "{:<16}{:>9}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "", "requests", "failed", "mean", "p50", "p90", "p99", "p99.9", "max"
        ),
    ];
    let rows = pairs(comparison).flat_map(|(left, right)| [row("recorded", left), row("replayed", right)]);
    let lines = lines.into_iter().chain(rows).chain([String::new()]).chain(statistics(comparison));
    for line in lines {
        let _infallible = writeln!(text, "{}", line.trim_end());
    }
    for (left, right) in pairs(comparison) {
        let (name, bar) = histogram::columns(width);
        let title = format!("Latency of a {}", left.kind);
        let _infallible = writeln!(text, "\n{title:<name$}{:<bar$}replayed", "recorded");
        for line in histogram::lines(left, right, width) {
            let _infallible = writeln!(text, "{line}");
        }
    }
    text
}

fn pairs(comparison: &Comparison) -> impl Iterator<Item = (&KindOutcome, &KindOutcome)> {
    comparison.recorded.kinds.iter().zip(&comparison.replayed.kinds)
}

fn total(name: &str, outcome: &Outcome) -> String {
    let speed =
        outcome.bytes_per_s().map_or_else(|| "-".to_owned(), |rate| format!("{:.2} MB/s", rate / 1e6));
    format!("{name:<10}{:>12}{:>12}{speed:>14}", time(outcome.time), outcome.bytes.to_string())
}

fn row(name: &str, outcome: &KindOutcome) -> String {
    let mut line = format!("{:<8}{name:<8}{:>9}{:>8}", outcome.kind, outcome.sorted.len(), outcome.failed);
    let percentiles = PERCENTILES.map(|part| outcome.percentile(part));
    for latency in [outcome.mean()].into_iter().chain(percentiles).chain([outcome.longest()]) {
        let _infallible = write!(line, "{:>10}", time(latency));
    }
    line
}

fn statistics(comparison: &Comparison) -> Vec<String> {
    let statistics = &comparison.statistics;
    let amplification = comparison.write_amplification().map_or_else(
        || "nothing was written".to_owned(),
        |factor| format!("write amplification {factor:.2}"),
    );
    vec![format!(
        "Inside the virtual stick: {} merges, {} erases, {} programmed for {} written; {amplification}.",
        statistics.merges, statistics.erases, statistics.bytes_programmed, statistics.bytes_written
    )]
}

/// Three digits and a unit.
fn time(duration: Duration) -> String {
    let (value, unit) = match duration.as_secs_f64() {
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = usize::from(value < 100.0) + usize::from(value < 10.0);
    format!("{value:.digits$} {unit}")
}

/// The comparison as JSON.
pub fn document(comparison: &Comparison) -> SimReplayDocument {
    let statistics = &comparison.statistics;
    SimReplayDocument {
        trace: TraceDocument {
            file: comparison.trace.clone(),
            label: comparison.label.clone(),
            requests: comparison.played.len(),
        },
        stick: StickDocument { name: comparison.stick.clone(), seed: comparison.seed },
        recorded: outcome(&comparison.recorded),
        replayed: outcome(&comparison.replayed),
        inside: StatisticsDocument {
            commands: statistics.commands,
            merges: statistics.merges,
            erases: statistics.erases,
            page_programs: statistics.page_programs,
            bytes_written: statistics.bytes_written.get(),
            bytes_programmed: statistics.bytes_programmed.get(),
            write_amplification: comparison.write_amplification(),
        },
    }
}

fn outcome(outcome: &Outcome) -> OutcomeDocument {
    OutcomeDocument {
        time_ns: nanoseconds(outcome.time),
        bytes: outcome.bytes.get(),
        bytes_per_s: outcome.bytes_per_s(),
        kinds: outcome.kinds.iter().map(|one| (one.kind.to_string(), kind(one))).collect(),
    }
}

fn kind(outcome: &KindOutcome) -> KindDocument {
    let [p50_ns, p90_ns, p99_ns, p999_ns] = PERCENTILES.map(|part| nanoseconds(outcome.percentile(part)));
    KindDocument {
        requests: outcome.sorted.len(),
        failed: outcome.failed,
        mean_ns: nanoseconds(outcome.mean()),
        p50_ns,
        p90_ns,
        p99_ns,
        p999_ns,
        longest_ns: nanoseconds(outcome.longest()),
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (nanoseconds, text) in [
            (0, "0.00 µs"),
            (1_230, "1.23 µs"),
            (12_340, "12.3 µs"),
            (123_400, "123 µs"),
            (1_000_000, "1.00 ms"),
            (1_230_000, "1.23 ms"),
            (10_000_000, "10.0 ms"),
            (12_340_000, "12.3 ms"),
            (100_000_000, "100 ms"),
            (123_400_000, "123 ms"),
            (1_000_000_000, "1.00 s"),
            (12_340_000_000, "12.3 s"),
            (123_400_000_000, "123 s"),
        ] {
            assert_eq!(time(Duration::from_nanos(nanoseconds)), text);
        }
    }
}
