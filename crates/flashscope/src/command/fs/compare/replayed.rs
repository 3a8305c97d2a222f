//! Trials on a virtual stick: recordings of a real kernel, replayed in virtual time.
//!
//! Each pair of write and read starts on a stick that is fresh from the profile's state, so their order does
//! not matter. Round `n` has the seed of the first round plus `n - 1`.

use std::collections::BTreeSet;

use anyhow::anyhow;
use flashscope_device::layer::fault::FaultSpec;
use flashscope_device::layer::{Interrupt, Interruptible};
use flashscope_device::{Bytes, Pattern};
use flashscope_recording::{
    Attempt, Choice, Failure as TrialFailure, FailureReason, Fit, Place, Recording, Recordings, Wish, choose,
    try_out,
};
use flashscope_report::filesystems::TrialSource;
use flashscope_sim::target::Target;

use super::compared::Compared;
use super::factors::Design;
use crate::args::FsCompare;
use crate::command::recordings::{self, notes_on_options, refuse_unknown};
use crate::exit::{Exit, Failure, OrExit};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;

/// Compares on the virtual stick of this name.
///
/// # Errors
/// Exit code 2 for an unknown stick or filesystem, for recordings that cannot be read, and if none fits.
pub fn compare(arguments: &FsCompare, name: &str, printer: &Printer) -> Result<Compared, Failure> {
    let (target, recordings) = open(arguments, name)?;
    let session = Session { recordings: &recordings, target: &target, start: start(arguments, &target) };
    let choices = session.choices(arguments, &arguments.filesystems)?;
    let replayed = session.replay(&choices, &on_interrupt()?, printer)?;
    Ok(session.compared(&choices, &replayed))
}

/// Runs the cells of a factorial experiment on the virtual stick of this name, round after round.
///
/// # Errors
/// As [`compare`]; exit code 2 also for factors that these recordings do not have.
pub fn compare_factors(
    arguments: &FsCompare,
    name: &str,
    printer: &Printer,
) -> Result<(Compared, Design), Failure> {
    let (target, recordings) = open(arguments, name)?;
    let session = Session { recordings: &recordings, target: &target, start: start(arguments, &target) };
    let known = recordings::variants(&recordings);
    let design = Design::new(arguments, target.profile.ftl.erase_block, session.start, &known)?;
    let mut choices = session.choices(arguments, &design.variants())?;
    // Round after round: if the user interrupts, whole rounds are left.
    choices.sort_by_key(|choice| (choice.write.workload, choice.write.round, choice.write.writeback));
    let (interrupt, mut replayed) = (on_interrupt()?, Replayed::default());
    for choice in &choices {
        for start in design.starts(&choice.write.variant) {
            let at_start = Session { start, ..session };
            let one = at_start.replay(std::slice::from_ref(choice), &interrupt, printer)?;
            replayed.attempts.extend(one.attempts);
            replayed.is_cut |= one.is_cut;
        }
    }
    Ok((session.compared(&choices, &replayed), design))
}

