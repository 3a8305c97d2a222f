//! `cargo xtask validate whatif`: the gains that `whatif` predicts on the twins of random sticks, from the
//! findings of `check` only, compared with the gains on the sticks themselves.

mod case;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use flashscope_infer::statistics;
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_recording::{Recordings, Wish};

use self::case::{Case, Replayed, Row};
use crate::output::print;
use crate::threads;

/// How many sticks, and what is replayed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Random sticks
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Only these workloads, such as large,small
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    workloads: Vec<String>,
    /// Only these filesystems; vfat is needed
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "vfat,ext4,ext4-stripe")]
    filesystems: Vec<String>,
    /// Replay the recordings in DIR instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,
    /// Print every gain
    #[arg(long)]
    rows: bool,
    /// Print the profile of one stick and that of its twin
    #[arg(long, value_name = "INDEX")]
    explain: Option<u64>,
}

/// Prints how often the true gain lies in the predicted interval, and how far the prediction is from it.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(index) = arguments.explain {
        return Ok(print(&case::explained(arguments.seed, index)?)?);
    }
    let recordings = match &arguments.recordings {
        Some(folder) => Recordings::in_folder(folder)?,
        None => Recordings::embedded()?,
    };
    let is_asked = |workload: &TrialWorkload| {
        arguments.workloads.is_empty() || arguments.workloads.iter().any(|name| name == workload.name())
    };
    let wish = Wish {
        variants: arguments.filesystems.clone(),
        workloads: TrialWorkload::STANDARD.into_iter().filter(is_asked).collect(),
        rounds: Some(1),
    };
    let replayed = Replayed { recordings: &recordings, wish };
    let cases = threads::each(arguments.count, |index| Case::of(arguments.seed, index, &replayed))?;
    let score = Score::of(cases);
    if arguments.rows {
        print(&score.rows.iter().map(row_line).collect::<String>())?;
    }
    Ok(print(&score.text())?)
}

/// The results over all sticks.
#[derive(Debug, Default)]
struct Score {
    rows: Vec<Row>,
    sticks: usize,
    left_out: usize,
    /// The number of sticks without a twin, by reason.
    no_twin: BTreeMap<String, usize>,
}

impl Score {
    fn of(cases: Vec<Case>) -> Self {
        let mut score = Self::default();
        for case in cases {
            match case {
                Case::Gains(rows) => {
                    score.sticks += 1;
                    score.rows.extend(rows);
                }
                Case::NoTwin(reason) => *score.no_twin.entry(reason).or_default() += 1,
                Case::LeftOut => score.left_out += 1,
            }
        }
        score
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} sticks; {} left out: no sticks, or too small for the recordings\n",
            self.sticks, self.left_out
        );
        for (reason, count) in &self.no_twin {
            let _ = writeln!(text, "{count} without a twin: {reason}");
        }
        let _ = writeln!(
            text,
            "{:<14} {:>5} {:>16} {:>13} {:>13} {:>16} {:>13}",
            "files",
            "gains",
            "gain in interval",
            "median error",
            "95 % error",
            "time in interval",
            "median error"
        );
        for workload in TrialWorkload::STANDARD {
            for operation in TrialOperation::ALL {
                let of: Vec<&Row> = self
                    .rows
                    .iter()
                    .filter(|row| (row.workload, row.operation) == (workload, operation))
                    .collect();
                if !of.is_empty() {
                    let name = format!("{}, {}", workload.name(), operation.name());
                    let _ = writeln!(text, "{}", summary(&name, &of));
                }
            }
        }
        let writes: Vec<&Row> =
            self.rows.iter().filter(|row| row.operation == TrialOperation::Write).collect();
        let _ = writeln!(text, "{}", summary("all writes", &writes));
        let _ = writeln!(text, "{}", summary("all", &self.rows.iter().collect::<Vec<_>>()));
        text
    }
}

fn summary(name: &str, rows: &[&Row]) -> String {
    let errors: Vec<f64> = rows.iter().map(|row| error(row.predicted.ratio, row.truth)).collect();
    let of_times: Vec<f64> = rows.iter().map(|row| error(row.seconds[0], row.seconds_true)).collect();
    let at = |values: &[f64], share| 100.0 * statistics::quantile(values, share).unwrap_or(0.0).exp_m1();
    let covered = rows.iter().filter(|row| gain_is_covered(row)).count();
    let times = rows.iter().filter(|row| (row.seconds[1]..=row.seconds[2]).contains(&row.seconds_true));
    format!(
        "{name:<14} {:>5} {:>14.1} % {:>11.1} % {:>11.1} % {:>14.1} % {:>11.1} %",
        rows.len(),
        percent(covered, rows.len()),
        at(&errors, 0.5),
        at(&errors, 0.95),
        percent(times.count(), rows.len()),
        at(&of_times, 0.5)
    )
}

/// The error of a ratio, as a logarithm.
fn error(predicted: f64, truth: f64) -> f64 {
    (predicted / truth).ln().abs()
}

fn gain_is_covered(row: &Row) -> bool {
    (row.predicted.low..=row.predicted.high).contains(&row.truth)
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

fn row_line(row: &Row) -> String {
    let Row { index, model, twin, workload, operation, layout, predicted, truth, seconds, seconds_true } =
        row;
    format!(
        "{index:>4} {model:<5?} {:<6} {:<6} {:<14} {:>10} gain {:>8.3} ({:.3} to {:.3}), true {truth:>8.3}; {:>10.3} s, true {seconds_true:>10.3} s{} [{twin}]\n",
        workload.name(),
        operation.name(),
        layout.variant,
        layout.start.to_string(),
        predicted.ratio,
        predicted.low,
        predicted.high,
        seconds[0],
        if gain_is_covered(row) { "" } else { " outside" }
    )
}
