//! `flashscope bench methods`: the same writes as people do them, side by side.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::{Cost, Interrupt};
use flashscope_linux::{FilesPlace, OpenError, Place, WayToWrite, WaysError, Written};
use flashscope_probe::observation::{Claim, Data, Ended, Instead, MethodsData, Way};
use serde_json::Value;

use crate::args::BenchMethods;
use crate::command::show;
use crate::confirm;
use crate::exit::{Exit, Failure};
use crate::interrupt::on_interrupt;
use crate::outputs;
use crate::printer::Printer;
use crate::target::plugged;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a target that cannot be used so, 3 if writing fails, 4 without permission to erase.
pub fn run(arguments: &BenchMethods, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    outputs::permit(&arguments.output.files, Path::new(name))?;
    let place = place(arguments, printer)?;
    announce(arguments, &place, printer);
    let interrupt = on_interrupt()?;
    let claims = match claims(&place, arguments.size, &interrupt, printer) {
        Err(WaysError::Interrupted) => return Ok(Exit::Interrupted),
        claims => claims.map_err(failure)?,
    };
    let plugged = plugged(&below(Path::new(name)));
    let cost = cost(&claims);
    let data = MethodsData { claims, link: Some(plugged.link.clone()), instead: instead(&place) };
    let seen = show::seen_by_bench(Data::Methods(data), 0, Ended::Complete);
    let run = show::run_of_bench(name, plugged, seen, cost);
    let shown = show::findings(&run, &[], &Value::Null, printer);
    let stored = outputs::write(&arguments.output.files, &run, &[], printer);
    shown.and(stored).map(|()| Exit::Fine)
}

/// What a directory lies on, as it was named when it was mounted; anything else itself.
fn below(path: &Path) -> PathBuf {
    let ground = path.is_dir().then(|| FilesPlace::open(path).ok()).flatten();
    ground.map_or_else(|| path.to_owned(), |place| PathBuf::from(&place.ground().source))
}

fn instead(place: &Place) -> Vec<Instead> {
    let all = [(place.is_in_memory(), Instead::Memory), (place.is_on_system_disk(), Instead::SystemDisk)];
    all.into_iter().filter_map(|(is_so, instead)| is_so.then_some(instead)).collect()
}

/// What was written, 1 MiB at a time.
fn cost(claims: &[Claim]) -> Cost {
    Cost {
        writes: claims.iter().map(|claim| claim.bytes / Bytes::mib(1)).sum(),
        bytes_written: claims.iter().map(|claim| claim.bytes).sum(),
        device_time: claims.iter().map(|claim| Duration::from_secs_f64(claim.durable_s)).sum(),
        ..Cost::default()
    }
}

/// A file of our own in a directory; or the target itself, which may be erased.
fn place(arguments: &BenchMethods, printer: &Printer) -> Result<Place, Failure> {
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
        return Place::own_file(path).map_err(failure);
    }
    match confirm::erase(name, &arguments.erase, printer)? {
        Some(consent) => Place::erase(path, &consent).map_err(failure),
        None if path.exists() => {
            let error = anyhow!("this writes to {name}; allow it with --erase, or name a directory on it");
            Err(Failure { exit: Exit::Refused, error })
        }
        None => Err(failure(OpenError::Missing { path: name.clone() }.into())),
    }
}

/// Says what it will take before it begins, and what is measured.
fn announce(arguments: &BenchMethods, place: &Place, printer: &Printer) {
    let (name, size) = (&arguments.target, arguments.size);
    let all = size * WayToWrite::ALL.len() as u64;
    printer.remark(format!(
        "{name}: five ways, {size} each, {all} written in all; at 10 MB/s that is {} s",
        all.get() / 10_000_000
    ));
    if place.is_in_memory() {
        printer.remark(format!("note: {name} lies in memory (tmpfs): this measures memory, and no stick"));
    } else if place.is_on_system_disk() {
        printer.remark(format!(
            "note: {name} lies on the disk that the system runs from: this measures that disk"
        ));
    }
}

/// Every way that the filesystem takes.
fn claims(
    place: &Place,
    size: Bytes,
    interrupt: &Interrupt,
    printer: &Printer,
) -> Result<Vec<Claim>, WaysError> {
    let mut claims = Vec::new();
    for way in WayToWrite::ALL {
        let kind = kind(way);
        printer.detail(kind.command());
        match place.write(way, size, interrupt)? {
            Some(written) => claims.push(claim(&written)),
            None => printer
                .remark(format!("note: {} is refused by this filesystem, and left out", kind.command())),
        }
    }
    Ok(claims)
}

const fn kind(way: WayToWrite) -> Way {
    match way {
        WayToWrite::Zeros => Way::Zeros,
        WayToWrite::Random => Way::Random,
        WayToWrite::FlushAtEnd => Way::FlushAtEnd,
        WayToWrite::FlushEach => Way::FlushEach,
        WayToWrite::Direct => Way::Direct,
    }
}

/// Nothing takes no time at all, whatever a clock says.
const SECONDS_MIN: f64 = 1e-9;

fn claim(written: &Written) -> Claim {
    let seconds = |time: Duration| time.as_secs_f64().max(SECONDS_MIN);
    Claim {
        way: kind(written.way),
        bytes: written.bytes,
        claimed_s: seconds(written.claimed),
        durable_s: seconds(written.durable),
        source_s: written.source.map(seconds),
    }
}

fn failure(error: WaysError) -> Failure {
    let exit = match &error {
        WaysError::Open(error) if error.is_for_safety() => Exit::Refused,
        WaysError::System { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}
