//! The files workload: a set of small files against one large file of the same bytes, in rounds.

pub(super) mod file_set;

#[cfg(test)]
mod tests;

use std::time::Duration;

use flashscope_device::host::{CacheDrop, FileHost, FlushPolicy};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Pattern};
use flashscope_infer::files::comparison::files_are_settled;
use flashscope_record::observation::{ColdBy, FilesData, FilesPart, FilesRound};

use super::{COUNT_MIN, ROUNDS_MAX, ROUNDS_MIN, SECONDS_MIN, Stopped};
use file_set::FileSet;

/// The files of the first pilot, which estimates how long all files take.
const PILOT: usize = 32;
/// The files of the second pilot, which separates the time per file from the time of a flush.
const PILOT_MORE: usize = 128;
/// The estimate above which the second pilot runs, seconds. Guess.
const LONG_S: f64 = 10.0;

/// The settings of the workload.
#[derive(Debug, Clone)]
pub struct FilesWorkload {
    /// The size of each small file.
    pub sizes: Vec<Bytes>,
    /// The number of small files in each subdirectory.
    pub files_per_directory: u32,
    /// When data is flushed to the medium.
    pub flush: FlushPolicy,
    /// The seed of the contents.
    pub seed: u64,
    /// The number of rounds; `None` for as many as are needed.
    pub rounds: Option<u32>,
    /// The time after which no further round starts, except the first.
    pub time_budget: Duration,
    /// Whether fewer files may be written if all of them exceed the time budget.
    pub may_reduce_count: bool,
}

/// An event while the workload runs.
#[derive(Debug, Clone, PartialEq)]
pub enum FilesEvent<'a> {
    /// The pilots estimate how long all files take.
    Estimated {
        /// The pilots.
        pilots: &'a [Pilot],
        /// The number of files.
        count: u32,
        /// The estimate for all of them, seconds.
        expected_s: f64,
    },
    /// That exceeds the time budget, so fewer files are written.
    CountReduced {
        /// The new number of files.
        count: u32,
    },
    /// A round starts; the first is 1.
    Round(u32),
    /// Another round would exceed the time budget.
    BudgetSpent {
        /// Complete rounds.
        rounds: u32,
        /// The rounds that were planned at most.
        rounds_max: u32,
    },
}

/// A few files, measured to estimate how long all files take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pilot {
    /// The number of files.
    pub files: usize,
    /// The time of all phases, seconds.
    pub seconds: f64,
}

impl Pilot {
    /// The time of each further file, seconds: the slope between two pilots, where there are two.
    fn rate(pilots: &[Self]) -> f64 {
        let Some((last, before)) = pilots.split_last() else { return 0.0 };
        let mean = last.seconds / last.files as f64;
        let slope = before.first().map(|first| {
            (last.seconds - first.seconds) / (last.files.saturating_sub(first.files).max(1)) as f64
        });
        slope.filter(|slope| *slope > 0.0).map_or(mean, |slope| slope.min(mean))
    }
}

impl FilesWorkload {
    /// The bytes of all small files, and so of the large one.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.sizes.iter().fold(Bytes::ZERO, |sum, size| sum + *size)
    }

    /// The number of small files.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.sizes.len()).unwrap_or(u32::MAX)
    }

    /// The most rounds.
    #[must_use]
    pub fn rounds_max(&self) -> u32 {
        self.rounds.unwrap_or(ROUNDS_MAX)
    }

    /// The files of the pilots that may run.
    pub fn pilots(&self) -> impl Iterator<Item = &[Bytes]> {
        let pilots = [PILOT, PILOT_MORE].into_iter().filter(|pilot| self.sizes.len() >= 2 * pilot);
        pilots.map(|pilot| &self.sizes[..pilot])
    }

    /// Runs rounds until they agree, the planned number is reached, or the time budget is spent; at least
    /// one. Complete rounds are added to `data`, also if the workload ends early.
    ///
    /// # Errors
    /// [`Stopped`] if the host failed, or the person interrupted it. No file is left in any case.
    pub fn measure<H: FileHost>(
        &self,
        host: &mut H,
        data: &mut FilesData,
        interrupt: &Interrupt,
        observer: &mut dyn FnMut(FilesEvent<'_>),
    ) -> Result<(), Stopped<H::Error>> {
        let mut run = Run { workload: self.clone(), host, interrupt, observer, generation: 0 };
        run.choose_count()?;
        run.rounds(data)
    }
}

