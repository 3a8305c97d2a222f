//! `flashscope bench methods`: the same writes as people do them, side by side.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::{Cost, Interrupt};
use flashscope_infer::files::write_methods::ways_are_settled;
use flashscope_linux::{
    BenchDirectory, OpenError, WriteMethod, WriteMethodError, WriteMethodResult, WriteTarget,
};
use flashscope_record::observation::{Cause, Claim, Data, Ended, Instead, MethodsData, Way};

use crate::args::BenchMethods;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::target::plugged;
use crate::{confirm, duration, outputs};

/// Without a size, so much is written in each way, and no less where a stick is slow; that much tells how slow it is.
const SIZE_USUAL: Bytes = Bytes::mib(64);
const SIZE_LEAST: Bytes = Bytes::mib(8);
/// Without a number of rounds, this much is written in all,
const WRITTEN_USUAL: Bytes = Bytes::gib(2);
/// in so many rounds at least, of which a single stall cannot be the median,
const ROUNDS_LEAST: u64 = 3;
/// and at most: then the interval leaves out what was seen once.
const ROUNDS_MOST: u64 = 9;
/// After so many rounds that agree, no more are needed: 15 times in 16 the median lies between what was seen.
const ROUNDS_ENOUGH: u32 = 5;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target that cannot be used so, 3 if writing fails, 4 without permission to erase.
pub fn run(arguments: &BenchMethods, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    outputs::permit(&arguments.output.files, Path::new(name))?;
    let place = place(arguments, printer)?;
    announce(arguments, &place, printer);
    let mut rounds = Rounds {
        arguments,
        place: &place,
        size: arguments.size.unwrap_or(SIZE_USUAL),
        tried: None,
        interrupt: on_interrupt()?,
        refused: Vec::new(),
        claims: Vec::new(),
        done: 0,
        spent: Duration::ZERO,
        printer,
    };
    let ended = rounds.all();
    show(rounds, &ended)?;
    match ended {
        Err(WriteMethodError::Interrupted) => Ok(Exit::Interrupted),
        Err(error) => Err(failure(error)),
        Ok(()) => Ok(Exit::Fine),
    }
}

/// What was measured, also where it ended early; nothing where an error says that no round came to its end.
fn show(rounds: Rounds<'_>, ended: &Result<(), WriteMethodError>) -> Result<(), Failure> {
    let ended = match ended {
        Ok(()) => Ended::Complete,
        Err(WriteMethodError::Interrupted) => show::interrupted(rounds.done),
        Err(_) if rounds.done == 0 => return Ok(()),
        Err(error) => {
            let reason = StopReason::Failed { error: error.to_string() };
            Ended::Early { reason, cause: Cause::Device }
        }
    };
    let (name, printer) = (&rounds.arguments.target, rounds.printer);
    let plugged = plugged(&below(Path::new(name)));
    let cost = cost(&rounds.claims, rounds.tried.as_ref());
    let instead = instead(rounds.place);
    let data = MethodsData { claims: rounds.claims, link: Some(plugged.link.clone()), instead };
    let seen = show::seen_by_bench(Data::Methods(data), 0, ended);
    let run = show::run_of_bench(name, plugged, seen, cost);
    show::bench(&run, &rounds.arguments.output.files, printer)
}

/// What a directory lies on, as it was named when it was mounted; anything else itself.
fn below(path: &Path) -> PathBuf {
    let ground = path.is_dir().then(|| BenchDirectory::open(path).ok()).flatten();
    ground.map_or_else(|| path.to_owned(), |place| PathBuf::from(&place.backing_filesystem().source))
}

fn instead(place: &WriteTarget) -> Vec<Instead> {
    let all = [(place.is_in_memory(), Instead::Memory), (place.is_on_system_disk(), Instead::SystemDisk)];
    all.into_iter().filter_map(|(is_so, instead)| is_so.then_some(instead)).collect()
}

/// What was written, 1 MiB at a time.
fn cost(claims: &[Claim], tried: Option<&Claim>) -> Cost {
    let claims = || claims.iter().chain(tried);
    Cost {
        writes: claims().map(|claim| claim.bytes / Bytes::mib(1)).sum(),
        bytes_written: claims().map(|claim| claim.bytes).sum(),
        device_time: claims().map(|claim| Duration::from_secs_f64(claim.durable_s)).sum(),
        ..Cost::default()
    }
}

