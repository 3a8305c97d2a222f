//! What the parts of `bench` do alike in a folder: they ask for a file of their own, and fill it before it is read.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, Op, Pattern};
use flashscope_linux::FileSize;

use crate::args::Erase;
use crate::exit::{Exit, Failure, OrExit};
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

/// A file of our own in the folder `name` that holds data, so that there is something to read and no place is new to the filesystem.
///
/// # Errors
/// As [`target::open_in_folder`]; exit code 130 if it is interrupted while it fills, 3 if the stick fails.
pub fn filled(
    name: &str,
    size: FileSize,
    budget: Budget,
    queue_depth: u32,
    printer: &Printer,
) -> Result<Target, Failure> {
    let mut target = target::open_in_folder(name, size, budget, queue_depth)?;
    let capacity = target.device.capabilities().capacity;
    printer.remark(format!("filling a file of {capacity} first; that is part of no figure"));
    fill(&mut target, capacity)?;
    Ok(target)
}

fn fill(target: &mut Target, capacity: Bytes) -> Result<(), Failure> {
    let pattern = Pattern::new(0);
    let pieces = (0..capacity / PIECE).map(|index| Op::write(ByteRange::new(PIECE * index, PIECE), pattern));
    for op in pieces.chain([Op::Flush]) {
        let written = target.device.run(op).map_err(|error| failure(&target.text, error))?;
        written.outcome.or_exit(Exit::Failed, format!("cannot fill a file in {}", target.text))?;
    }
    Ok(())
}

fn failure(name: &str, error: DeviceError) -> Failure {
    let exit = match &error {
        DeviceError::Interrupted => Exit::Interrupted,
        DeviceError::BudgetSpent { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure { exit, error: anyhow!(error).context(format!("cannot fill a file in {name}")) }
}
