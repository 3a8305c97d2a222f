//! The trials workload: the same files on one filesystem after another, in rounds.
//!
//! Every trial starts on a filesystem that was made anew. The order is shuffled in each round, since the
//! medium keeps what earlier trials left in it. So no filesystem always follows the same one.

mod counts;

#[cfg(test)]
mod tests;

use std::time::Duration;

use flashscope_device::host::{CacheDrop, FlushPolicy, FreshSpace, NotReady, TrialHost};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Instant, Pattern};
use flashscope_infer::trials::is_clear;
use flashscope_record::observation::FilesPart;
use flashscope_record::{Trial, TrialOperation, TrialWorkload, Writeback};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Stopped;
use super::file_sizes::shuffle;
use super::files::file_set::FileSet;
use crate::workload::{ROUNDS_MAX, ROUNDS_MIN};
use counts::{Pilot, choose_counts};

/// A filesystem to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The filesystem with its options, as the host names it.
    pub variant: String,
    /// Where it starts on the medium.
    pub start: Bytes,
}

/// The files of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileModel {
    /// What they stand for.
    pub workload: TrialWorkload,
    /// The size of each.
    pub sizes: Vec<Bytes>,
    /// The number of files in each folder.
    pub files_per_directory: u32,
}

/// The settings of the workload.
#[derive(Debug, Clone)]
pub struct TrialsWorkload {
    /// The filesystems.
    pub candidates: Vec<Candidate>,
    /// The files.
    pub models: Vec<FileModel>,
    /// The seed of order and contents.
    pub seed: u64,
    /// The number of rounds; `None` for as many as are needed.
    pub rounds: Option<u32>,
    /// The time after which no further round starts, except the first.
    pub time_budget: Duration,
}

/// A filesystem, or its trial with some files, that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The filesystem; `None` for all of them.
    pub variant: Option<String>,
    /// The files; `None` for all of them.
    pub workload: Option<TrialWorkload>,
    /// The reason, for people.
    pub reason: String,
}

/// Why fewer files are written than planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// More do not fit into the smallest filesystem.
    Space,
    /// More exceed the time budget.
    Time,
}

/// Why no further round was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundsEnd {
    /// It is clear which filesystem is the fastest.
    Clear,
    /// All rounds were made.
    Complete,
    /// Another round would exceed the time budget.
    Budget,
    /// No filesystem is left to be tried.
    NothingLeft,
}

/// What was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialsData {
    /// The trials.
    pub trials: Vec<Trial>,
    /// What could not be tried.
    pub left_out: Vec<LeftOut>,
    /// The files as they were written: fewer than planned where time or space was short.
    pub models: Vec<FileModel>,
    /// Files that did not hold what was written to them: the filesystem, and how many.
    pub corrupt: Vec<(String, u32)>,
    /// How the page cache was emptied before reads; `None` without a read.
    pub cold: Option<CacheDrop>,
    /// The number of complete rounds.
    pub rounds: u32,
    /// Why no further round was made; `None` if the workload ended early.
    pub ended: Option<RoundsEnd>,
}

/// An event while the workload runs.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialsEvent<'a> {
    /// A filesystem is tried with few files, to estimate the time.
    Pilot {
        /// The filesystem.
        variant: &'a str,
        /// Its number, from 1.
        number: usize,
        /// The number of filesystems.
        of: usize,
    },
    /// Something cannot be tried.
    LeftOut(&'a LeftOut),
    /// Fewer files are written.
    CountReduced {
        /// The files.
        workload: TrialWorkload,
        /// The planned number.
        planned: u32,
        /// The new number.
        count: u32,
        /// Why.
        shortage: Shortage,
    },
    /// A trial starts.
    Trial {
        /// The filesystem.
        variant: &'a str,
        /// The files.
        workload: TrialWorkload,
        /// The round, from 1.
        round: u32,
        /// The number of trials before it.
        done: u32,
        /// The time left, as far as it can be estimated.
        left: Duration,
    },
}

