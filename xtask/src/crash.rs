//! `cargo xtask crash`: overwrites a device through the journal, crashes at random instants of writing and of
//! restoring, restores, and compares every byte.

use anyhow::bail;
use flashscope_device::Bytes;
use flashscope_zoo::{Crash, CrashCase, CrashOutcome};

use crate::output::{print, progress};

/// What to run.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The number of crashes, in equal parts of each kind
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Random seed; case N has this seed plus N
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The sums of one kind of crash.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    cases: u64,
    cut: u64,
    restores_cut: u64,
    saved: Bytes,
    identical: u64,
}

impl Row {
    fn add(&mut self, outcome: &CrashOutcome) {
        self.cases += 1;
        self.cut += u64::from(outcome.is_cut);
        self.restores_cut += outcome.restores_cut;
        self.saved += outcome.saved;
        self.identical += u64::from(outcome.is_identical);
    }

    fn line(&self, name: &str) -> String {
        let Self { cases, cut, restores_cut, saved, identical } = self;
        format!(
            "{name:<22} {cases:>6} {cut:>11} {restores_cut:>13} {:>12} {identical:>10}\n",
            saved.to_string()
        )
    }
}

/// Runs all cases and prints the table.
///
/// # Errors
/// If the device of a case is not bit-identical.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut rows = [Row::default(); Crash::ALL.len()];
    for index in 0..arguments.count {
        let kind = usize::try_from(index % Crash::ALL.len() as u64)?;
        let case = CrashCase { seed: arguments.seed.wrapping_add(index), crash: Crash::ALL[kind] };
        let outcome = match case.run() {
            Ok(outcome) => outcome,
            Err(error) => {
                progress(&format!("{case:?}: {error}"));
                CrashOutcome { is_cut: true, restores_cut: 0, saved: Bytes::ZERO, is_identical: false }
            }
        };
        if !outcome.is_identical {
            progress(&format!("not identical: {case:?}"));
        }
        rows[kind].add(&outcome);
    }
    let mut table = format!(
        "{:<22} {:>6} {:>11} {:>13} {:>12} {:>10}\n",
        "crash", "cases", "writing cut", "restores cut", "saved", "identical"
    );
    rows.iter().zip(Crash::ALL).for_each(|(row, crash)| table += &row.line(crash.name()));
    print(&table)?;
    let identical: u64 = rows.iter().map(|row| row.identical).sum();
    if identical < arguments.count {
        bail!("{} of {} devices differ", arguments.count - identical, arguments.count);
    }
    Ok(())
}
