//! The twin of a run, and every layout tried on it.

use anyhow::anyhow;
use flashscope_device::layer::{Interrupt, Interruptible};
use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_layout::steps::quoted_path;
use flashscope_record::observation::is_in_file;
use flashscope_record::run_file::RunFile;
use flashscope_recording::{RecordingError, Recordings, Wish};
use flashscope_report::{counted, words};
use flashscope_twin::whatif::{Layouts, SECTOR_63, StickTwin, TwinError, present, starts};

use crate::args::Whatif;
use crate::command::prediction;
use crate::command::recordings::{self, notes_on_options, refuse_unknown, variants};
use crate::exit::{Exit, Failure, OrExit};

/// The filesystem of sticks as they are sold.
const AS_SOLD: &str = "vfat";

/// The recordings that are replayed.
///
/// # Errors
/// Exit code 2 if they cannot be read, or if a filesystem was asked for that has none.
pub fn recordings(arguments: &Whatif) -> Result<Recordings, Failure> {
    let recordings = recordings::open(arguments.recordings.as_deref())?;
    refuse_unknown(&recordings, &arguments.filesystems)?;
    Ok(recordings)
}

/// What was predicted, and on what.
#[derive(Debug)]
pub struct Predicted {
    /// The twin.
    pub twin: StickTwin,
    /// The predictions.
    pub forecast: Forecast,
    /// Whether the baseline is the present layout.
    pub is_present_known: bool,
    /// What a reader should know about the conditions.
    pub notes: Vec<String>,
}

impl Predicted {
    /// Fits the twin, and tries every layout on it.
    ///
    /// # Errors
    /// Exit code 2 if the run has no twin, or no recording fits the stick.
    pub fn of(
        run: &RunFile,
        recordings: &Recordings,
        arguments: &Whatif,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let twin = StickTwin::of(run).map_err(|error| no_twin(&error, run))?;
        let known = variants(recordings);
        let found = present(run).filter(|layout| known.contains(layout.variant.as_str()));
        let (erase_block, capacity) = (twin.profile.ftl.erase_block, twin.profile.capacity);
        let baseline =
            found.clone().unwrap_or_else(|| Layout { variant: AS_SOLD.to_owned(), start: SECTOR_63 });
        let mut variants = arguments.filesystems.clone();
        if !variants.is_empty() && !variants.contains(&baseline.variant) {
            variants.push(baseline.variant.clone());
        }
        let wish = Wish { variants, workloads: arguments.workloads.clone(), rounds: arguments.rounds };
        let layouts = Layouts {
            recordings,
            wish,
            starts: starts(erase_block, Some(baseline.start)),
            erase_block,
            request_max: twin.request_max,
            capacity,
            seed: arguments.seed,
        };
        let device = |seed| Ok::<_, RecordingError>(Interruptible::new(twin.device(seed), interrupt.clone()));
        let tried = layouts.tried(device, || !interrupt.is_requested()).or_exit_bare(Exit::Usage)?;
        if tried.trials.is_empty() && !interrupt.is_requested() {
            return Err(nothing_fits(&layouts));
        }
        Ok(Self {
            forecast: Forecast::of(&tried.trials, &baseline, twin.fit, erase_block),
            is_present_known: found.is_some(),
            notes: notes(run, &layouts, tried.failed, &twin),
            twin,
        })
    }
}

/// A twin with a larger median error is worth a word. Guess: built-in sticks have at most 5 %.
const POOR_TWIN: f64 = 0.1;

/// A twin that repeats other speeds within a larger factor is worth a word. Guess.
const FAR_TWIN: f64 = 1.5;