/// The virtual stick and the recordings. A counterfeit is refused: it would lose the files.
fn open(arguments: &FsCompare, name: &str) -> Result<(Target, Recordings), Failure> {
    let mut target = Target::parse(name).or_exit_bare(Exit::Usage)?;
    target.seed = arguments.seed.unwrap_or(target.seed);
    if target.faults.iter().any(|fault| matches!(fault, FaultSpec::Counterfeit(_))) {
        let error = anyhow!(
            "sim:{name} stores less than it says, and no filesystem helps; to see how much: flashscope verify sim:{name}"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok((target, recordings::open(arguments.recordings.as_deref())?))
}

/// Where the filesystem starts if nothing was said: where partitioning programs start, rounded up to an erase
/// block.
fn start(arguments: &FsCompare, target: &Target) -> Bytes {
    arguments.partition_start.unwrap_or_else(|| Bytes::mib(1).round_up(target.profile.ftl.erase_block))
}

/// What was replayed.
#[derive(Default)]
struct Replayed {
    attempts: Vec<Attempt>,
    /// Some choices were left out, since the person interrupted.
    is_cut: bool,
}

/// The recordings and the stick.
#[derive(Clone, Copy)]
struct Session<'a> {
    recordings: &'a Recordings,
    target: &'a Target,
    start: Bytes,
}

impl<'a> Session<'a> {
    /// The recordings of these filesystems, or of all, that were asked for and fit.
    fn choices(&self, arguments: &FsCompare, variants: &[String]) -> Result<Vec<Choice<'a>>, Failure> {
        if self.recordings.list().is_empty() {
            let error = anyhow!("there are no recordings; name a folder of them with --recordings");
            return Err(Failure { exit: Exit::Usage, error });
        }
        refuse_unknown(self.recordings, variants)?;
        let profile = &self.target.profile;
        let wish = Wish {
            variants: variants.to_vec(),
            workloads: arguments.workloads.clone(),
            rounds: arguments.rounds,
        };
        let fit = Fit {
            erase_block: profile.ftl.erase_block,
            request_max: profile.link.timing().max_command,
            room: profile.capacity.saturating_sub(self.start),
        };
        let choices = choose(self.recordings.list(), &wish, &fit);
        if choices.is_empty() { Err(self.nothing_fits(&wish, &fit)) } else { Ok(choices) }
    }

    /// Why no recording fits: there is none of these, or the stick is too small for all.
    fn nothing_fits(&self, wish: &Wish, fit: &Fit) -> Failure {
        let anywhere = choose(self.recordings.list(), wish, &Fit { room: Bytes::new(u64::MAX), ..*fit });
        let least = anywhere.iter().map(|choice| choice.write.capacity).min();
        let name = &self.target.profile.name;
        let error = match least.and_then(|least| least.checked_add(self.start)) {
            Some(needed) => anyhow!(
                "{name} holds {}, and the smallest of these recordings ends at {needed}; \
                 try 'sim:{name}?capacity={}GiB'",
                self.target.profile.capacity,
                needed.round_up(Bytes::gib(1)).get() >> 30
            ),
            None => {
                anyhow!("there are no recordings of these filesystems and workloads; leave out --workloads")
            }
        };
        Failure { exit: Exit::Usage, error }
    }

    /// Replays everything, until Ctrl-C.
    fn replay(
        &self,
        choices: &[Choice<'_>],
        interrupt: &Interrupt,
        printer: &Printer,
    ) -> Result<Replayed, Failure> {
        let mut attempts = Vec::new();
        for choice in choices {
            if interrupt.is_requested() {
                return Ok(Replayed { attempts, is_cut: true });
            }
            printer.detail(describe(choice.write));
            attempts.extend(self.round(choice, interrupt)?);
        }
        Ok(Replayed { attempts, is_cut: false })
    }

    /// One round on a fresh stick.
    fn round(&self, choice: &Choice<'_>, interrupt: &Interrupt) -> Result<Vec<Attempt>, Failure> {
        let seed = choice.stick_seed(self.target.seed);
        let stick = Target { seed, ..self.target.clone() }.device().or_exit_bare(Exit::Usage)?;
        let mut device = Interruptible::new(stick, interrupt.clone());
        let queue_depth = self.target.profile.link.timing().queue_depth;
        let place = Place { start: self.start, queue_depth, pattern: Pattern::new(seed) };
        try_out(self.recordings, choice, &mut device, place).or_exit_bare(Exit::Usage)
    }

    fn compared(&self, choices: &[Choice<'_>], replayed: &Replayed) -> Compared {
        let profile = &self.target.profile;
        let attempts = || replayed.attempts.iter();
        let trials = attempts().filter_map(|attempt| attempt.trial.as_ref().ok()).cloned().collect();
        let failed: Vec<&TrialFailure> =
            attempts().filter_map(|attempt| attempt.trial.as_ref().err()).collect();
        let is_interrupted = replayed.is_cut || failed.iter().any(|failure| failure.is_interrupt());
        let failures =
            failed.iter().filter(|failure| !failure.is_interrupt()).map(|failure| sentence(failure));
        let failures: Vec<String> = failures.collect();
        let exit = match (is_interrupted, failures.is_empty()) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Fine,
            (false, false) => Exit::Failed,
        };
        Compared {
            device: format!("virtual stick: {}", profile.description),
            start: self.start,
            seed: self.target.seed,
            source: source(choices),
            trials,
            fewer: Vec::new(),
            failures,
            notes: notes_on_options(choices, profile.ftl.erase_block),
            exit,
        }
    }
}

/// The conditions of the recordings.
fn source(choices: &[Choice<'_>]) -> TrialSource {
    let recordings = || choices.iter().map(|choice| choice.write);
    let kernels: BTreeSet<&str> = recordings().map(|each| each.kernel.as_str()).collect();
    let memories: BTreeSet<Bytes> = recordings().map(|each| each.memory).collect();
    let capacities: BTreeSet<Bytes> = recordings().map(|each| each.capacity).collect();
    TrialSource::Replayed {
        kernels: kernels.into_iter().map(str::to_owned).collect(),
        memories: memories.into_iter().collect(),
        capacities: capacities.into_iter().collect(),
    }
}

fn describe(recording: &Recording) -> String {
    let Recording { variant, workload, writeback, round, .. } = recording;
    format!("{variant}, {}, {} writeback, round {round}", workload.name(), writeback.name())
}

fn sentence(failure: &TrialFailure) -> String {
    let tried = &failure.tried;
    let what = format!(
        "{} on {} ({}, round {})",
        tried.workload.name(),
        tried.variant,
        tried.operation.name(),
        tried.round
    );
    match &failure.reason {
        FailureReason::Device { after, requests, error } => {
            format!("{what}: after {after} of {requests} requests {error}")
        }
        FailureReason::Requests { failed, requests, first } => {
            let first = first.as_ref().map_or_else(String::new, |error| format!("; the first: {error}"));
            format!("{what}: {failed} of {requests} requests failed{first}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_that_were_left_out_for_an_interrupt_are_called_a_part() {
        let (recordings, target) = (Recordings::embedded().unwrap(), Target::parse("generic-2g").unwrap());
        let session = Session { recordings: &recordings, target: &target, start: Bytes::mib(4) };
        let room = target.profile.capacity;
        let fit = Fit { erase_block: target.profile.ftl.erase_block, request_max: Bytes::kib(120), room };
        let choices = choose(recordings.list(), &Wish::default(), &fit);
        let printer = Printer::quiet();
        let interrupt = Interrupt::default();
        let exit = |choices: &[Choice<'_>]| {
            let replayed = session.replay(choices, &interrupt, &printer).unwrap();
            (replayed.attempts.len(), session.compared(choices, &replayed).exit)
        };
        interrupt.request();
        assert_eq!(exit(&choices[..1]), (0, Exit::Interrupted));
        assert_eq!(exit(&[]), (0, Exit::Fine), "nothing was left out");
    }
}
