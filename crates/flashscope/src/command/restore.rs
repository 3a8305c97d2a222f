//! `flashscope restore`: puts the data back that an interrupted `--scratch` measurement had overwritten.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_device::DeviceError;
use flashscope_device::layer::Budget;
use flashscope_device::layer::journal::{
    JournalContents, JournalError, JournalStore, Recognition, recognise, restore,
};
use flashscope_linux::{JournalFile, journals, printable};

use crate::args::Restore;
use crate::confirm::Given;
use crate::document::RestoreDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};
use crate::interrupt::interrupted;
use crate::printer::Printer;
use crate::scratch::{folders, medium_of, of_another_user, restore_command, unreadable};
use crate::{confirm, target};

/// The number of changed places that an error lists.
const LISTED_MAX: usize = 8;

/// A journal, read and verified.
struct Journal {
    path: PathBuf,
    file: JournalFile,
    contents: JournalContents,
}

impl Journal {
    fn read(path: &Path) -> Result<Self, JournalError> {
        let mut file = JournalFile::open(path)?;
        let contents = JournalContents::read(&mut file)?;
        Ok(Self { path: path.to_owned(), file, contents })
    }

    fn name(&self) -> String {
        printable(&self.path.to_string_lossy())
    }
}

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a damaged journal, or if none or several fit; 4 for another stick or one that changed
/// since; 3 if the stick fails, 1 if it reads back differently.
pub fn run(arguments: &Restore, printer: &Printer) -> Result<Exit, Failure> {
    let Some(mut journal) = find(arguments, printer)? else {
        let nothing = RestoreDocument {
            target: None,
            journal: None,
            bytes_restored: 0,
            places_changed_since: 0,
            places: 0,
        };
        if printer.json {
            printer.document(&nothing)?;
        } else {
            let folders: Vec<String> =
                folders()?.iter().map(|folder| printable(&folder.to_string_lossy())).collect();
            printer.result(&format!("Nothing to restore: no journal in {}.\n", folders.join(" or ")))?;
        }
        return Ok(Exit::Fine);
    };
    let text = arguments.target.clone().unwrap_or_else(|| journal.contents.header.start.target.clone());
    let recognition = examine(&journal, &text, arguments.force)?;
    // What was measured is recognised, so it may be any file.
    let given = Given { yes: arguments.answer.yes.as_ref(), takes_other_files: true };
    let consent = confirm::overwrite(&text, &sentence(&journal), given, printer)?;
    let mut target = target::open_to_restore(&text, &consent, Budget::UNLIMITED)?;
    let saved = journal.contents.saved();
    printer.remark(format!("putting {saved} of data back; do not unplug the stick"));
    let restored = restore(&journal.contents, &mut journal.file, &mut target.device);
    if target.interrupt.is_requested() && restored.is_err() {
        printer.remark(format!("interrupted; run again: {}", restore_command(Some(&journal.path))));
        return Ok(Exit::Interrupted);
    }
    let restored = restored.map_err(|error| failure(error, &journal.name()))?;
    drop(target);
    journal.file.remove().or_exit(Exit::Failed, "the data is back, but the journal cannot be removed")?;
    if printer.json {
        printer.document(&RestoreDocument {
            target: Some(text),
            journal: Some(journal.name()),
            bytes_restored: restored.bytes.get(),
            places_changed_since: recognition.changed.len(),
            places: recognition.compared,
        })?;
        return Ok(Exit::Fine);
    }
    printer.result(&format!("Restored {text}: {} written back and compared.\n", restored.bytes))?;
    Ok(Exit::Fine)
}

/// What the person agrees to.
fn sentence(journal: &Journal) -> String {
    let start = &journal.contents.header.start;
    format!(
        "{} that the measurement of {} overwrote is put back. What was written there since is lost. Keep the stick plugged in.",
        journal.contents.saved(),
        start.started_at
    )
}

/// The named journal, or the one of a stick that is plugged in; `None` if there is no journal.
fn find(arguments: &Restore, printer: &Printer) -> Result<Option<Journal>, Failure> {
    if let Some(path) = &arguments.file {
        if path.is_dir() {
            let name = printable(&path.to_string_lossy());
            return Err(usage(anyhow!("{name} is a directory; name a journal, or no file to find them all")));
        }
        if path.exists() && !path.is_file() {
            let name = printable(&path.to_string_lossy());
            return Err(usage(anyhow!(
                "{name} is a device, not a journal; leave it out, or name it with --target"
            )));
        }
        file_kind::refuse_other(path, &[Kind::Journal])?;
        let journal = Journal::read(path).map_err(|error| not_named(error, path))?;
        return unfinished(journal, printer);
    }
    let (mut fitting, mut failures) = (Vec::new(), Vec::new());
    for path in all_journals(&mut failures)? {
        let journal = match Journal::read(&path) {
            Ok(journal) => journal,
            Err(error) => {
                failures.push(not_read(error, &path));
                continue;
            }
        };
        let name = journal.name();
        let Some(journal) = unfinished(journal, printer)? else { continue };
        let start = &journal.contents.header.start;
        printer.remark(format!("{name}: {}, {} saved", start.medium, journal.contents.saved()));
        let text = arguments.target.as_ref().unwrap_or(&start.target);
        match examine(&journal, text, arguments.force) {
            Ok(_) => fitting.push(journal),
            Err(failure) if failure.exit == Exit::Interrupted => return Err(failure),
            Err(failure) => failures.push(failure),
        }
    }
    choose(fitting, failures, printer)
}