/// A running measurement.
struct Run<'a, H> {
    workload: FilesWorkload,
    host: &'a mut H,
    interrupt: &'a Interrupt,
    observer: &'a mut dyn FnMut(FilesEvent<'_>),
    generation: u32,
}

impl<H: FileHost> Run<'_, H> {
    /// Estimates by pilots how long all files take. Reduces their number to fit the time budget, if that is
    /// allowed.
    fn choose_count(&mut self) -> Result<(), Stopped<H::Error>> {
        let (files, count) = (self.workload.sizes.len(), self.workload.count());
        if files < 2 * PILOT {
            return Ok(());
        }
        let rate = |pilots: &[Pilot]| Pilot::rate(pilots).max(SECONDS_MIN);
        let mut pilots = vec![self.pilot(PILOT)?];
        // The time of the flush itself shows in a small pilot only.
        if rate(&pilots) * f64::from(count) > LONG_S && files >= 2 * PILOT_MORE {
            pilots.push(self.pilot(PILOT_MORE)?);
        }
        let rate = rate(&pilots);
        let last = pilots.last().map_or((0.0, 0.0), |pilot| (pilot.files as f64, pilot.seconds));
        let expected_s = last.1 + rate * (f64::from(count) - last.0);
        (self.observer)(FilesEvent::Estimated { pilots: &pilots, count, expected_s });
        let budget = self.workload.time_budget.as_secs_f64();
        if expected_s > budget && self.workload.may_reduce_count && count > COUNT_MIN {
            let reduced = (((budget - last.1) / rate + last.0) as u32).clamp(COUNT_MIN, count);
            self.workload.sizes.truncate(reduced as usize);
            (self.observer)(FilesEvent::CountReduced { count: reduced });
        }
        Ok(())
    }

    fn pilot(&mut self, files: usize) -> Result<Pilot, Stopped<H::Error>> {
        let sizes = self.workload.sizes[..files].to_vec();
        let (part, _) = self.file_set(&sizes, self.workload.files_per_directory)?;
        Ok(Pilot { files, seconds: total(&part).as_secs_f64() })
    }

    fn rounds(&mut self, data: &mut FilesData) -> Result<(), Stopped<H::Error>> {
        let (budget, rounds_max) = (self.workload.time_budget, self.workload.rounds_max());
        let sizes = self.workload.sizes.clone();
        let mut spent = Duration::ZERO;
        for round in 1..=rounds_max {
            (self.observer)(FilesEvent::Round(round));
            let (small, cache_drop) = self.file_set(&sizes, self.workload.files_per_directory)?;
            let (large, _) = self.file_set(&[self.workload.bytes()], 1)?;
            data.cold = cold_by(cache_drop);
            spent += total(&small) + total(&large);
            data.rounds.push(FilesRound { small, large });
            if self.workload.rounds.is_none()
                && data.rounds.len() >= ROUNDS_MIN as usize
                && files_are_settled(data)
            {
                return Ok(());
            }
            // A round that would not fit is not started.
            if spent + spent / round > budget && round < rounds_max {
                (self.observer)(FilesEvent::BudgetSpent { rounds: round, rounds_max });
                return Ok(());
            }
        }
        Ok(())
    }

    /// A set of files with data that no set before had.
    fn file_set(
        &mut self,
        sizes: &[Bytes],
        files_per_directory: u32,
    ) -> Result<(FilesPart, CacheDrop), Stopped<H::Error>> {
        let pattern = Pattern { seed: self.workload.seed, generation: self.generation };
        self.generation += 1;
        let set = FileSet { sizes, files_per_directory, flush: self.workload.flush, pattern };
        set.measure(self.host, self.interrupt)
    }
}

/// The time of all phases.
fn total(part: &FilesPart) -> Duration {
    Duration::from_secs_f64(part.made_s + part.flush_s + part.read_s + part.removed_s)
}

const fn cold_by(cache_drop: CacheDrop) -> ColdBy {
    match cache_drop {
        CacheDrop::Advised => ColdBy::Advice,
        CacheDrop::Dropped | CacheDrop::Remounted => ColdBy::Drop,
    }
}