/// A file of our own in a directory; or the target itself, which may be erased.
fn place(arguments: &BenchMethods, printer: &Printer) -> Result<WriteTarget, Failure> {
    let name = &arguments.target;
    if let Some(stick) = name.strip_prefix("sim:") {
        let error = anyhow!(
            "{name} is a virtual stick in virtual time: no page cache lies before it, so there is nothing to claim; serve it as a \
             disk (flashscope sim serve {stick} --loop), and name that"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    let path = Path::new(name);
    if path.is_dir() {
        if arguments.erase.erase {
            let error = anyhow!("--erase: in a directory only a file of our own is written; leave it out");
            return Err(Failure { exit: Exit::Usage, error });
        }
        return WriteTarget::temporary_file(path).map_err(failure);
    }
    match confirm::erase(name, &arguments.erase, printer)? {
        Some(consent) => WriteTarget::erase(path, &consent).map_err(failure),
        None if path.exists() => {
            let error = anyhow!("this writes to {name}; allow it with --erase, or name a directory on it");
            Err(Failure { exit: Exit::Refused, error })
        }
        None => Err(failure(OpenError::Missing { path: name.clone() }.into())),
    }
}

/// Says what it will take before it begins, and what is measured.
fn announce(arguments: &BenchMethods, place: &WriteTarget, printer: &Printer) {
    let (name, size) = (&arguments.target, arguments.size.unwrap_or(SIZE_USUAL));
    let (round, most) = (size * WriteMethod::ALL.len() as u64, rounds_most(arguments, size));
    let tried = if arguments.size.is_none() { SIZE_LEAST } else { Bytes::ZERO };
    let further = match most {
        1 => String::new(),
        _ => format!(
            "; behind the first, none begins that would end later than {} after the start (--time-budget)",
            duration::told(arguments.time_budget)
        ),
    };
    printer.remark(format!(
        "{name}: {} of five ways, {size} each{}, at most {} written in all; at 10 MB/s a round takes {} s{further}",
        if most == 1 { "one round".to_owned() } else { format!("at most {most} rounds") },
        if tried > Bytes::ZERO { format!(" and less on a slow stick, as {tried} tell first") } else { String::new() },
        round * u64::from(most) + tried,
        round.get() / 10_000_000 + 1,
    ));
    if place.is_in_memory() {
        printer.remark(format!("note: {name} lies in memory (tmpfs): this measures memory, and no stick"));
    } else if place.is_on_system_disk() {
        printer.remark(format!(
            "note: {name} lies on the disk that the system runs from: this measures that disk"
        ));
    }
}

/// As many rounds as asked for, or as many as write what is usual.
fn rounds_most(arguments: &BenchMethods, size: Bytes) -> u32 {
    let usual = WRITTEN_USUAL / (size * WriteMethod::ALL.len() as u64);
    let usual = u32::try_from(usual.clamp(ROUNDS_LEAST, ROUNDS_MOST)).unwrap_or(1);
    arguments.rounds.unwrap_or(usual)
}

/// Rounds under way.
struct Rounds<'a> {
    arguments: &'a BenchMethods,
    place: &'a WriteTarget,
    interrupt: Interrupt,
    /// How much each way writes.
    size: Bytes,
    /// What told that, if anything did.
    tried: Option<Claim>,
    /// The ways that the filesystem does not take.
    refused: Vec<WriteMethod>,
    /// Of whole rounds only.
    claims: Vec<Claim>,
    /// How many those are.
    done: usize,
    spent: Duration,
    printer: &'a Printer,
}

impl Rounds<'_> {
    /// Rounds until enough agree, there are as many as announced, or the time is spent; one in any case.
    fn all(&mut self) -> Result<(), WriteMethodError> {
        self.adapt()?;
        let budget = self.arguments.time_budget;
        let announced = self.arguments.size.unwrap_or(SIZE_USUAL);
        let (most, mut longest) = (rounds_most(self.arguments, announced), Duration::ZERO);
        for round in 0..most {
            if round > 0 && self.spent + longest > budget {
                self.printer.remark(format!(
                    "{} of {most} rounds: another would end later than {} after the start (--time-budget)",
                    round,
                    duration::told(budget)
                ));
                return Ok(());
            }
            if round >= ROUNDS_ENOUGH && self.arguments.rounds.is_none() && self.is_settled() {
                return Ok(());
            }
            let before = self.spent;
            self.round(round)?;
            longest = longest.max(self.spent - before);
        }
        Ok(())
    }

    /// Where nobody said how much each way writes, as little as lets some rounds end within the time budget, or fits.
    fn adapt(&mut self) -> Result<(), WriteMethodError> {
        if self.arguments.size.is_some() {
            return Ok(());
        }
        let room = self.place.space()?;
        let Some(tried) = self.place.write(WriteMethod::FlushAtEnd, SIZE_LEAST, &self.interrupt)? else {
            return Ok(());
        };
        self.spent += tried.total;
        self.tried = Some(claim(&tried));
        let rounds = self.arguments.rounds.map_or(ROUNDS_LEAST, |rounds| ROUNDS_LEAST.min(rounds.into()));
        let each = self.arguments.time_budget.as_secs_f64() / (rounds * WriteMethod::ALL.len() as u64) as f64;
        let times = (each / tried.total.as_secs_f64().max(SECONDS_MIN)).min(SIZE_USUAL.as_f64());
        self.size = fitting(times, room);
        if self.size < SIZE_USUAL {
            self.printer.remark(format!(
                "{SIZE_LEAST} took {:.1} s: each way writes {}; --size or --time-budget sets it otherwise",
                tried.total.as_secs_f64(),
                self.size
            ));
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        ways_are_settled(&MethodsData { claims: self.claims.clone(), ..MethodsData::default() })
    }

    /// Each way once; each round begins with another, so that none always comes behind the same one.
    fn round(&mut self, round: u32) -> Result<(), WriteMethodError> {
        self.printer.detail(format!("round {}", round + 1));
        let mut ways = WriteMethod::ALL;
        let first = round as usize % ways.len();
        ways.rotate_left(first);
        let mut claims = Vec::new();
        for way in ways {
            claims.extend(self.write(way)?);
        }
        self.claims.extend(claims);
        self.done += 1;
        Ok(())
    }

    /// One way, unless the filesystem refuses it.
    fn write(&mut self, way: WriteMethod) -> Result<Option<Claim>, WriteMethodError> {
        if self.refused.contains(&way) {
            return Ok(None);
        }
        let command = kind(way).command();
        self.printer.detail(command);
        let written = self.place.write(way, self.size, &self.interrupt)?;
        if let Some(written) = &written {
            self.spent += written.total;
        } else {
            self.refused.push(way);
            self.printer.remark(format!("note: {command} is refused by this filesystem, and left out"));
        }
        Ok(written.as_ref().map(claim))
    }
}

/// The largest size that takes no longer than so many times as long as the least, and for which there is room.
fn fitting(times: f64, room: Bytes) -> Bytes {
    let doubled = std::iter::successors(Some(SIZE_LEAST), |size| Some(*size * 2));
    let sizes = doubled.take_while(|size| *size <= SIZE_USUAL.min(room));
    let fits = |size: &Bytes| size.as_f64() <= SIZE_LEAST.as_f64() * times;
    sizes.filter(fits).last().unwrap_or(SIZE_LEAST)
}

const fn kind(way: WriteMethod) -> Way {
    match way {
        WriteMethod::Zeros => Way::Zeros,
        WriteMethod::Random => Way::Random,
        WriteMethod::FlushAtEnd => Way::FlushAtEnd,
        WriteMethod::FlushEach => Way::FlushEach,
        WriteMethod::Direct => Way::Direct,
    }
}

/// Nothing takes no time at all, whatever a clock says.
const SECONDS_MIN: f64 = 1e-9;

fn claim(written: &WriteMethodResult) -> Claim {
    let seconds = |time: Duration| time.as_secs_f64().max(SECONDS_MIN);
    Claim {
        way: kind(written.method),
        bytes: written.bytes,
        claimed_s: seconds(written.reported),
        durable_s: seconds(written.durable),
        source_s: written.source.map(seconds),
    }
}

fn failure(error: WriteMethodError) -> Failure {
    let exit = match &error {
        WriteMethodError::Open(error) if error.is_for_safety() => Exit::Refused,
        WriteMethodError::System { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_stick_or_a_small_one_is_asked_for_less() {
        let much = Bytes::gib(4);
        assert_eq!(fitting(100.0, much), Bytes::mib(64));
        assert_eq!(fitting(3.0, much), Bytes::mib(16));
        assert_eq!(fitting(0.1, much), Bytes::mib(8), "three rounds take longer than the budget then");
        assert_eq!(fitting(100.0, Bytes::mib(40)), Bytes::mib(32));
    }
}
