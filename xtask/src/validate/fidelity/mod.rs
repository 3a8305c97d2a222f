//! `cargo xtask validate fidelity`: each virtual stick that was made from a published log runs the commands
//! of that log. Each resulting cell is compared with the published one, separately for fitted and held-out
//! cells.

mod logs;
mod pictures;

use std::path::PathBuf;

use anyhow::{bail, ensure};
use flashscope_sim::Profile;
use flashscope_twin::{Compared, Options, Split, Summary, compare, fit, numbers_and_cells};
use serde::Serialize;

use self::logs::{HOLDOUT, SEED, SUBJECTS, Subject};
use crate::output::print;
use crate::process::repository;

/// What to compare, and how to print it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Random seed of the virtual sticks
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Fit the profiles again and write them to crates/sim/profiles
    #[arg(long)]
    refit: bool,
    /// Draw the pictures of docs/simulator.md into this folder
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,
}

// Bounds for all held-out cells together: their number, their median relative error, and its 90th percentile.
// docs/simulator.md has the measured values: 3210 cells, 1.7 % and 15.5 %.
const CELLS_MIN: usize = 400;
const MEDIAN_MAX: f64 = 0.07;
const P90_MAX: f64 = 0.20;

/// A fitted profile has at most one parameter per 5 fitted cells, against overfitting. Guess.
const CELLS_PER_PARAMETER: usize = 5;

/// Compares and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.refit {
        return refit();
    }
    let report = Report::of(arguments.seed)?;
    if let Some(folder) = &arguments.pictures {
        pictures::draw(&report, folder)?;
    }
    let text = if arguments.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.text() };
    Ok(print(&text)?)
}

/// Fails if the virtual sticks differ more from their logs than before.
pub fn check() -> anyhow::Result<()> {
    let report = Report::of(SEED)?;
    for profile in &report.profiles {
        if let (Some(numbers), Some(cells)) = (profile.parameters, profile.parameters_from_cells) {
            ensure!(
                numbers * CELLS_PER_PARAMETER <= cells,
                "{}: {numbers} numbers from {cells} cells",
                profile.name
            );
        }
    }
    let held_out = report.overall.held_out;
    if !report.missing.is_empty() {
        print(&format!(
            "fidelity: no log for {}; the bounds apply only to all logs together\n",
            report.missing.join(", ")
        ))?;
        return Ok(());
    }
    if held_out.cells < CELLS_MIN || held_out.median > MEDIAN_MAX || held_out.p90 > P90_MAX {
        bail!("the error of held-out cells exceeds its bounds: {held_out}");
    }
    Ok(())
}

/// Relative errors of fitted and of held-out cells.
#[derive(Debug, Clone, Copy, Serialize)]
struct Errors {
    fitted: Summary,
    held_out: Summary,
}

impl Errors {
    fn of<'a>(cells: impl Iterator<Item = &'a Compared> + Clone) -> Self {
        let share = |held_out| {
            Summary::of(cells.clone().filter(|cell| cell.held_out == held_out).map(Compared::error))
        };
        Self { fitted: share(false), held_out: share(true) }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    overall: Errors,
    profiles: Vec<ProfileReport>,
    /// Profiles whose log is missing.
    missing: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct ProfileReport {
    name: &'static str,
    log: &'static str,
    /// Whether the profile was made by hand from all cells.
    by_hand: bool,
    /// Number of fitted parameters; `None` for a profile made by hand.
    parameters: Option<usize>,
    parameters_from_cells: Option<usize>,
    #[serde(flatten)]
    errors: Errors,
    reads: Errors,
    writes: Errors,
    #[serde(skip)]
    cells: Vec<Compared>,
}

impl Report {
    fn of(seed: u64) -> anyhow::Result<Self> {
        let (mut profiles, mut missing) = (Vec::new(), Vec::new());
        for subject in &SUBJECTS {
            match ProfileReport::of(subject, seed)? {
                Some(report) => profiles.push(report),
                None => missing.push(subject.profile),
            }
        }
        let overall = Errors::of(profiles.iter().flat_map(|profile| &profile.cells));
        Ok(Self { overall, profiles, missing })
    }

    fn text(&self) -> String {
        let row = |name: &str, numbers: &str, errors: &Errors| {
            let columns = |summary: Summary| {
                if summary.cells == 0 {
                    return format!("{:>24}", "none");
                }
                let (median, p90) = (summary.median * 100.0, summary.p90 * 100.0);
                format!("{:>6} {median:>7.1} % {p90:>6.1} %", summary.cells)
            };
            format!("{name:<18}{numbers:>8} |{} |{}\n", columns(errors.fitted), columns(errors.held_out))
        };
        let mut text = format!(
            "{:<18}{:>8} |{:>24} |{:>24}\n",
            "", "params", "fitted: cells, median, p90", "held out: cells, median, p90"
        );
        for profile in &self.profiles {
            let numbers = profile.parameters.map_or_else(|| "by hand".to_owned(), |count| count.to_string());
            text += &row(profile.name, &numbers, &profile.errors);
        }
        text += &row("overall", "", &self.overall);
        if !self.missing.is_empty() {
            text += &format!("logs missing from ../shared/corpus: {}\n", self.missing.join(", "));
        }
        text
    }
}

impl ProfileReport {
    fn of(subject: &Subject, seed: u64) -> anyhow::Result<Option<Self>> {
        let Some(measured) = subject.measured()? else { return Ok(None) };
        let split = Split::new(&measured, subject.holdout(), SEED);
        let cells = compare(&Profile::builtin(subject.profile)?, &measured, &split, seed).cells;
        let counted = numbers_and_cells(Profile::text(subject.profile)?);
        let reads = Errors::of(cells.iter().filter(|cell| cell.key.is_read()));
        let writes = Errors::of(cells.iter().filter(|cell| !cell.key.is_read()));
        Ok(Some(Self {
            name: subject.profile,
            log: subject.log,
            by_hand: subject.by_hand,
            parameters: counted.map(|(numbers, _)| numbers),
            parameters_from_cells: counted.map(|(_, cells)| cells),
            errors: Errors::of(cells.iter()),
            reads,
            writes,
            cells,
        }))
    }
}

/// Fits every profile again and writes it.
fn refit() -> anyhow::Result<()> {
    for subject in SUBJECTS.iter().filter(|subject| !subject.by_hand) {
        let Some(measured) = subject.measured()? else {
            print(&format!("{}: its log is missing\n", subject.profile))?;
            continue;
        };
        let options = Options { profile_name: subject.profile.to_owned(), holdout: HOLDOUT, seed: SEED };
        let fitted = fit(&measured, &options)?;
        let path = repository().join("crates/sim/profiles").join(format!("{}.toml", subject.profile));
        std::fs::write(path, &fitted.toml)?;
        print(&format!("{}: {}\n", subject.profile, fitted.comparison.summary(true)))?;
    }
    Ok(())
}
