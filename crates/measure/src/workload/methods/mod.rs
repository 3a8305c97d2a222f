//! The write-methods workload: the same bytes, written as people usually write them, in rounds.
//!
//! Each method reports a time to its user, and each is timed until a flush confirms that the data is durable.

mod write;

#[cfg(test)]
mod tests;

use std::time::Duration;

use flashscope_device::Bytes;
use flashscope_device::host::WriteHost;
use flashscope_device::layer::Interrupt;
use flashscope_infer::files::write_methods::methods_are_settled;
use flashscope_record::observation::{MethodTiming, MethodsData, WriteMethod};

use super::{ROUNDS_MAX, ROUNDS_MIN, SECONDS_MIN, Stopped};
use write::{Written, write};

/// The methods, in the order of the first round.
pub const METHODS: [WriteMethod; 5] = [
    WriteMethod::Zeros,
    WriteMethod::Random,
    WriteMethod::FlushAtEnd,
    WriteMethod::FlushEach,
    WriteMethod::Direct,
];

/// The bytes that each method writes by default.
pub const SIZE_DEFAULT: Bytes = Bytes::mib(64);
/// The smallest size that is chosen for a slow stick, and the size of the pilot. Guess: enough to fill a
/// controller's write buffer.
pub const SIZE_MIN: Bytes = Bytes::mib(8);
/// The bytes that all rounds together write by default.
const WRITTEN_DEFAULT: Bytes = Bytes::gib(2);
/// The rounds after which agreement ends the measurement: the median lies between the extremes of five with
/// probability 15/16.
const ROUNDS_ENOUGH: u32 = 5;

/// The settings of the workload.
#[derive(Debug, Clone, Copy)]
pub struct WriteMethods {
    /// The bytes that each method writes; `None` to choose a size by a pilot.
    pub size: Option<Bytes>,
    /// The number of rounds; `None` for as many as are needed.
    pub rounds: Option<u32>,
    /// The time after which no further round starts, except the first.
    pub time_budget: Duration,
}

/// An event while the workload runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MethodsEvent {
    /// The pilot was slow, so each method writes less than the default.
    SizeReduced {
        /// The time of the pilot, which wrote [`SIZE_MIN`].
        pilot: Duration,
        /// The chosen size.
        size: Bytes,
    },
    /// A round starts; the first is 1.
    Round(u32),
    /// A method starts.
    Method(WriteMethod),
    /// The filesystem refuses a method, which is left out from now on.
    Refused(WriteMethod),
    /// Another round would exceed the time budget.
    BudgetSpent {
        /// Complete rounds.
        rounds: u32,
        /// The rounds that were planned at most.
        rounds_max: u32,
    },
}

/// What the workload measured, also if it ended early.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodsMeasured<E> {
    /// The results of complete rounds.
    pub timings: Vec<MethodTiming>,
    /// The result of the pilot, if there was one.
    pub pilot: Option<MethodTiming>,
    /// Complete rounds.
    pub rounds: usize,
    /// Why it ended early, if it did.
    pub ended: Result<(), Stopped<E>>,
}

impl WriteMethods {
    /// The planned size, which a pilot may reduce.
    #[must_use]
    pub fn planned_size(&self) -> Bytes {
        self.size.unwrap_or(SIZE_DEFAULT)
    }

    /// The most rounds: the requested number, or as many as write the default amount.
    #[must_use]
    pub fn rounds_max(&self) -> u32 {
        let usual = WRITTEN_DEFAULT / (self.planned_size() * METHODS.len() as u64);
        let usual = u32::try_from(usual.clamp(ROUNDS_MIN.into(), ROUNDS_MAX.into())).unwrap_or(1);
        self.rounds.unwrap_or(usual)
    }

    /// Runs rounds until they agree, the planned number is reached, or the time budget is spent; at least
    /// one.
    pub fn measure<H: WriteHost>(
        &self,
        host: &mut H,
        interrupt: &Interrupt,
        observer: &mut dyn FnMut(MethodsEvent),
    ) -> MethodsMeasured<H::Error> {
        let mut run = Run {
            settings: *self,
            host,
            interrupt,
            observer,
            size: self.planned_size(),
            refused: Vec::new(),
            timings: Vec::new(),
            pilot: None,
            rounds: 0,
            spent: Duration::ZERO,
        };
        let ended = run.all();
        MethodsMeasured { timings: run.timings, pilot: run.pilot, rounds: run.rounds, ended }
    }
}

