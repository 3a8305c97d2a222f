//! `flashscope sim replay`: an I/O trace on a virtual stick, in virtual time, compared with the recording.

mod histogram;
mod latencies;
mod show;
mod summary;

use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Faulty;
use flashscope_device::trace::{Ending, Playback, PlaybackOptions, TraceHeader, TraceReader};
use flashscope_device::{Bytes, Device, Pattern};
use flashscope_sim::VirtualStick;
use flashscope_sim::target::Target;

use self::summary::{Comparison, Outcome};
use crate::args::SimReplay;
use crate::exit::{Exit, Failure, OrExit};
use crate::outputs;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a trace that cannot be read or does not fit the stick, 3 if the stick fails.
pub fn run(arguments: &SimReplay, printer: &Printer) -> Result<(), Failure> {
    outputs::permit(arguments.latencies.as_slice(), &arguments.trace)?;
    let (header, playback) = read(&arguments.trace, printer)?;
    let target = target(arguments)?;
    check_fits(&playback, &target)?;
    let comparison = replay(arguments, &header, &playback, &target, printer)?;
    if let Some(file) = &arguments.latencies {
        latencies::write(file, &comparison.played)?;
        printer.remark(format!("wrote {}", file.display()));
    }
    if printer.json {
        return Ok(printer.document(&show::document(&comparison))?);
    }
    Ok(printer.result(&show::text(&comparison, printer.width()))?)
}

fn read(path: &Path, printer: &Printer) -> Result<(TraceHeader, Playback), Failure> {
    let name = path.display().to_string();
    let source: Box<dyn Read> = if name == "-" {
        Box::new(stdin())
    } else {
        Box::new(File::open(path).or_exit(Exit::Usage, format!("cannot open {name}"))?)
    };
    let mut reader = TraceReader::new(source).or_exit(Exit::Usage, name.clone())?;
    let records = reader.by_ref().collect::<Result<Vec<_>, _>>().or_exit(Exit::Usage, name.clone())?;
    if let Some(Ending::CutOff { position }) = reader.ending() {
        let count = records.len();
        printer.remark(format!(
            "{name} was cut off after {position} bytes; its {count} complete requests are replayed"
        ));
    }
    let playback = Playback::new(records);
    if playback.is_empty() {
        return Err(usage(format!("{name} holds no requests")));
    }
    Ok((reader.header().clone(), playback))
}

fn target(arguments: &SimReplay) -> Result<Target, Failure> {
    let name = arguments.stick.strip_prefix("sim:").unwrap_or(&arguments.stick);
    let mut target = Target::parse(name).or_exit_bare(Exit::Usage)?;
    if let Some(seed) = arguments.seed {
        target.seed = seed;
    }
    Ok(target)
}

fn usage(error: String) -> Failure {
    Failure { exit: Exit::Usage, error: anyhow!(error) }
}

fn check_fits(playback: &Playback, target: &Target) -> Result<(), Failure> {
    let (required, profile) = (playback.required_capacity(), &target.profile);
    if required <= profile.capacity {
        return Ok(());
    }
    let enough = required.round_up(Bytes::gib(1)).get() >> 30;
    Err(usage(format!(
        "the trace needs {required}, and {} holds {}; try '{}?capacity={enough}GiB'",
        profile.name, profile.capacity, profile.name
    )))
}

fn replay(
    arguments: &SimReplay,
    header: &TraceHeader,
    playback: &Playback,
    target: &Target,
    printer: &Printer,
) -> Result<Comparison, Failure> {
    let options =
        PlaybackOptions { skips_idle: arguments.as_fast_as_possible, queue_depth: arguments.queue_depth };
    let mut stick = VirtualStick::new(&target.profile, target.seed);
    let mut device = Faulty::new(&mut stick, &target.faults, target.seed).or_exit_bare(Exit::Usage)?;
    let log = device.log();
    let started_at = device.now();
    let played = playback.run(&mut device, options, Pattern::new(target.seed));
    let time = device.now().since(started_at);
    drop(device);
    log.events().iter().for_each(|event| printer.remark(event));
    let played = played.or_exit(Exit::Failed, "the replay ended early")?;
    let recorded = Outcome::recorded(&played, playback.recorded_time());
    let replayed = Outcome::replayed(&played, time);
    Ok(Comparison {
        trace: arguments.trace.display().to_string(),
        label: header.label.clone(),
        stick: target.profile.name.clone(),
        seed: target.seed,
        recorded,
        replayed,
        statistics: stick.statistics(),
        played,
    })
}
