//! The twin of a run, and every layout tried on it.

use anyhow::anyhow;
use flashscope_device::layer::{Interrupt, Interruptible};
use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_layout::steps::quoted_path;
use flashscope_record::observation::is_in_file;
use flashscope_record::run_file::RunFile;
use flashscope_recording::{RecordingError, Recordings, Wish};
use flashscope_report::words;
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
    let failed = (failed > 0).then(|| format!("{failed} replays failed on the twin; they are left out"));
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