/// What the recordings do not fit, and what is wrong with the run.
fn notes(run: &RunFile, layouts: &Layouts<'_>, failed: usize, twin: &StickTwin) -> Vec<String> {
    let choices = layouts.starts.first().map(|start| layouts.choices(*start)).unwrap_or_default();
    let options = notes_on_options(&choices, layouts.erase_block).into_iter();
    let failed = (failed > 0)
        .then(|| format!("failed on the twin, and left out: {}", counted(failed as u64, "replay")));
    let not_recorded = present(run)
        .filter(|layout| !variants(layouts.recordings).contains(layout.variant.as_str()))
        .map(|layout| format!("the present filesystem ({}) was not recorded", layout.variant));
    let failing = prediction::failing(run).into_iter();
    let (twin_error, factor) = (twin.errors.median, twin.fit.misfit.factor());
    let slower = factor.filter(|factor| *factor > FAR_TWIN).map(|factor| {
        format!("the twin repeats the speeds of the check only within a factor of {factor:.1}: the intervals are wide")
    });
    let unlike = (twin_error > POOR_TWIN).then(|| {
        format!(
            "the twin repeats the measured times with a median error of {:.0} %: take the figures as rough",
            twin_error * 100.0
        )
    });
    failing.chain(slower).chain(unlike).chain(options).chain(failed).chain(not_recorded).collect()
}

/// Why the run has no twin, and what to do.
fn no_twin(error: &TwinError, run: &RunFile) -> Failure {
    let target = &run.target;
    let error = match error {
        TwinError::NoGeometry { reason: Some(reason) } => {
            anyhow!("nothing can be predicted for {target}: {error} ({})", words::reason(reason))
        }
        TwinError::NoWrites => anyhow!(
            "nothing can be predicted for {target}: {error}; repeat it with: \
             flashscope check {} --scratch -o run.json",
            if is_in_file(&run.observations) { "/dev/sdX".to_owned() } else { quoted_path(target) }
        ),
        _ => anyhow!("nothing can be predicted for {target}: {error}"),
    };
    Failure { exit: Exit::Usage, error }
}

/// Why no recording fits.
fn nothing_fits(layouts: &Layouts<'_>) -> Failure {
    let error = match layouts.capacity_min() {
        Some(least) => anyhow!(
            "the stick holds {}, and the smallest of these recordings needs {least}",
            layouts.capacity
        ),
        None => anyhow!("there are no recordings of these filesystems and workloads"),
    };
    Failure { exit: Exit::Usage, error }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_infer::trials::twin_error::{Misfit, TwinFit, TwinModel};
    use flashscope_sim::Profile;
    use flashscope_twin::Summary;

    use super::*;

    /// What is said of a twin with this median error that repeats the speeds of its run within this factor,
    /// and of this number of failed replays.
    fn said_of(median: f64, factor: f64, failed: usize) -> String {
        let text = r#"{"format": 2, "flashscope": "0", "target": "t", "observations": []}"#;
        let (run, recordings) = (RunFile::parse(text).unwrap(), Recordings::embedded().unwrap());
        let profile = Profile::builtin("generic-2g").unwrap();
        let layouts = Layouts {
            recordings: &recordings,
            wish: Wish::default(),
            starts: Vec::new(),
            erase_block: profile.ftl.erase_block,
            request_max: Bytes::kib(120),
            capacity: profile.capacity,
            seed: 1,
        };
        let misfit = Misfit { random_writes: factor.ln(), ..Misfit::default() };
        let twin = StickTwin {
            profile,
            fit: TwinFit { model: TwinModel::Pages, misfit },
            errors: Summary { cells: 90, median, p90: median * 2.0 },
            request_max: Bytes::kib(120),
        };
        notes(&run, &layouts, failed, &twin).join("\n")
    }

    #[test]
    fn twin_that_is_off_by_more_than_a_tenth_or_half_as_much_again_is_called_rough() {
        assert_eq!(said_of(0.05, 1.2, 0), "");
        assert_eq!(said_of(0.099, 1.49, 0), "");
        let far = said_of(0.099, 1.53, 0);
        assert!(far.contains("within a factor of 1.5:") && !far.contains("median error"), "{far}");
        let poor = said_of(0.104, 1.49, 0);
        assert!(poor.contains("a median error of 10 %:") && !poor.contains("factor"), "{poor}");
        assert_eq!(said_of(0.05, 1.2, 1), "failed on the twin, and left out: 1 replay");
        assert_eq!(said_of(0.05, 1.2, 3), "failed on the twin, and left out: 3 replays");
    }
}
