//! `flashscope verify DIR --full`: the free space of a mounted stick is filled with files and read back.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Interruptible;
use flashscope_device::{Bytes, Device, DeviceError};
use flashscope_linux::{BackingFilesystem, BenchDirectory, Roots, identify};
use flashscope_measure::capacity::full::{begin, fill_and_verify};
use flashscope_record::full_capacity::FullProgress;
use flashscope_report::counted;
use flashscope_report::files::not_a_stick;
use flashscope_report::full_capacity::{Scope, so_far};

use super::verify_full::{TimeLeft, after_verdict, print};
use crate::args::Verify;
use crate::document::{FreeSpaceDocument, Identity, VerifyFullDocument};
use crate::exit::{Exit, Failure, OrExit};
use crate::interrupt::on_interrupt;
use crate::printer::Printer;
use crate::progress::Progress;
use crate::seed;
use crate::target::{directory_failure as failure, instead};

/// Requests in flight.
const QUEUE_DEPTH: u32 = 4;

/// Runs the command. No other file is touched, so no permission is needed.
///
/// # Errors
/// Exit code 2 if the directory cannot be used, 4 if it lies on no stick, 3 if the system fails.
pub fn run(arguments: &Verify, printer: &Printer) -> Result<Exit, Failure> {
    let name = &arguments.target;
    let place = BenchDirectory::open(Path::new(name)).map_err(failure)?;
    let ground = place.backing_filesystem();
    if let Some(storage) = ground.non_stick.first() {
        let error = anyhow!(
            "{name}: {}; filling it could harm this computer, so only a mounted stick is filled",
            not_a_stick(instead(*storage))
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    let interrupt = on_interrupt()?;
    let space = place.free_space(QUEUE_DEPTH).map_err(failure)?;
    if space.removed() > 0 {
        let files = counted(space.removed() as u64, "file");
        printer.remark(format!("removed {files} of an earlier test"));
    }
    let tested = space.capabilities().capacity;
    let stick = stick_capacity(ground).unwrap_or(place.capacity().map_err(failure)?);
    printer.remark(format!(
        "{name}: {tested} of free space are filled with files and read back; they are removed at the end"
    ));
    if space.is_buffered() {
        printer.remark("note: this filesystem refuses direct I/O; its files are dropped from memory before they are read");
    }
    let free_space = FreeSpaceDocument {
        tested_bytes: tested.get(),
        stick_bytes: stick.get(),
        is_buffered: space.is_buffered(),
    };
    let mut progress = begin(&space, arguments.seed.unwrap_or_else(seed::random));
    let mut device = Interruptible::new(space, interrupt);
    let mut time_left = TimeLeft::due();
    let mut store = |durable: &FullProgress| {
        time_left.after(durable).into_iter().for_each(|line| printer.remark(line));
    };
    let mut observer = Progress::new(printer);
    let result = fill_and_verify(&mut device, &mut progress, &mut store, &mut observer);
    let removed = device.into_device().remove().or_exit(Exit::Failed, "cannot remove the files of the test");
    let verdict = match result {
        Ok(verdict) => verdict,
        Err(DeviceError::Interrupted) => {
            so_far(&progress).into_iter().for_each(|seen| printer.remark(seen));
            removed?;
            printer.remark("interrupted: no verdict; the files are removed");
            return Ok(Exit::Interrupted);
        }
        Err(error) => {
            let failure = Failure { exit: Exit::Failed, error: error.into() };
            return Ok(after_verdict(printer.failure(&failure), removed, printer));
        }
    };
    let scope = Scope::FreeSpace { of: stick };
    let document = VerifyFullDocument::new(name, describe(ground, tested), Some(free_space), scope, &verdict);
    let exit = print(&document, &verdict, scope, printer)?;
    Ok(after_verdict(exit, removed, printer))
}

fn describe(ground: &BackingFilesystem, tested: Bytes) -> Identity {
    Identity::Directory {
        filesystem: ground.filesystem.clone(),
        source: ground.source.clone(),
        options: ground.options.clone(),
        capacity_bytes: tested.get(),
    }
}

/// The capacity of the disk behind the filesystem.
fn stick_capacity(ground: &BackingFilesystem) -> Option<Bytes> {
    let source = Path::new(&ground.source);
    let disk = source.starts_with("/dev").then(|| identify(source, &Roots::default()).disk).flatten()?;
    Some(disk.capacity).filter(|capacity| !capacity.is_zero())
}
