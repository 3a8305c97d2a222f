//! One experiment for each kind of files and direction.

use std::collections::BTreeSet;

use flashscope_infer::trials::REPLAY_ERROR;
use flashscope_infer::trials::factorial::{Row, factorial};
use flashscope_record::{Trial, TrialOperation, TrialWorkload, Writeback};
use flashscope_report::factors::Experiment;

use super::design::Design;
use crate::document::FactorialDocument;
use crate::exit::{Exit, Failure, OrExit};

/// What is timed, and what the times show.
pub(super) struct Timed {
    workload: TrialWorkload,
    operation: TrialOperation,
    experiment: Experiment,
}

/// The experiments of these trials.
///
/// # Errors
/// Exit code 3 if a trial took no time.
pub(super) fn of(design: &Design, trials: &[Trial]) -> Result<Vec<Timed>, Failure> {
    let kinds: BTreeSet<_> = trials.iter().map(|trial| (trial.workload, trial.operation)).collect();
    let timed = |(workload, operation)| {
        let is_one = |trial: &&Trial| (trial.workload, trial.operation) == (workload, operation);
        let rows: Vec<Row> = trials.iter().filter(is_one).filter_map(|trial| row(design, trial)).collect();
        let factorial = factorial(&design.factors, &rows, ratio_error()).or_exit_bare(Exit::Failed)?;
        let name = format!("{}, {}", workload.name(), operation.name());
        Ok(Timed { workload, operation, experiment: Experiment { name, factorial } })
    };
    kinds.into_iter().map(timed).collect()
}

/// The error of a ratio of two replayed times.
fn ratio_error() -> f64 {
    (1.0 + REPLAY_ERROR).powi(2) - 1.0
}

/// A round is a recording of each cell with the same number and writeback: late and early bound a host, so an
/// effect that depends on it has a wide interval.
fn row(design: &Design, trial: &Trial) -> Option<Row> {
    let writeback = match trial.writeback {
        Writeback::Late => 0,
        Writeback::Early => 1,
        Writeback::Host => 2,
    };
    let block = trial.round.checked_mul(3)?.checked_add(writeback)?;
    Some(Row { levels: design.levels(trial)?.to_vec(), block, seconds: trial.seconds })
}

impl Timed {
    /// Its part of the document.
    pub fn document(&self) -> FactorialDocument {
        FactorialDocument::new(self.workload, self.operation, &self.experiment)
    }

    /// Its part of the report.
    pub fn into_report(self) -> Experiment {
        self.experiment
    }
}
