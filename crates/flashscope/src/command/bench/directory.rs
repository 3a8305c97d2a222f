//! `bench` in a directory: makes a file of its own, and fills it before it is read.

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

/// The size of a write while filling.
const WRITE_SIZE: Bytes = Bytes::mib(1);

/// Whether a target is a directory.
///
/// # Errors
/// Exit code 2 for a directory with `--erase` or `--scratch`, which it does not need.
pub fn is_directory(name: &str, erase: Option<&Erase>) -> Result<bool, Failure> {
    let is_directory = !name.starts_with("sim:") && Path::new(name).is_dir();
    if is_directory && let Some(given) = erase.and_then(Erase::given) {
        let error = anyhow!("{given}: in a directory, only a file of its own is written; leave it out");
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok(is_directory)
}

/// A file of its own in the directory `name`, filled with data: reads then reach the device, and the
/// filesystem has allocated all blocks. Filling counts towards `budget` and takes at most half of its time.
///
/// # Errors
/// As [`target::open_in_directory`]; exit code 130 if filling is interrupted, 2 if the budget is below the
/// smallest size, 3 if the stick fails.
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
            .map_or_else(String::new, |time| format!(", for at most {} s", (time / 2).as_secs_f64()));
        printer.remark(format!(
            "filling a {capacity} file first{at_most}; this is not part of the results, but counts towards the budgets"
        ));
        let half = Budget { device_time: budget.device_time.map(|time| time / 2), ..budget };
        fill(name, device, interrupt, half, size.minimum)
    };
    target::open_in_directory(name, |_| size, budget, queue_depth, Some(&fill))
}

/// Fills a file as far as the budget allows, and truncates it there.
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
        match metered.run(Op::write(ByteRange::new(filled, WRITE_SIZE), pattern)) {
            Ok(written) => written.outcome.map_err(|error| fill_failure(name, Exit::Failed, error))?,
            Err(DeviceError::BudgetSpent { .. }) if filled >= minimum => break,
            Err(error) => return Err(fill_failure(name, exit_of(&error), error)),
        };
        filled += WRITE_SIZE;
    }
    let cost = metered.cost();
    // The flush runs even if the budget is spent.
    let flushed = device.run(Op::Flush).map_err(|error| fill_failure(name, exit_of(&error), error))?;
    flushed.outcome.map_err(|error| fill_failure(name, Exit::Failed, error))?;
    device.shorten(filled).map_err(|error| fill_failure(name, Exit::Failed, error))?;
    Ok(cost)
}

const fn exit_of(error: &DeviceError) -> Exit {
    match error {
        DeviceError::Interrupted => Exit::Interrupted,
        DeviceError::BudgetSpent { .. } => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// A failure while filling. The file has no name, so it is already removed.
fn fill_failure(name: &str, exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
    let context = format!("cannot fill a file in {name}; the file is removed");
    Failure { exit, error: error.into().context(context) }
}

/// Limits the size of a file so that the write budget is enough to write it `passes` times.
///
/// # Errors
/// Exit code 2 if the budget is below the least.
pub fn within(budget: &Budget, size: FileSize, passes: u64) -> Result<FileSize, Failure> {
    let Some(bytes) = budget.bytes_written else { return Ok(size) };
    let room = (bytes / passes).round_down(WRITE_SIZE);
    if room < size.minimum {
        let error = anyhow!(
            "--write-budget {bytes}: the file in the directory needs at least {}",
            size.minimum * passes
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    Ok(FileSize { wanted: size.wanted.min(room), ..size })
}

/// After an early end, prints that the file is removed.
pub fn print_removed(target: &Target, run: &RunFile, printer: &Printer) {
    let was_early = run.observations.iter().any(|seen| seen.ended != Ended::Complete);
    if target.is_own_file() && was_early {
        printer.remark(format!("the test file in {} is removed", target.text));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use flashscope_linux::BenchDirectory;

    use super::*;

    const LEAST: Bytes = Bytes::mib(2);

    fn filled(budget: Budget, interrupt: &Interrupt) -> (Result<Cost, Failure>, Bytes, usize) {
        let directory = tempfile::tempdir().unwrap();
        let place = BenchDirectory::open(directory.path()).unwrap();
        let mut device = place.temporary_file(FileSize { wanted: Bytes::mib(4), minimum: LEAST }, 1).unwrap();
        let cost = fill("there", &mut device, interrupt, budget, LEAST);
        (cost, device.capabilities().capacity, std::fs::read_dir(directory.path()).unwrap().count())
    }

    #[test]
    fn filling_stops_at_the_budget_and_truncates_the_file() {
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
    fn interrupted_filling_reports_that_the_file_is_removed() {
        let interrupt = Interrupt::default();
        interrupt.request();
        let (cost, _, left) = filled(Budget::UNLIMITED, &interrupt);
        let failure = cost.unwrap_err();
        assert_eq!((failure.exit, left), (Exit::Interrupted, 0));
        assert!(format!("{:#}", failure.error).contains("the file is removed"), "{:#}", failure.error);
    }

    #[test]
    fn file_size_is_limited_by_the_write_budget() {
        let size = FileSize { wanted: Bytes::mib(256), minimum: Bytes::mib(16) };
        let of = |mib| Budget { bytes_written: Some(Bytes::mib(mib)), ..Budget::UNLIMITED };
        assert_eq!(within(&of(100), size, 1).unwrap().wanted, Bytes::mib(100));
        assert_eq!(within(&of(100), size, 2).unwrap().wanted, Bytes::mib(50));
        assert_eq!(within(&Budget::UNLIMITED, size, 2).unwrap().wanted, Bytes::mib(256));
        let failure = within(&of(20), size, 2).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.error.to_string().contains("at least 32 MiB"), "{}", failure.error);
    }
}