impl FileModel {
    /// The bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.sizes.iter().copied().sum()
    }

    /// The number of files.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }
}

impl TrialsWorkload {
    /// The most rounds.
    #[must_use]
    pub fn rounds_max(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS_MAX)
    }

    /// The rounds that should fit the time budget.
    #[must_use]
    pub fn rounds_wanted(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS_MIN)
    }

    /// Runs rounds until it is clear which filesystem is the fastest, the planned number is reached, or the
    /// time budget is spent; at least one. Complete trials are added to `data`, also if the workload ends
    /// early.
    ///
    /// # Errors
    /// [`Stopped`] if the medium or the host failed, or the person interrupted it. Nothing is mounted in any
    /// case.
    pub fn measure<H: TrialHost>(
        &self,
        host: &mut H,
        data: &mut TrialsData,
        interrupt: &Interrupt,
        observer: &mut dyn FnMut(TrialsEvent<'_>),
    ) -> Result<(), Stopped<H::Error>> {
        let started = host.now();
        data.models.clone_from(&self.models);
        let mut run = Run { workload: self, host, data, interrupt, observer, started, generation: 0 };
        let pilots = run.pilots()?;
        run.choose_counts(&pilots);
        run.rounds(&pilots)
    }
}

/// A running measurement.
struct Run<'a, H> {
    workload: &'a TrialsWorkload,
    host: &'a mut H,
    data: &'a mut TrialsData,
    interrupt: &'a Interrupt,
    observer: &'a mut dyn FnMut(TrialsEvent<'_>),
    started: Instant,
    generation: u32,
}

/// The part of a trial: its files, how the cache was dropped, and its whole time.
type Measured = (FilesPart, CacheDrop);

