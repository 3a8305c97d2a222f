//! `flashscope bench methods`: common write methods compared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::{Budget, Cost};
use flashscope_linux::{BenchDirectory, OpenError, WriteTarget, WriteTargetError};
use flashscope_measure::workload::Stopped;
use flashscope_measure::workload::methods::{METHODS, MethodsEvent, MethodsMeasured, SIZE_MIN, WriteMethods};
use flashscope_record::observation::{Cause, Data, Ended, Instead, MethodTiming, MethodsData, StopReason};
use flashscope_report::serve_command;

use crate::args::BenchMethods;
use crate::command::show;
use crate::exit::{Exit, Failure};
use crate::interrupt::{INTERRUPTED, on_interrupt};
use crate::printer::Printer;
use crate::target::{self, plugged};
use crate::{confirm, duration, outputs};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target that cannot be used, 3 if writing fails, 4 without permission to erase.
pub fn run(arguments: &BenchMethods, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    outputs::permit(&arguments.output.files, Path::new(name))?;
    let mut place = place(arguments, printer)?;
    announce(arguments, &place, printer);
    let workload = workload(arguments);
    let measured =
        workload.measure(&mut place, &on_interrupt()?, &mut |event| print(event, arguments, printer));
    show(arguments, &place, &measured, printer)?;
    match measured.ended {
        Err(Stopped::Interrupted) => {
            printer.remark(INTERRUPTED);
            Ok(Exit::Interrupted)
        }
        Err(Stopped::Host(error)) => Err(failure(error)),
        Ok(()) => Ok(Exit::Fine),
    }
}

/// Prints and stores the completed rounds. After an error without a completed round, the error alone is
/// reported.
fn show(
    arguments: &BenchMethods,
    place: &WriteTarget,
    measured: &MethodsMeasured<WriteTargetError>,
    printer: &Printer,
) -> Result<(), Failure> {
    let ended = match &measured.ended {
        Ok(()) => Ended::Complete,
        Err(Stopped::Interrupted) => show::interrupted(measured.rounds),
        Err(_) if measured.rounds == 0 => return Ok(()),
        Err(Stopped::Host(error)) => {
            Ended::Early { reason: StopReason::Failed { error: error.to_string() }, cause: Cause::Device }
        }
    };
    let name = &arguments.target;
    let plugged = plugged(&device_under(Path::new(name)));
    let cost = cost(&measured.timings, measured.pilot.as_ref());
    let (timings, link) = (measured.timings.clone(), Some(plugged.link.clone()));
    let data = MethodsData { timings, link, instead: instead(place) };
    let seen = show::bench_observations(Data::Methods(data), 0, ended);
    let run = show::run_of_bench(name, plugged, seen, cost);
    show::bench(&run, &arguments.output.files, printer)
}

const fn workload(arguments: &BenchMethods) -> WriteMethods {
    let BenchMethods { size, rounds, time_budget, .. } = arguments;
    WriteMethods { size: *size, rounds: *rounds, time_budget: *time_budget }
}

/// The device under a directory, as it was mounted; for anything else, the path itself.
fn device_under(path: &Path) -> PathBuf {
    let ground = path.is_dir().then(|| BenchDirectory::open(path).ok()).flatten();
    ground.map_or_else(|| path.to_owned(), |place| PathBuf::from(&place.backing_filesystem().source))
}

fn instead(place: &WriteTarget) -> Vec<Instead> {
    let all = [(place.is_in_memory(), Instead::Memory), (place.is_on_system_disk(), Instead::SystemDisk)];
    all.into_iter().filter_map(|(is_so, instead)| is_so.then_some(instead)).collect()
}

/// What was written. A write is 1 MiB.
fn cost(timings: &[MethodTiming], pilot: Option<&MethodTiming>) -> Cost {
    let timings = || timings.iter().chain(pilot);
    Cost {
        writes: timings().map(|timing| timing.bytes / Bytes::mib(1)).sum(),
        bytes_written: timings().map(|timing| timing.bytes).sum(),
        device_time: timings().map(|timing| Duration::from_secs_f64(timing.durable_s)).sum(),
        ..Cost::default()
    }
}

