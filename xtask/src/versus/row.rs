//! The same work of both sides in alternating rounds: medians, ranges, and the verdict.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The result of one side in one round.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Requests per second, or bytes per second.
    pub rate: f64,
    /// CPU time per request or per byte, seconds; `None` if it is too short to be measured.
    pub cpu: Option<f64>,
}

/// The shortest measurable CPU time. The kernel and fio count milliseconds, so 30 ms have an error of about 3
/// %.
const CPU_MIN: Duration = Duration::from_millis(30);

/// CPU time per request, seconds; `None` if the total is too short to be measured.
pub fn per_request(cpu: Duration, requests: f64) -> Option<f64> {
    (cpu >= CPU_MIN).then(|| cpu.as_secs_f64() / requests)
}

impl fmt::Display for Sample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1}/s and ", self.rate)?;
        match self.cpu {
            Some(cpu) => write!(formatter, "{:.1} us of CPU time each", cpu * 1e6),
            None => formatter.write_str("too little CPU time to measure"),
        }
    }
}

/// The smallest and the largest of several values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn of(values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self { low, high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max) }
    }

    fn text(self, digits: usize) -> String {
        format!("{:.digits$}..{:.digits$}", self.low, self.high)
    }
}

/// Whether both sides measured the same speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The medians are within the tolerance.
    Agree,
    /// The rounds differ more than the sides: no conclusion.
    Noise,
    /// The sides differ more than the rounds.
    Differ,
}

impl Verdict {
    /// The largest relative difference of equal speeds. Guess: the noise between two runs of one program.
    pub const TOLERANCE: f64 = 0.03;

    /// The verdict for a median ratio and the range of the rounds' ratios.
    fn of(ratio: f64, rounds: Span) -> Self {
        let is_near = |ratio: f64| (ratio - 1.0).abs() <= Self::TOLERANCE;
        match ratio {
            near if is_near(near) => Self::Agree,
            _ if rounds.low <= 1.0 + Self::TOLERANCE && rounds.high >= 1.0 - Self::TOLERANCE => Self::Noise,
            _ => Self::Differ,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Noise => "noise",
            Self::Differ => "differ",
        }
    }
}

/// The same work, done by both sides.
#[derive(Debug, Serialize)]
pub struct Row {
    pub work: String,
    /// The medians of both sides, and the ranges of their rounds.
    pub ours: f64,
    pub ours_span: Span,
    pub peer: f64,
    pub peer_span: Span,
    /// Above 1 if we are faster: the median of the rounds' ratios.
    pub ratio: f64,
    pub ratio_span: Span,
    /// Below 1 if we use less CPU time; `None` if it was too short in every round.
    pub cpu_ratio: Option<f64>,
    pub cpu_ratio_span: Option<Span>,
    /// Whether both measured the same speed.
    pub verdict: Verdict,
}

impl Row {
    /// Compares both sides. Samples of one round have the same index.
    pub fn of(work: String, ours: &[Sample], peer: &[Sample]) -> Self {
        let rates = |side: &[Sample]| side.iter().map(|sample| sample.rate).collect::<Vec<_>>();
        let (ours_rates, peer_rates) = (rates(ours), rates(peer));
        let rates = ratios(&ours_rates, &peer_rates);
        let both = ours.iter().zip(peer).filter_map(|(ours, peer)| Some(ours.cpu? / peer.cpu?));
        let cpus: Vec<f64> = both.collect();
        let has_cpu = !cpus.is_empty();
        let (ratio, ratio_span) = (median(&rates), Span::of(&rates));
        Self {
            work,
            ours: median(&ours_rates),
            ours_span: Span::of(&ours_rates),
            peer: median(&peer_rates),
            peer_span: Span::of(&peer_rates),
            ratio,
            ratio_span,
            cpu_ratio: has_cpu.then(|| median(&cpus)),
            cpu_ratio_span: has_cpu.then(|| Span::of(&cpus)),
            verdict: Verdict::of(ratio, ratio_span),
        }
    }
}

fn ratios(ours: &[f64], peer: &[f64]) -> Vec<f64> {
    ours.iter().zip(peer).map(|(ours, peer)| ours / peer).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// All rows as a table, with a legend.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<56} {:>10} {:>10} {:>6} {:>11}  {:<6} {:>5} {:>11}\n",
        "work", "ours", "peer", "ratio", "rounds", "", "CPU", "rounds"
    );
    for row in rows {
        let cpu = row.cpu_ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let cpu_span = row.cpu_ratio_span.map_or_else(String::new, |span| span.text(2));
        text += &format!(
            "{:<56} {:>10.1} {:>10.1} {:>6.2} {:>11}  {:<6} {:>5} {:>11}\n",
            row.work,
            row.ours,
            row.peer,
            row.ratio,
            row.ratio_span.text(2),
            row.verdict.text(),
            cpu,
            cpu_span
        );
    }
    text + "ratio: above 1 if we are faster; CPU: below 1 if we use less; medians of the rounds, with their range; \
            -: too little CPU time to measure.\nagree: within 3 %; noise: the rounds differ more than the sides\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: &[f64], peer: &[f64]) -> Row {
        let side = |rates: &[f64]| {
            rates.iter().map(|rate| Sample { rate: *rate, cpu: Some(2.0) }).collect::<Vec<_>>()
        };
        Row::of("reads".to_owned(), &side(ours), &side(peer))
    }

    #[test]
    fn a_row_has_a_verdict_and_the_range_of_its_rounds() {
        let even = row(&[100.0, 101.0, 99.0], &[101.0, 100.0, 102.0]);
        assert_eq!((even.ours, even.peer, even.verdict), (100.0, 101.0, Verdict::Agree));
        assert_eq!((even.ours_span, even.cpu_ratio), (Span { low: 99.0, high: 101.0 }, Some(1.0)));
        assert_eq!(row(&[90.0, 91.0, 90.0], &[100.0; 3]).verdict, Verdict::Differ);
        assert_eq!(row(&[90.0, 120.0, 80.0], &[100.0; 3]).verdict, Verdict::Noise);
        assert!(table(&[even]).contains("0.97..1.01  agree"));
    }

    #[test]
    fn a_short_cpu_time_gives_no_ratio() {
        assert_eq!(per_request(Duration::from_millis(60), 3.0), Some(0.02));
        assert_eq!(per_request(Duration::from_millis(3), 300.0), None);
        let [measured, unmeasured] = [Some(4.0), None].map(|cpu| Sample { rate: 10.0, cpu });
        let row = Row::of("reads".to_owned(), &[measured, unmeasured], &[measured, measured]);
        assert_eq!((row.cpu_ratio, row.cpu_ratio_span), (Some(1.0), Some(Span { low: 1.0, high: 1.0 })));
        let row = Row::of("reads".to_owned(), &[measured, unmeasured], &[unmeasured, measured]);
        assert_eq!((row.cpu_ratio, row.cpu_ratio_span), (None, None));
        assert!(table(&[row]).contains(" -  "));
    }
}