impl<H: TrialHost> Run<'_, H> {
    fn spent(&self) -> Duration {
        self.host.now().since(self.started)
    }

    /// Tries every filesystem with few files. Those that cannot be had are left out.
    fn pilots(&mut self) -> Result<Vec<(Candidate, Pilot)>, Stopped<H::Error>> {
        let candidates = &self.workload.candidates;
        let mut pilots = Vec::with_capacity(candidates.len());
        for (candidate, number) in candidates.iter().zip(1..) {
            let event = TrialsEvent::Pilot { variant: &candidate.variant, number, of: candidates.len() };
            (self.observer)(event);
            if let Some(pilot) = self.pilot(candidate)? {
                pilots.push((candidate.clone(), pilot));
            }
        }
        Ok(pilots)
    }

    fn pilot(&mut self, candidate: &Candidate) -> Result<Option<Pilot>, Stopped<H::Error>> {
        let started = self.host.now();
        let Some(space) = self.prepare(candidate)? else { return Ok(None) };
        let prepare = self.host.now().since(started);
        let sizes = counts::pilot_sizes(&self.data.models);
        let (small, large) = (self.pattern(), self.pattern());
        let set =
            |sizes, pattern| FileSet { sizes, files_per_directory: 15, flush: FlushPolicy::AtEnd, pattern };
        let interrupt = self.interrupt;
        let measured = self.host.files().map_err(Stopped::Host).and_then(|mut files| {
            let (small, _) = set(&sizes, small).measure(&mut files, interrupt)?;
            let (large, _) = set(&[counts::PILOT_LARGE], large).measure(&mut files, interrupt)?;
            Ok(Pilot::new(space, prepare, &small, &large))
        });
        self.finish(measured, candidate, None)
    }

    /// Makes the filesystem; `None` if it cannot be had, which is noted.
    fn prepare(&mut self, candidate: &Candidate) -> Result<Option<FreshSpace>, Stopped<H::Error>> {
        self.check_interrupt()?;
        match self.host.prepare(&candidate.variant, candidate.start, self.interrupt) {
            Ok(space) => Ok(Some(space)),
            // A tool that was interrupted fails as well.
            Err(_) if self.interrupt.is_requested() => Err(Stopped::Interrupted),
            Err(NotReady::Failed(error)) => Err(Stopped::Host(error)),
            Err(NotReady::Refused { reason }) => {
                self.leave_out(Some(candidate), None, reason);
                Ok(None)
            }
        }
    }

    /// Unmounts after a trial, however it ended. `None` if the filesystem cannot take these files, which is
    /// noted.
    fn finish<T>(
        &mut self,
        measured: Result<T, Stopped<H::Error>>,
        candidate: &Candidate,
        workload: Option<TrialWorkload>,
    ) -> Result<Option<T>, Stopped<H::Error>> {
        let unmounted = self.host.unmount();
        match measured {
            _ if self.interrupt.is_requested() => Err(Stopped::Interrupted),
            Err(Stopped::Host(error)) if H::is_limit(&error) => {
                unmounted?;
                self.leave_out(Some(candidate), workload, "it has too little space for the files".to_owned());
                Ok(None)
            }
            Err(stopped) => Err(stopped),
            Ok(measured) => {
                unmounted?;
                Ok(Some(measured))
            }
        }
    }

    fn leave_out(&mut self, candidate: Option<&Candidate>, workload: Option<TrialWorkload>, reason: String) {
        let variant = candidate.map(|candidate| candidate.variant.clone());
        let left_out = LeftOut { variant, workload, reason };
        (self.observer)(TrialsEvent::LeftOut(&left_out));
        self.data.left_out.push(left_out);
    }

    fn is_left_out(&self, candidate: &Candidate, workload: TrialWorkload) -> bool {
        self.data.left_out.iter().any(|left_out| {
            left_out.variant.as_ref().is_none_or(|variant| *variant == candidate.variant)
                && left_out.workload.is_none_or(|other| other == workload)
        })
    }

    /// Fewer files where all exceed time or space.
    fn choose_counts(&mut self, pilots: &[(Candidate, Pilot)]) {
        let left = self.workload.time_budget.saturating_sub(self.spent());
        let round = left / self.workload.rounds_wanted().max(1);
        let pilots: Vec<Pilot> = pilots.iter().map(|(_, pilot)| *pilot).collect();
        for (workload, count) in choose_counts(&self.data.models, &pilots, round) {
            let Some(at) = self.data.models.iter().position(|model| model.workload == workload) else {
                continue;
            };
            let planned = self.data.models[at].count();
            match count {
                Some((count, shortage)) => {
                    self.data.models[at].sizes.truncate(count as usize);
                    (self.observer)(TrialsEvent::CountReduced { workload, planned, count, shortage });
                }
                None => {
                    self.data.models.remove(at);
                    let reason = "too few of the files fit into the smallest filesystem".to_owned();
                    self.leave_out(None, Some(workload), reason);
                }
            }
        }
    }

    fn rounds(&mut self, pilots: &[(Candidate, Pilot)]) -> Result<(), Stopped<H::Error>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.workload.seed);
        let models = self.data.models.clone();
        let mut pairs: Vec<(&Candidate, &FileModel)> = pilots
            .iter()
            .flat_map(|(candidate, _)| models.iter().map(move |model| (candidate, model)))
            .collect();
        let expected: f64 =
            models.iter().flat_map(|model| pilots.iter().map(|(_, p)| p.seconds(model))).sum();
        let mut time =
            RoundTime { each_s: expected / pairs.len().max(1) as f64, done: 0, started: self.spent() };
        let rounds_max = self.workload.rounds_max();
        for round in 1..=rounds_max {
            shuffle(&mut pairs, &mut random);
            pairs.retain(|(candidate, model)| !self.is_left_out(candidate, model.workload));
            if pairs.is_empty() {
                return self.end(RoundsEnd::NothingLeft);
            }
            for (at, (candidate, model)) in pairs.iter().enumerate() {
                if round > 1 && self.spent() > self.workload.time_budget {
                    return self.end(RoundsEnd::Budget);
                }
                if self.is_left_out(candidate, model.workload) {
                    continue;
                }
                let left = self.left(&time, round, pairs.len() - at, pairs.len());
                let done = time.done;
                let (variant, workload) = (candidate.variant.as_str(), model.workload);
                (self.observer)(TrialsEvent::Trial { variant, workload, round, done, left });
                self.trial(candidate, model, round)?;
                time.update(self.spent());
            }
            self.data.rounds = round;
            if self.workload.rounds.is_none() && round >= ROUNDS_MIN && is_clear(&self.data.trials) {
                return self.end(RoundsEnd::Clear);
            }
            let next = Duration::from_secs_f64(time.each_s * pairs.len() as f64);
            if round < rounds_max && self.spent() + next > self.workload.time_budget {
                return self.end(RoundsEnd::Budget);
            }
        }
        self.end(RoundsEnd::Complete)
    }

    fn end(&mut self, end: RoundsEnd) -> Result<(), Stopped<H::Error>> {
        self.data.ended = Some(end);
        Ok(())
    }

    /// The time left, with `in_round` trials left in this round of `trials`.
    fn left(&self, time: &RoundTime, round: u32, in_round: usize, trials: usize) -> Duration {
        let seconds =
            |trials: usize| Duration::try_from_secs_f64(time.each_s * trials as f64).unwrap_or(Duration::MAX);
        let rounds = self.workload.rounds_wanted().saturating_sub(round) as usize;
        let budget = self.workload.time_budget.saturating_sub(self.spent());
        seconds(in_round + rounds * trials).min(budget.max(seconds(in_round)))
    }

    fn trial(
        &mut self,
        candidate: &Candidate,
        model: &FileModel,
        round: u32,
    ) -> Result<(), Stopped<H::Error>> {
        if self.prepare(candidate)?.is_none() {
            return Ok(());
        }
        let set = FileSet {
            sizes: &model.sizes,
            files_per_directory: model.files_per_directory,
            flush: FlushPolicy::AtEnd,
            pattern: self.pattern(),
        };
        let interrupt = self.interrupt;
        let files = self.host.files().map_err(Stopped::Host);
        let measured = files.and_then(|mut files| set.write_and_read(&mut files, interrupt));
        if let Some(measured) = self.finish(measured, candidate, Some(model.workload))? {
            self.keep(candidate, model.workload, round, &measured);
        }
        Ok(())
    }

    fn keep(&mut self, candidate: &Candidate, workload: TrialWorkload, round: u32, measured: &Measured) {
        let (part, cache_drop) = measured;
        let seconds = [(TrialOperation::Write, part.durable_s()), (TrialOperation::Read, part.read_s)];
        self.data.trials.extend(seconds.map(|(operation, seconds)| Trial {
            variant: candidate.variant.clone(),
            workload,
            operation,
            start: candidate.start,
            round,
            writeback: Writeback::Host,
            seconds,
        }));
        self.data.cold = Some(*cache_drop);
        if part.wrong > 0 {
            self.data.corrupt.push((candidate.variant.clone(), part.wrong));
        }
    }

    /// Data that no file had before.
    fn pattern(&mut self) -> Pattern {
        let pattern = Pattern { seed: self.workload.seed, generation: self.generation };
        self.generation += 1;
        pattern
    }

    fn check_interrupt(&self) -> Result<(), Stopped<H::Error>> {
        if self.interrupt.is_requested() { Err(Stopped::Interrupted) } else { Ok(()) }
    }
}

/// How long a trial takes.
#[derive(Debug, Clone, Copy)]
struct RoundTime {
    /// The mean time of a trial, seconds; before the first one as the pilots expect it.
    each_s: f64,
    /// The number of trials so far.
    done: u32,
    /// When the first one started.
    started: Duration,
}

impl RoundTime {
    /// Counts a trial that ended now.
    fn update(&mut self, now: Duration) {
        self.done += 1;
        self.each_s = now.saturating_sub(self.started).as_secs_f64() / f64::from(self.done);
    }
}