/// A running measurement.
struct Run<'a, H> {
    settings: WriteMethods,
    host: &'a mut H,
    interrupt: &'a Interrupt,
    observer: &'a mut dyn FnMut(MethodsEvent),
    /// The bytes that each method writes.
    size: Bytes,
    /// The methods that the filesystem refuses.
    refused: Vec<WriteMethod>,
    /// The results of complete rounds.
    timings: Vec<MethodTiming>,
    pilot: Option<MethodTiming>,
    /// Complete rounds.
    rounds: usize,
    spent: Duration,
}

impl<H: WriteHost> Run<'_, H> {
    fn all(&mut self) -> Result<(), Stopped<H::Error>> {
        self.choose_size()?;
        let (rounds_max, mut longest) = (self.settings.rounds_max(), Duration::ZERO);
        for round in 0..rounds_max {
            if round > 0 && self.spent + longest > self.settings.time_budget {
                (self.observer)(MethodsEvent::BudgetSpent { rounds: round, rounds_max });
                return Ok(());
            }
            if round >= ROUNDS_ENOUGH && self.settings.rounds.is_none() && self.is_settled() {
                return Ok(());
            }
            let before = self.spent;
            self.round(round)?;
            longest = longest.max(self.spent - before);
        }
        Ok(())
    }

    /// Without a requested size, a pilot chooses one that lets some rounds end within the time budget, and
    /// that fits.
    fn choose_size(&mut self) -> Result<(), Stopped<H::Error>> {
        if self.settings.size.is_some() {
            return Ok(());
        }
        let space = self.host.space()?;
        let Some(pilot) = write(self.host, WriteMethod::FlushAtEnd, SIZE_MIN, self.interrupt)? else {
            return Ok(());
        };
        self.spent += pilot.total;
        self.pilot = Some(pilot.timing());
        let rounds = self.settings.rounds.map_or(ROUNDS_MIN, |rounds| ROUNDS_MIN.min(rounds));
        let each =
            self.settings.time_budget.as_secs_f64() / (u64::from(rounds) * METHODS.len() as u64) as f64;
        let factor = (each / pilot.total.as_secs_f64().max(SECONDS_MIN)).min(SIZE_DEFAULT.as_f64());
        self.size = fitting(factor, space);
        if self.size < SIZE_DEFAULT {
            (self.observer)(MethodsEvent::SizeReduced { pilot: pilot.total, size: self.size });
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        methods_are_settled(&MethodsData { timings: self.timings.clone(), ..MethodsData::default() })
    }

    /// Each method once. Each round starts with another method, so that none always follows the same one.
    fn round(&mut self, round: u32) -> Result<(), Stopped<H::Error>> {
        (self.observer)(MethodsEvent::Round(round + 1));
        let mut methods = METHODS;
        let first = round as usize % methods.len();
        methods.rotate_left(first);
        let mut timings = Vec::new();
        for method in methods {
            timings.extend(self.method(method)?.map(|written| written.timing()));
        }
        self.timings.extend(timings);
        self.rounds += 1;
        Ok(())
    }

    /// One method, unless the filesystem refuses it.
    fn method(&mut self, method: WriteMethod) -> Result<Option<Written>, Stopped<H::Error>> {
        if self.refused.contains(&method) {
            return Ok(None);
        }
        (self.observer)(MethodsEvent::Method(method));
        let written = write(self.host, method, self.size, self.interrupt)?;
        match &written {
            Some(written) => self.spent += written.total,
            None => {
                self.refused.push(method);
                (self.observer)(MethodsEvent::Refused(method));
            }
        }
        Ok(written)
    }
}

/// The largest size that takes at most `factor` times as long as [`SIZE_MIN`], and that fits into `space`.
fn fitting(factor: f64, space: Bytes) -> Bytes {
    let doubled = std::iter::successors(Some(SIZE_MIN), |size| Some(*size * 2));
    let sizes = doubled.take_while(|size| *size <= SIZE_DEFAULT.min(space));
    let fits = |size: &Bytes| size.as_f64() <= SIZE_MIN.as_f64() * factor;
    sizes.filter(fits).last().unwrap_or(SIZE_MIN)
}
