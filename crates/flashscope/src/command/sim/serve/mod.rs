//! `flashscope sim serve`: a virtual stick as a real disk, until somebody stops it.

mod account;
mod stick;

use std::sync::mpsc::{self, Sender};
use std::thread;

use flashscope_device::layer::FaultLog;
use flashscope_linux::serve::{ServeOptions, ServeSpeed, Serving, Stopped};
use flashscope_sim::target::Target;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::SimServe;
use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;
use stick::Stick;

/// Why serving is to end.
enum End {
    /// Ctrl-C, SIGTERM, or the terminal is gone.
    Signal,
    /// Somebody else unmounted it.
    Unmounted,
}

pub fn run(arguments: &SimServe, printer: &Printer) -> Result<(), Failure> {
    let target = Target::parse(&arguments.stick).or_exit_bare(Exit::Usage)?;
    let (stick, faults) = stick::make(arguments, &target)?;
    let (ends, end) = mpsc::channel();
    // From here on a signal is no sudden death: what gets mounted is unmounted again.
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).or_exit(Exit::Failed, "cannot watch for Ctrl-C")?;
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
    // The sender lives as long as the signals' thread, which never ends.
    let end = end.recv().unwrap_or(End::Signal);
    if matches!(end, End::Signal) {
        printer.remark("stopping; press Ctrl-C again if that takes too long");
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

/// Says where the disk is, at once: scripts wait for it.
fn ready(serving: &Serving<Stick>, target: &Target, printer: &Printer) -> Result<(), Failure> {
    serving.remarks().iter().for_each(|remark| printer.remark(remark));
    if printer.json {
        return line(
            printer,
            json!({
                "serving": {
                    "file": serving.file(),
                    "block_device": serving.block_device(),
                    "profile": target.profile.name,
                    "seed": target.seed,
                    "capacity_bytes": target.profile.capacity,
                }
            }),
        );
    }
    let paths = [Some(serving.file()), serving.block_device()];
    let lines = paths.into_iter().flatten().map(|path| format!("{}\n", path.display()));
    printer.result(&lines.collect::<String>())?;
    printer.remark(format!("serving {}; press Ctrl-C to stop", target.profile.description));
    Ok(())
}

/// Says what was served, how punctually, and what faults have cost.
fn finished(stopped: Stopped<Stick>, faults: &FaultLog, printer: &Printer) -> Result<(), Failure> {
    stopped.remarks.iter().for_each(|remark| printer.remark(remark));
    let events = faults.events();
    if printer.json {
        let failure = stopped.failure.as_ref().map(ToString::to_string);
        let faults: Vec<Value> = events.iter().map(account::fault).collect();
        line(
            printer,
            json!({ "served": account::json(&stopped.statistics), "failure": failure, "faults": faults }),
        )?;
    } else {
        account::words(&stopped.statistics).iter().for_each(|line| printer.remark(line));
        events.iter().for_each(|event| printer.remark(event));
        // A device that went away by a fault has said so among the events.
        stopped.failure.iter().filter(|_| events.is_empty()).for_each(|failure| printer.remark(failure));
    }
    let trace = stopped.device.map_or(Ok(()), |stick| stick.into_inner().1.finish());
    trace.or_exit(Exit::Failed, "the trace is not whole")
}

/// Documents of a line each, so that a script can read them as they come.
fn line(printer: &Printer, fields: Value) -> Result<(), Failure> {
    Ok(printer.result(&format!("{}\n", json::document(fields)))?)
}
