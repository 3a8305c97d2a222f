//! One piece of work, done by both in turns: how the turns compare, how far apart they were, and what that says of the two.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What one side did in one round.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Requests per second, or bytes per second.
    pub rate: f64,
    /// CPU time per request or per byte, seconds; `None` where it is too little to be told.
    pub cpu: Option<f64>,
}

/// The kernel and fio count CPU time by the millisecond: of less than this a ratio would be chance.
const CPU_MIN: Duration = Duration::from_millis(30);

/// What each of so many requests took of this CPU time.
pub fn per_request(cpu: Duration, requests: f64) -> Option<f64> {
    (cpu >= CPU_MIN).then(|| cpu.as_secs_f64() / requests)
}

impl fmt::Display for Sample {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1}/s and ", self.rate)?;
        match self.cpu {
            Some(cpu) => write!(formatter, "{:.1} us of CPU time each", cpu * 1e6),
            None => formatter.write_str("too little CPU time to tell"),
        }
    }
}

/// The smallest and the largest of several figures.
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

/// Whether both sides saw the same speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The medians are within the tolerance.
    Agree,
    /// The rounds are further apart from each other than the sides are: nothing can be said.
    Noise,
    /// Neither.
    Differ,
}

impl Verdict {
    /// Speeds that differ by no more are the same.
    pub const TOLERANCE: f64 = 0.03;

    /// Of the median ratio, and that of each round.
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

/// One piece of work, done by both.
#[derive(Debug, Serialize)]
pub struct Row {
    pub work: String,
    /// The medians of both sides, and how far apart their rounds were.
    pub ours: f64,
    pub ours_span: Span,
    pub peer: f64,
    pub peer_span: Span,
    /// Above 1 where we are faster: the median of the rounds, in each of which both worked on the machine as it then was.
    pub ratio: f64,
    pub ratio_span: Span,
    /// Below 1 where we use less CPU time; `None` where no round took enough of it.
    pub cpu_ratio: Option<f64>,
    pub cpu_ratio_span: Option<Span>,
    /// Whether both saw the same speed.
    pub verdict: Verdict,
}

impl Row {
    /// Both sides, round by round; samples of one round stand in the same place.
    pub fn of(work: String, ours: &[Sample], peer: &[Sample]) -> Self {
        let rates = |side: &[Sample]| side.iter().map(|sample| sample.rate).collect::<Vec<_>>();
        let (ours_rates, peer_rates) = (rates(ours), rates(peer));
        let rates = ratios(&ours_rates, &peer_rates);
        let both = ours.iter().zip(peer).filter_map(|(ours, peer)| Some(ours.cpu? / peer.cpu?));
        let cpus: Vec<f64> = both.collect();
        let is_told = !cpus.is_empty();
        let (ratio, ratio_span) = (median(&rates), Span::of(&rates));
        Self {
            work,
            ours: median(&ours_rates),
            ours_span: Span::of(&ours_rates),
            peer: median(&peer_rates),
            peer_span: Span::of(&peer_rates),
            ratio,
            ratio_span,
            cpu_ratio: is_told.then(|| median(&cpus)),
            cpu_ratio_span: is_told.then(|| Span::of(&cpus)),
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

/// All rows, with what their columns mean.
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
    text + "ratio: above 1 where we are faster; CPU: below 1 where we use less; both the median of the rounds, with the \
            smallest and the largest; -: too little to tell.\nagree: within 3 %; noise: further apart, but the rounds differ as much among themselves\n"
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
    fn a_row_says_whether_it_agrees_and_how_far_its_rounds_were_apart() {
        let even = row(&[100.0, 101.0, 99.0], &[101.0, 100.0, 102.0]);
        assert_eq!((even.ours, even.peer, even.verdict), (100.0, 101.0, Verdict::Agree));
        assert_eq!((even.ours_span, even.cpu_ratio), (Span { low: 99.0, high: 101.0 }, Some(1.0)));
        assert_eq!(row(&[90.0, 91.0, 90.0], &[100.0; 3]).verdict, Verdict::Differ);
        assert_eq!(row(&[90.0, 120.0, 80.0], &[100.0; 3]).verdict, Verdict::Noise);
        assert!(table(&[even]).contains("0.97..1.01  agree"));
    }

    #[test]
    fn of_little_cpu_time_no_ratio_is_told() {
        assert_eq!(per_request(Duration::from_millis(60), 3.0), Some(0.02));
        assert_eq!(per_request(Duration::from_millis(3), 300.0), None);
        let [told, untold] = [Some(4.0), None].map(|cpu| Sample { rate: 10.0, cpu });
        let row = Row::of("reads".to_owned(), &[told, untold], &[told, told]);
        assert_eq!((row.cpu_ratio, row.cpu_ratio_span), (Some(1.0), Some(Span { low: 1.0, high: 1.0 })));
        let row = Row::of("reads".to_owned(), &[told, untold], &[untold, told]);
        assert_eq!((row.cpu_ratio, row.cpu_ratio_span), (None, None));
        assert!(table(&[row]).contains(" -  "));
    }
}
