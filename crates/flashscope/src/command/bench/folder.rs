//! What the parts of `bench` do alike in a folder: they ask for a file of their own, and fill it before it is read.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Cost, Interrupt, Interruptible, Meter};
use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};
use flashscope_linux::{FileSize, LinuxDevice};
use flashscope_record::observation::Ended;
use flashscope_record::run_file::RunFile;

use crate::args::Erase;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::target::{self, Target};

/// What is written at a time.
const PIECE: Bytes = Bytes::mib(1);

/// Whether a target is a folder. What needs no permission takes none.
///
/// # Errors
/// Exit code 2 for a folder with `--erase`.
pub fn is_folder(name: &str, erase: Option<&Erase>) -> Result<bool, Failure> {
    let is_folder = !name.starts_with("sim:") && Path::new(name).is_dir();
    if is_folder && erase.is_some_and(|erase| erase.erase) {
        let error = anyhow!("--erase: in a folder only a file of our own is written; leave it out");
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok(is_folder)
}

/// A file of our own in the folder `name` that holds data, so that there is something to read and no place is new to the filesystem. What
/// filling it costs is a part of `budget`; it takes half of the time at most.
///
/// # Errors
/// As [`target::open_in_folder`]; exit code 130 if it is interrupted while it fills, 2 if the budget does not last for the minimum, 3 if the
/// stick fails.
pub fn filled(
    name: &str,
    size: FileSize,
    budget: Budget,
    queue_depth: u32,
    printer: &Printer,
) -> Result<Target, Failure> {
    let fill = |device: &mut LinuxDevice, interrupt: &Interrupt| {
        let capacity = device.capabilities().capacity;
        let at_most = budget
            .device_time
            .map_or_else(String::new, |time| format!(", for {} s at most", (time / 2).as_secs_f64()));
        printer.remark(format!(
            "filling a file of {capacity} first{at_most}; that is part of no figure, and of the budget"
        ));
        let half = Budget { device_time: budget.device_time.map(|time| time / 2), ..budget };
        fill(name, device, interrupt, half, size.minimum)
    };
    target::open_in_folder(name, |_| size, budget, queue_depth, Some(&fill))
}

/// Fills a file as far as the budget lasts, and makes it end there.
fn fill(
    name: &str,
    device: &mut LinuxDevice,
    interrupt: &Interrupt,
    budget: Budget,
    minimum: Bytes,
) -> Result<Cost, Failure> {
    let (pattern, capacity) = (Pattern::new(0), device.capabilities().capacity);
    let mut metered = Meter::new(Interruptible::new(&mut *device, interrupt.clone()), budget);
    let mut filled = Bytes::ZERO;
    while filled < capacity {
        match metered.run(Op::write(ByteRange::new(filled, PIECE), pattern)) {
            Ok(written) => written.outcome.map_err(|error| given_up(name, Exit::Failed, error))?,
            Err(DeviceError::BudgetSpent { .. }) if filled >= minimum => break,
            Err(error) => return Err(given_up(name, exit_of(&error), error)),
        };
        filled += PIECE;
    }
    let cost = metered.cost();
    // The last flush belongs to it also where its time is up.
    let flushed = device.run(Op::Flush).map_err(|error| given_up(name, exit_of(&error), error))?;
    flushed.outcome.map_err(|error| given_up(name, Exit::Failed, error))?;
    device.shorten(filled).map_err(|error| given_up(name, Exit::Failed, error))?;
    Ok(cost)
}

const fn exit_of(error: &DeviceError) -> Exit {
    match error {
        DeviceError::Interrupted => Exit::Interrupted,
        DeviceError::BudgetSpent { .. } => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// The file has no name: closing it removed it.
fn given_up(name: &str, exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
    let context = format!("cannot fill a file in {name}; it is gone again, nothing of it is left");
    Failure { exit, error: error.into().context(context) }
}

/// What a file may hold, so that `share` of what may be written are enough to lay it down: nothing more is ever asked of the filesystem.
///
/// # Errors
/// Exit code 2 if the budget is below the minimum.
pub fn within(budget: &Budget, size: FileSize, share: u64) -> Result<FileSize, Failure> {
    let Some(bytes) = budget.bytes_written else { return Ok(size) };
    let room = (bytes / share).round_down(PIECE);
    if room < size.minimum {
        let error = anyhow!(
            "--write-budget {bytes}: in a folder a file of its own is laid down first, and that takes {} at least",
            size.minimum * share
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok(FileSize { wanted: size.wanted.min(room), ..size })
}

/// Says after an early end what became of the file.
pub fn say_gone(target: &Target, run: &RunFile, printer: &Printer) {
    let was_early = run.observations.iter().any(|seen| seen.ended != Ended::Complete);
    if target.is_own_file() && was_early {
        printer.remark(format!("flashscope's own file in {} is gone, nothing of it is left", target.text));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_linux::BenchDirectory;

    use super::*;

    const LEAST: Bytes = Bytes::mib(2);

    fn filled(budget: Budget, interrupt: &Interrupt) -> (Result<Cost, Failure>, Bytes, usize) {
        let folder = tempfile::tempdir().unwrap();
        let place = BenchDirectory::open(folder.path()).unwrap();
        let mut device = place.temporary_file(FileSize { wanted: Bytes::mib(4), minimum: LEAST }, 1).unwrap();
        let cost = fill("there", &mut device, interrupt, budget, LEAST);
        (cost, device.capabilities().capacity, std::fs::read_dir(folder.path()).unwrap().count())
    }

    #[test]
    fn filling_stays_within_the_budget_and_the_file_ends_there() {
        let of = |mib| Budget { bytes_written: Some(Bytes::mib(mib)), ..Budget::UNLIMITED };
        let (cost, capacity, left) = filled(of(3), &Interrupt::default());
        assert_eq!((cost.unwrap().bytes_written, capacity, left), (Bytes::mib(3), Bytes::mib(3), 0));
        let (cost, capacity, _) = filled(Budget::UNLIMITED, &Interrupt::default());
        assert_eq!((cost.unwrap().bytes_written, capacity), (Bytes::mib(4), Bytes::mib(4)));
        let failure = filled(of(1), &Interrupt::default()).0.unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        let no_time = Budget { device_time: Some(Duration::ZERO), ..Budget::UNLIMITED };
        assert_eq!(filled(no_time, &Interrupt::default()).0.unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn whoever_stops_the_filling_is_told_that_nothing_is_left() {
        let interrupt = Interrupt::default();
        interrupt.request();
        let (cost, _, left) = filled(Budget::UNLIMITED, &interrupt);
        let failure = cost.unwrap_err();
        assert_eq!((failure.exit, left), (Exit::Interrupted, 0));
        assert!(format!("{:#}", failure.error).contains("nothing of it is left"), "{:#}", failure.error);
    }

    #[test]
    fn no_more_is_reserved_than_may_be_written() {
        let size = FileSize { wanted: Bytes::mib(256), minimum: Bytes::mib(16) };
        let of = |mib| Budget { bytes_written: Some(Bytes::mib(mib)), ..Budget::UNLIMITED };
        assert_eq!(within(&of(100), size, 1).unwrap().wanted, Bytes::mib(100));
        assert_eq!(within(&of(100), size, 2).unwrap().wanted, Bytes::mib(50));
        assert_eq!(within(&Budget::UNLIMITED, size, 2).unwrap().wanted, Bytes::mib(256));
        let failure = within(&of(20), size, 2).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.error.to_string().contains("32 MiB at least"), "{}", failure.error);
    }
}
