//! `flashscope sim serve`: a virtual stick as a real disk, until somebody stops it.

use std::sync::mpsc::{self, Sender};
use std::thread;

use flashscope_device::Device;
use flashscope_linux::serve::{Backed, Pace, Punctuality, ServeOptions, Served, Serving, Stopped};
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::SimServe;
use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

/// A stick, in whatever it is wrapped.
type Stick = Box<dyn Device + Send>;

/// Why serving is to end.
enum End {
    /// Ctrl-C, SIGTERM, or the terminal is gone.
    Signal,
    /// Somebody else unmounted it.
    Unmounted,
}

pub fn run(arguments: &SimServe, printer: &Printer) -> Result<(), Failure> {
    let target = Target::parse(&arguments.stick).or_exit_bare(Exit::Usage)?;
    let stick = stick(arguments, &target)?;
    let (ends, end) = mpsc::channel();
    // From here on a signal is no sudden death: what gets mounted is unmounted again.
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).or_exit(Exit::Failed, "cannot watch for Ctrl-C")?;
    let unmounted = report(&ends, End::Unmounted);
    let serving = Serving::start(stick, &options(arguments), unmounted).or_exit_bare(Exit::Usage)?;
    let emergency = serving.emergency();
    thread::spawn(move || {
        for (count, _signal) in signals.forever().enumerate() {
            match count {
                0 => report(&ends, End::Signal)(),
                _ => emergency.pull(),
            }
        }
    });
    ready(&serving, &target, printer)?;
    // The sender lives as long as the signals' thread, which never ends.
    let end = end.recv().unwrap_or(End::Signal);
    if matches!(end, End::Signal) {
        printer.remark("stopping; press Ctrl-C again if that takes too long");
    }
    finished(&serving.stop(), printer)
}

fn report(ends: &Sender<End>, end: End) -> impl FnOnce() + Send + 'static {
    let ends = ends.clone();
    move || drop(ends.send(end))
}

fn stick(arguments: &SimServe, target: &Target) -> Result<Stick, Failure> {
    let stick = VirtualStick::new(&target.profile, target.seed);
    Ok(match &arguments.backing {
        Some(file) => Box::new(Backed::open(stick, file).or_exit_bare(Exit::Usage)?),
        None => Box::new(stick),
    })
}

fn options(arguments: &SimServe) -> ServeOptions {
    ServeOptions {
        mount: arguments.mount.clone(),
        block_device: arguments.block_device,
        pace: if arguments.instant { Pace::AtOnce } else { Pace::Speed(arguments.speed) },
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

/// Says what was served and how punctually.
fn finished(stopped: &Stopped<Stick>, printer: &Printer) -> Result<(), Failure> {
    stopped.remarks.iter().for_each(|remark| printer.remark(remark));
    if let Some(failure) = &stopped.failure {
        printer.remark(failure);
    }
    if printer.json {
        let failure = stopped.failure.as_ref().map(ToString::to_string);
        return line(printer, json!({ "served": account(&stopped.served), "failure": failure }));
    }
    for text in words(&stopped.served) {
        printer.remark(text);
    }
    Ok(())
}

/// Documents of a line each, so that a script can read them as they come.
fn line(printer: &Printer, fields: Value) -> Result<(), Failure> {
    Ok(printer.result(&format!("{}\n", json::document(fields)))?)
}

fn account(served: &Served) -> Value {
    let microseconds = |duration: std::time::Duration| duration.as_secs_f64() * 1e6;
    json!({
        "reads": served.reads,
        "writes": served.writes,
        "flushes": served.flushes,
        "discards": served.discards,
        "bytes_read": served.bytes_read,
        "bytes_written": served.bytes_written,
        "failed": served.failed,
        "completion_error": served.error.map(|error| json!({
            "median_us": microseconds(error.median),
            "percentile_99_us": microseconds(error.percentile_99),
            "max_us": microseconds(error.max),
            "late": error.late,
        })),
    })
}

fn words(served: &Served) -> Vec<String> {
    let mut lines = vec![format!(
        "served {} reads ({}), {} writes ({}), {} flushes, {} discards; {} failed",
        served.reads,
        served.bytes_read,
        served.writes,
        served.bytes_written,
        served.flushes,
        served.discards,
        served.failed
    )];
    lines.extend(served.error.map(|Punctuality { median, percentile_99, max, late }| {
        format!(
            "answers came {median:.0?} (median), {percentile_99:.0?} (99th percentile) and at most {max:.0?} after \
             their instant; {late} were late because this machine took longer than the stick"
        )
    }));
    lines
}
