//! `flashscope sim serve`: serves a virtual stick as a real disk.

mod account;
mod stick;

use std::sync::mpsc::{self, Sender};
use std::thread;

use flashscope_device::layer::FaultLog;
use flashscope_linux::serve::{ServeOptions, ServeSpeed, Serving, Stopped};
use flashscope_sim::target::Target;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::SimServe;
use crate::document::{ServedDocument, ServingDocument};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use stick::Stick;

/// Why serving ends.
enum End {
    /// Ctrl-C, SIGTERM, or a hang-up of the terminal.
    Signal,
    /// It was unmounted from outside.
    Unmounted,
}

pub fn run(arguments: &SimServe, printer: &Printer) -> Result<(), Failure> {
    let target = Target::parse(&arguments.stick).or_exit_bare(Exit::Usage)?;
    let (stick, faults) = stick::make(arguments, &target)?;
    let (ends, end) = mpsc::channel();
    // From here on a signal unmounts the stick before the program ends.
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).or_exit(Exit::Failed, "cannot handle Ctrl-C")?;
    let unmounted = report(&ends, End::Unmounted);
    let serving = Serving::start(stick, &options(arguments), unmounted).or_exit_bare(Exit::Usage)?;
    let emergency = serving.forced_unmount();
    thread::spawn(move || {
        for (count, _signal) in signals.forever().enumerate() {
            match count {
                0 => report(&ends, End::Signal)(),
                _ => emergency.run(),
            }
        }
    });
    ready(&serving, &target, printer)?;
    // The thread that holds the sender never ends.
    let end = end.recv().unwrap_or(End::Signal);
    if matches!(end, End::Signal) {
        printer.remark("stopping; press Ctrl-C again if this takes too long");
    }
    finished(serving.stop(), &faults, printer)
}

fn report(ends: &Sender<End>, end: End) -> impl FnOnce() + Send + 'static {
    let ends = ends.clone();
    move || drop(ends.send(end))
}

fn options(arguments: &SimServe) -> ServeOptions {
    ServeOptions {
        mount: arguments.mount.clone(),
        block_device: arguments.block_device,
        speed: if arguments.instant { ServeSpeed::Immediate } else { ServeSpeed::Factor(arguments.speed) },
    }
}

/// Prints the paths immediately: scripts wait for them.
fn ready(serving: &Serving<Stick>, target: &Target, printer: &Printer) -> Result<(), Failure> {
    serving.remarks().iter().for_each(|remark| printer.remark(remark));
    if printer.json {
        let document = ServingDocument::new(serving.file(), serving.block_device(), target);
        return Ok(printer.document_line(&document)?);
    }
    let paths = [Some(serving.file()), serving.block_device()];
    let lines = paths.into_iter().flatten().map(|path| format!("{}\n", path.display()));
    printer.result(&lines.collect::<String>())?;
    printer.remark(format!("serving {}; press Ctrl-C to stop", target.profile.description));
    Ok(())
}

/// Prints what was served, how late completions were, and the faults that occurred.
fn finished(stopped: Stopped<Stick>, faults: &FaultLog, printer: &Printer) -> Result<(), Failure> {
    stopped.remarks.iter().for_each(|remark| printer.remark(remark));
    let events = faults.events();
    if printer.json {
        let failure = stopped.failure.as_ref().map(ToString::to_string);
        printer.document_line(&ServedDocument::new(&stopped.statistics, failure, &events))?;
    } else {
        account::words(&stopped.statistics).iter().for_each(|line| printer.remark(line));
        events.iter().for_each(|event| printer.remark(event));
        // A fault that removes the device is among the events.
        stopped.failure.iter().filter(|_| events.is_empty()).for_each(|failure| printer.remark(failure));
    }
    let trace = stopped.device.map_or(Ok(()), |stick| stick.into_inner().1.finish());
    trace.or_exit(Exit::Failed, "the trace is incomplete")
}