/// The journals in all folders. A folder that cannot be read adds to `failures`.
fn all_journals(failures: &mut Vec<Failure>) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for folder in folders()? {
        match journals(&folder) {
            Ok(found) => paths.extend(found),
            Err(error) => failures.push(usage(unreadable(&folder, &error))),
        }
    }
    Ok(paths)
}

/// The only journal that fits.
fn choose(
    mut fitting: Vec<Journal>,
    mut failures: Vec<Failure>,
    printer: &Printer,
) -> Result<Option<Journal>, Failure> {
    match (fitting.pop(), fitting.is_empty(), failures.len()) {
        (Some(journal), true, _) => Ok(Some(journal)),
        (Some(_), false, _) => Err(usage(anyhow!("several journals fit; name one of them"))),
        (None, _, 0) => Ok(None),
        (None, _, 1) => failures.pop().map_or(Ok(None), Err),
        (None, ..) => {
            failures.iter().for_each(|failure| printer.remark(format!("note: {:#}", failure.error)));
            Err(usage(anyhow!(
                "no stick that is plugged in fits a journal; plug it in, or name the journal and the stick: flashscope restore \
                 FILE --target TARGET"
            )))
        }
    }
}

/// The journal, unless everything is restored: then it was left behind, and is removed.
fn unfinished(mut journal: Journal, printer: &Printer) -> Result<Option<Journal>, Failure> {
    if !journal.contents.is_done {
        return Ok(Some(journal));
    }
    printer.remark(format!("{}: everything is restored already; the journal is removed", journal.name()));
    journal.file.remove().or_exit(Exit::Failed, "the journal cannot be removed")?;
    Ok(None)
}

const fn usage(error: anyhow::Error) -> Failure {
    Failure { exit: Exit::Usage, error }
}

/// Compares the stick with the journal, and refuses another one. Only reads.
fn examine(journal: &Journal, text: &str, force: bool) -> Result<Recognition, Failure> {
    let mut target = target::open(text, None, Budget::UNLIMITED)?;
    let found = medium_of(&target);
    let recognition = recognise(&journal.contents, &found, &mut target.device)
        .map_err(|error| failure(error, &journal.name()))?;
    if recognition.is_same() || force {
        return Ok(recognition);
    }
    let expected = &journal.contents.header.start.medium;
    let error = if !recognition.is_identical {
        anyhow!(
            "the journal belongs to {expected}, and {text} is {found}; nothing was written (--force restores anyway)"
        )
    } else if recognition.changed.is_empty() {
        anyhow!(
            "{text} has no serial number, and the measurement overwrote every place that shows which stick it is; if it is the \
             right one, add --force"
        )
    } else {
        let listed = recognition.changed.iter().take(LISTED_MAX).map(|range| format!("\n  {range}"));
        anyhow!(
            "{text} is another stick, or was written since: {} of {} compared places differ; nothing was written (--force \
             restores anyway){}",
            recognition.changed.len(),
            recognition.compared,
            listed.collect::<String>()
        )
    };
    Err(Failure { exit: Exit::Refused, error })
}

/// The failure of a named journal that cannot be read.
fn not_named(error: JournalError, path: &Path) -> Failure {
    let name = printable(&path.to_string_lossy());
    match error {
        JournalError::Store(error) if error.kind() == io::ErrorKind::PermissionDenied => usage(anyhow!(
            "cannot read {name}: {error}; a journal holds data of the stick, so only who measured may read it: put sudo before \
             the command"
        )),
        error => failure(error, &name),
    }
}

/// The failure of a journal that cannot be read.
fn not_read(error: JournalError, path: &Path) -> Failure {
    match error {
        JournalError::Store(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            usage(of_another_user(path))
        }
        error => failure(error, &printable(&path.to_string_lossy())),
    }
}

/// The failure of a restore. An interrupt arrives here only while the stick is compared.
fn failure(error: JournalError, name: &str) -> Failure {
    let exit = match &error {
        JournalError::Device(DeviceError::Interrupted) => return interrupted(),
        JournalError::Store(error) if error.kind() == io::ErrorKind::NotFound => Exit::Usage,
        JournalError::NotJournal | JournalError::Damaged { .. } => Exit::Usage,
        JournalError::OtherMedium { .. } => Exit::Refused,
        JournalError::NotRestored { .. } => Exit::Problem,
        JournalError::Store(_) | JournalError::Device(_) | JournalError::Request(_) => Exit::Failed,
    };
    Failure { exit, error: anyhow::Error::from(error).context(name.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_while_comparing_is_no_failure_of_the_stick() {
        let failure = |error: DeviceError| failure(error.into(), "stick.journal");
        let interrupted = failure(DeviceError::Interrupted);
        assert_eq!(interrupted.exit, Exit::Interrupted);
        assert_eq!(interrupted.error.to_string(), "interrupted; nothing was written");
        assert_eq!(failure(DeviceError::Gone { during: "read".to_owned() }).exit, Exit::Failed);
    }
}
