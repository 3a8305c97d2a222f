//! Starts a journal before a measurement, and puts the data back after it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use flashscope_device::layer::journal::{
    JournalError, JournalStart, JournalStore, Journaled, MemoryStore, Restored, saved_max,
};
use flashscope_device::{Bytes, Device};
use flashscope_linux::{JournalFile, printable};

use super::folder;
use super::unfinished::{medium_of, restore_command};
use crate::args::Erase;
use crate::document::VERSION;
use crate::duration;
use crate::exit::{Exit, Failure, OrExit};
use crate::medium::file_stem;
use crate::printer::Printer;
use crate::target::{Base, Kept, Target, layered};

/// The largest journal of a virtual stick: that of the default write budget. It is in the host's memory.
const MEMORY_MAX: Bytes = Bytes::gib(5);
/// A slow USB stick reads and writes this much. Guess, for the time that is announced.
const BYTES_PER_S: u64 = 20_000_000;
/// Everything is read once, written back and compared.
const PASSES: u64 = 3;

/// With `--scratch`, puts a journal under `target`, and says how much space and time it may take. Reading
/// commands need none.
///
/// # Errors
/// Exit code 2 if the journal cannot be kept, 3 if the target cannot be read.
pub fn start(target: Target, erase: &Erase, printer: &Printer) -> Result<Target, Failure> {
    if !erase.scratch || !target.writable {
        return Ok(target);
    }
    let capacity = target.device.capabilities().capacity;
    let written = target.device.left().bytes_written.unwrap_or(capacity);
    let needed = saved_max(written, capacity);
    let (store, path) = if target.is_virtual {
        if needed > MEMORY_MAX {
            let error =
                anyhow!("the journal of a virtual stick is in memory; write less (--write-budget 2GiB)");
            return Err(Failure { exit: Exit::Usage, error });
        }
        (Box::new(MemoryStore::default()) as Box<dyn JournalStore>, None)
    } else {
        let file = create(&target, needed, printer)?;
        let path = file.path().to_owned();
        (Box::new(file) as Box<dyn JournalStore>, Some(path))
    };
    let start = JournalStart {
        flashscope: VERSION.to_owned(),
        target: absolute(&target.text),
        started_at: crate::wall_clock::now(),
        medium: medium_of(&target),
    };
    let Target { device, interrupt, .. } = target;
    let budget = device.left();
    let device = device.into_device().into_device().into_plain();
    let journaled =
        Journaled::start(device, store, start).or_exit(Exit::Failed, "cannot start the journal")?;
    let device = layered(Base::Journaled(Box::new(Kept { device: journaled, path })), &interrupt, budget);
    Ok(Target { device, interrupt, is_erased: false, ..target })
}

fn create(target: &Target, needed: Bytes, printer: &Printer) -> Result<JournalFile, Failure> {
    let folder = folder()?;
    let now: String = crate::wall_clock::now().chars().filter(char::is_ascii_alphanumeric).collect();
    let name = format!("{}-{now}-{}", file_stem(&target.text), std::process::id());
    let file =
        JournalFile::create(&folder, &name, Path::new(&target.text), needed).or_exit_bare(Exit::Usage)?;
    let time = Duration::from_secs(needed.get() * PASSES / BYTES_PER_S);
    printer.remark(format!(
        "what is overwritten is saved first, in {}, and put back at the end: at most {needed}; saving, restoring and \
         comparing take at most {} at 20 MB/s, usually far less",
        printable(&file.path().to_string_lossy()),
        duration::about(time)
    ));
    printer.remark("keep the stick plugged in until its data is back");
    Ok(file)
}

/// The target's path from the root, so that it is found from any directory.
fn absolute(text: &str) -> String {
    std::path::absolute(text).map_or_else(|_| text.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Puts the data back that was overwritten, compares it, and removes the journal. Also after Ctrl-C.
///
/// # Errors
/// Exit code 1 if data reads back differently, 3 if the stick vanished or the journal cannot be read. The
/// journal then stays.
pub fn finish(target: &mut Target, printer: &Printer) -> Result<(), Failure> {
    let Base::Journaled(kept) = target.device.device_mut().device_mut() else { return Ok(()) };
    let saved = kept.device.saved();
    if !saved.is_zero() && kept.path.is_some() {
        printer.remark(format!("putting {saved} of data back; do not unplug the stick"));
    }
    match kept.device.restore() {
        Ok(restored) => {
            if !restored.bytes.is_zero() {
                let Restored { bytes, written } = restored;
                printer.remark(format!("all data is back: {bytes} compared, {written} of it written back"));
            }
            Ok(())
        }
        Err(error) => Err(not_back(error, kept.path.as_ref())),
    }
}

fn not_back(error: JournalError, journal: Option<&PathBuf>) -> Failure {
    let exit = match &error {
        JournalError::NotRestored { .. } => Exit::Problem,
        _ => Exit::Failed,
    };
    let error = match journal {
        Some(path) => anyhow::Error::from(error).context(format!(
            "the data on the stick is not back yet; plug it in again and run: {}",
            restore_command(Some(path))
        )),
        None => anyhow!("the data on the virtual stick is not back: {error}"),
    };
    Failure { exit, error }
}