/// A file of its own in a directory, or the target itself if it may be erased.
fn place(arguments: &BenchMethods, printer: &Printer) -> Result<WriteTarget, Failure> {
    let name = &arguments.target;
    if let Some(stick) = name.strip_prefix("sim:") {
        let error = anyhow!(
            "{name} is a virtual stick in virtual time and has no page cache, so all methods are equal; serve it as a disk \
             ({}), and name that disk",
            serve_command(stick)
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    let path = Path::new(name);
    if path.is_dir() {
        if let Some(given) = arguments.erase.given() {
            let error = anyhow!("{given}: in a directory, only a file of its own is written; leave it out");
            return Err(Failure { exit: Exit::Usage, error });
        }
        return WriteTarget::temporary_file(path).map_err(failure);
    }
    if arguments.erase.scratch {
        let error = anyhow!(
            "bench methods writes through the page cache and cannot put data back; name a directory on {name}, which needs no \
             --scratch"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    match confirm::erase(name, &arguments.erase, printer)? {
        Some(consent) => {
            // It is refused like every target that is written. A journal that is not restored yet is
            // recognised by reading the device, which a `WriteTarget` cannot do.
            drop(target::open(name, Some(&consent), Budget::UNLIMITED)?);
            WriteTarget::erase(path, &consent, &on_interrupt()?).map_err(failure)
        }
        None if path.exists() => {
            let error = anyhow!("this writes to {name}; allow it with --erase, or name a directory on it");
            Err(Failure { exit: Exit::Refused, error })
        }
        None => Err(failure(OpenError::Missing { path: name.clone() }.into())),
    }
}

/// Prints what will be measured and written.
fn announce(arguments: &BenchMethods, place: &WriteTarget, printer: &Printer) {
    let (name, workload) = (&arguments.target, workload(arguments));
    let (size, most) = (workload.planned_size(), workload.rounds_max());
    let round = size * METHODS.len() as u64;
    let pilot = if arguments.size.is_none() { SIZE_MIN } else { Bytes::ZERO };
    let further = match most {
        1 => String::new(),
        _ => format!(
            "; after the first, none starts that would end later than {} after the start (--time-budget)",
            duration::exact(arguments.time_budget)
        ),
    };
    printer.remark(format!(
        "{name}: {} of five methods, {size} each{}, at most {} in total; at 10 MB/s a round takes {} s{further}",
        if most == 1 { "one round".to_owned() } else { format!("at most {most} rounds") },
        if pilot > Bytes::ZERO { " (less on a slow stick)" } else { "" },
        round * u64::from(most) + pilot,
        round.get() / 10_000_000 + 1,
    ));
    if place.is_in_memory() {
        printer.remark(format!("note: {name} is in memory (tmpfs): this measures memory, not a stick"));
    } else if place.is_on_system_disk() {
        printer.remark(format!("note: {name} is on the system disk: this measures that disk"));
    }
}

/// Prints what happens while the workload runs.
fn print(event: MethodsEvent, arguments: &BenchMethods, printer: &Printer) {
    match event {
        MethodsEvent::SizeReduced { pilot, size } => printer.remark(format!(
            "{SIZE_MIN} took {:.1} s: each method writes {size}; change it with --size or --time-budget",
            pilot.as_secs_f64()
        )),
        MethodsEvent::Round(number) => printer.detail(format!("round {number}")),
        MethodsEvent::Method(method) => printer.detail(method.command()),
        MethodsEvent::Refused(method) => printer
            .remark(format!("note: this filesystem refuses {}; it is left out", method.command())),
        MethodsEvent::BudgetSpent { rounds, rounds_max } => printer.remark(format!(
            "{rounds} of {rounds_max} rounds: another would end later than {} after the start (--time-budget)",
            duration::exact(arguments.time_budget)
        )),
    }
}

fn failure(error: WriteTargetError) -> Failure {
    let exit = match &error {
        WriteTargetError::Open(error) if error.is_for_safety() => Exit::Refused,
        WriteTargetError::System { .. } | WriteTargetError::Device { .. } => Exit::Failed,
        WriteTargetError::Open(OpenError::Interrupted { .. }) => Exit::Interrupted,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}
