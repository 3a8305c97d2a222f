//! `flashscope verify --full`: the whole device is written and read back.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::{Bytes, DeviceError, DeviceExt, Op};
use flashscope_linux::{Roots, identify};
use flashscope_measure::capacity::full::{begin, continue_from, fill_and_verify};
use flashscope_record::full_capacity::{FullPhase, FullProgress, FullVerdict};
use flashscope_report::full_capacity::{self as words, Scope};

use super::verify_free_space;
use crate::args::Verify;
use crate::document::VerifyFullDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::full_state::StateFile;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, duration, seed};

/// The seed of a virtual stick, whose contents are new in every run.
const SEED_VIRTUAL: u64 = 1;
/// Requests in flight.
const QUEUE_DEPTH: u32 = 4;
/// A slow USB stick writes and reads this much. Guess, for the time that is announced before it is measured.
const BYTES_PER_S: u64 = 20_000_000;
/// Everything is written and read.
const PASSES: u64 = 2;

/// Runs the command.
///
/// # Errors
/// As [`target::open`]; exit code 4 without permission to write or for another medium than that of the test
/// to be continued, 3 if the device failed.
pub fn run(arguments: &Verify, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    if arguments.erase.scratch {
        let error = anyhow!(
            "--full writes the whole device, so --scratch would have to save all of it; copy what is on it and use --erase, or \
             name a directory on it to test only its free space"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    if !name.starts_with("sim:") && Path::new(name).is_dir() {
        return verify_free_space::run(arguments, printer);
    }
    if !name.starts_with("sim:") {
        warn(name, printer);
    }
    let consent = confirm::erase(name, &arguments.erase, printer)?;
    let mut target = target::open_for_full_test(name, consent.as_ref(), QUEUE_DEPTH)?;
    if !target.writable {
        let error = anyhow!(
            "the full test erases all of {name}; allow it with --erase, or name a directory on it to test only its free space"
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
    let (mut progress, mut state) = start(&mut target, arguments, printer)?;
    let result = test(&mut target, &mut progress, state.as_mut(), printer);
    if result == Err(DeviceError::Interrupted) {
        words::so_far(&progress).into_iter().for_each(|seen| printer.remark(seen));
    }
    finish(&target, result, state.as_ref(), printer)
}

/// Says before the question what the test does.
fn warn(name: &str, printer: &Printer) {
    let path = Path::new(name);
    let capacity = identify(path, &Roots::default()).disk.map(|disk| disk.capacity);
    let length = || std::fs::metadata(path).map_or(Bytes::ZERO, |file| Bytes::new(file.len()));
    let capacity = capacity.unwrap_or_else(length);
    let time = Duration::from_secs(capacity.get() * PASSES / BYTES_PER_S);
    printer.remark(format!(
        "the full test erases everything: it writes the whole {capacity} once and reads it back, about {} at 20 MB/s; save what \
         is on it first",
        duration::about(time)
    ));
    printer.remark("a drive that maps flash on demand and has too little can stop working in this test");
}

/// The progress to start from, and the file that keeps it. A virtual stick ends with the program.
fn start(
    target: &mut Target,
    arguments: &Verify,
    printer: &Printer,
) -> Result<(FullProgress, Option<StateFile>), Failure> {
    if target.is_virtual {
        return Ok((begin(&target.device, arguments.seed.unwrap_or(SEED_VIRTUAL)), None));
    }
    if arguments.restart {
        StateFile::remove_all(target)?;
    } else if let Some(state) = StateFile::find(target)? {
        let mut progress = state.progress().clone();
        if arguments.seed.is_some_and(|seed| seed != progress.seed) {
            let error =
                anyhow!("a test that is continued keeps its seed; leave out --seed, or add --restart");
            return Err(Failure { exit: Exit::Usage, error });
        }
        printer.remark(format!(
            "continuing the test of {} ({} done); --restart begins again",
            state.stored_at(),
            percent(&progress)
        ));
        continue_from(&mut progress);
        return Ok((progress, Some(state)));
    }
    let progress = begin(&target.device, arguments.seed.unwrap_or_else(seed::random));
    let state = StateFile::new(target, &progress)?;
    Ok((progress, Some(state)))
}

/// Runs the test. What is done stays in the state file.
fn test(
    target: &mut Target,
    progress: &mut FullProgress,
    mut state: Option<&mut StateFile>,
    printer: &Printer,
) -> Result<FullVerdict, DeviceError> {
    // Virtual time passes at once.
    let mut time_left = if target.is_virtual { TimeLeft::unsaid() } else { TimeLeft::due() };
    let mut is_stored = true;
    let mut store = |durable: &FullProgress| {
        time_left.after(durable).into_iter().for_each(|line| printer.remark(line));
        if let Some(Err(error)) = state.as_mut().map(|state| state.store(durable))
            && std::mem::replace(&mut is_stored, false)
        {
            printer.remark(format!("note: the state of the test cannot be stored: {error}"));
        }
    };
    let mut observer = Progress::new(printer);
    let result = fill_and_verify(&mut target.device, progress, &mut store, &mut observer);
    if result == Err(DeviceError::Interrupted) && is_started(progress) {
        // The interrupt stops requests of the test; what is written can still be made durable.
        if target.device.device_mut().device_mut().run(Op::Flush).is_ok() {
            store(progress);
        }
    }
    result
}

/// Whether there is anything to continue.
fn is_started(progress: &FullProgress) -> bool {
    progress.phase != FullPhase::Write || !progress.position.is_zero()
}

/// The share of the test that is done, both phases counted alike.
fn done(progress: &FullProgress) -> f64 {
    let position = progress.position.as_f64() / progress.capacity.as_f64().max(1.0);
    match progress.phase {
        FullPhase::Write => position / 2.0,
        FullPhase::Read => f64::midpoint(1.0, position),
        FullPhase::SecondLook => 1.0,
    }
}

fn percent(progress: &FullProgress) -> String {
    format!("{:.0} %", done(progress) * 100.0)
}

/// What the first stretch of a test means for the rest. It is said once.
pub struct TimeLeft {
    is_due: bool,
}

impl TimeLeft {
    /// It is said after the next stretch.
    pub const fn due() -> Self {
        Self { is_due: true }
    }

    /// It is never said.
    const fn unsaid() -> Self {
        Self { is_due: false }
    }

    /// What is to be said after a stretch. Less than a minute needs no word.
    pub fn after(&mut self, progress: &FullProgress) -> Option<String> {
        if !std::mem::take(&mut self.is_due) {
            return None;
        }
        let share = done(progress).max(f64::MIN_POSITIVE);
        let spent = progress.cost.device_time.as_secs_f64();
        let left = Duration::try_from_secs_f64(spent * (1.0 - share) / share).unwrap_or(Duration::MAX);
        let (done, about) = (percent(progress), duration::about(left));
        (left >= Duration::from_secs(60)).then(|| format!("{done} done; about {about} left at this speed"))
    }
}

/// Prints the verdict, or how to continue.
fn finish(
    target: &Target,
    result: Result<FullVerdict, DeviceError>,
    state: Option<&StateFile>,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let verdict = match (result, state) {
        (Ok(verdict), _) => verdict,
        (Err(DeviceError::Interrupted), None) => {
            printer.remark("interrupted: no verdict");
            return Ok(Exit::Interrupted);
        }
        (Err(DeviceError::Interrupted), Some(_)) => {
            printer.remark("interrupted: no verdict yet; the same command continues");
            return Ok(Exit::Interrupted);
        }
        (Err(error), None) => return Err(Failure { exit: Exit::Failed, error: error.into() }),
        (Err(error), Some(_)) => {
            let error = anyhow::Error::from(error).context("no verdict yet; the same command continues");
            return Err(Failure { exit: Exit::Failed, error });
        }
    };
    let document =
        VerifyFullDocument::new(&target.text, target.identity.clone(), None, Scope::Device, &verdict);
    // The verdict took hours. While it is not printed, the state leads back to it.
    let exit = print(&document, &verdict, Scope::Device, printer)?;
    let removed = state.map_or(Ok(()), |state| state.remove());
    let left =
        "cannot remove the state of the test; the next test repeats this verdict, unless --restart is given";
    Ok(after_verdict(exit, removed.or_exit(Exit::Failed, left), printer))
}

/// Prints an error that came after the verdict; the exit code. A bad verdict decides it in any case.
pub fn after_verdict(verdict: Exit, cleaned: Result<(), Failure>, printer: &Printer) -> Exit {
    let failed = cleaned.err().map(|failure| printer.failure(&failure));
    if verdict == Exit::Fine { failed.unwrap_or(verdict) } else { verdict }
}

/// Prints a verdict; the exit code.
pub fn print(
    document: &VerifyFullDocument,
    verdict: &FullVerdict,
    scope: Scope,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if printer.json {
        printer.document(document)?;
    } else {
        printer.result(&words::text(verdict, scope, &document.target, printer.width()))?;
    }
    Ok(if verdict.is_bad() { Exit::Problem } else { Exit::Fine })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Said after each of three stretches, if half of the writes took this many seconds by then.
    fn said_after(seconds: u64, mut time_left: TimeLeft) -> [Option<String>; 3] {
        let mut progress = FullProgress::new(1, Bytes::gib(8), Bytes::mib(16));
        progress.position = Bytes::gib(4);
        progress.cost.device_time = Duration::from_secs(seconds);
        [0, 1, 2].map(|_| time_left.after(&progress))
    }

    #[test]
    fn time_left_is_said_once_after_the_first_stretch_from_a_minute_up() {
        let line = |text: &str| Some(format!("25 % done; about {text} left at this speed"));
        assert_eq!(said_after(100, TimeLeft::due()), [line("5 minutes"), None, None]);
        assert_eq!(said_after(20, TimeLeft::due()), [line("60 s"), None, None]);
        assert_eq!(said_after(19, TimeLeft::due()), [None, None, None]);
        assert_eq!(said_after(100, TimeLeft::unsaid()), [None, None, None]);
    }
}
