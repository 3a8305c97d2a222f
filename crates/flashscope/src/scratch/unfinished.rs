//! Finds the journal of a measurement that did not put its data back.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_device::Device;
use flashscope_device::layer::journal::{
    JournalContents, JournalError, JournalHeader, JournalMedium, JournalStore, resembles,
};
use flashscope_layout::steps::quoted_path;
use flashscope_linux::{JournalFile, journals};

use super::folder::{folders, shown};
use crate::exit::{Exit, Failure};
use crate::medium;
use crate::target::Target;

/// The medium of a target, for a journal.
pub fn medium_of(target: &Target) -> JournalMedium {
    let identity = medium::identity(target);
    JournalMedium {
        model: identity.model,
        serial: identity.serial,
        capacity: identity.capacity,
        logical_block: target.device.capabilities().logical_block,
    }
}

/// Refuses to write to a stick whose data is not back yet, and if that cannot be found out.
///
/// # Errors
/// Exit code 4 if there is an unfinished journal for it, or a folder or journal cannot be read.
pub fn refuse_unfinished(target: &mut Target) -> Result<(), Failure> {
    let Some(path) = unfinished(target)? else { return Ok(()) };
    Err(refused(anyhow!(
        "{}; run: {} (or delete that file to give the data up)",
        not_back(target),
        restore_command(Some(&path))
    )))
}

/// A remark about a stick whose data is not back yet. What cannot be read is left out: a command that only
/// reads loses nothing.
pub fn unfinished_remark(target: &mut Target) -> Option<String> {
    let path = unfinished(target).ok().flatten()?;
    Some(format!("{}; first of all run: {}", not_back(target), restore_command(Some(&path))))
}

fn not_back(target: &Target) -> String {
    format!("an interrupted measurement of {} has not put its data back", target.text)
}

/// The unfinished journal of a target.
fn unfinished(target: &mut Target) -> Result<Option<PathBuf>, Failure> {
    for folder in folders()? {
        let paths = journals(&folder).map_err(|error| refused(unreadable(&folder, &error)))?;
        for path in paths {
            let header = header(&path).map_err(refused)?;
            if header.is_some_and(|header| is_of(&header, target)) {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}

/// The header of a journal; `None` for one that is gone, or saved nothing: without a header, nothing was
/// overwritten.
fn header(path: &Path) -> Result<Option<JournalHeader>, anyhow::Error> {
    let mut file = match JournalFile::open_read_only(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(of_another_user(path)),
        opened => opened.map_err(|error| unreadable(path, &error))?,
    };
    if file.length().map_err(|error| unreadable(path, &error))? == 0 {
        return Ok(None);
    }
    JournalContents::header(&mut file).map(Some).map_err(|error| match error {
        JournalError::Store(error) => unreadable(path, &error),
        error => anyhow!(
            "{}: {error}, so which stick it is of is unknown, and nothing was written; if its data is not needed, delete it",
            shown(path)
        ),
    })
}

const fn refused(error: anyhow::Error) -> Failure {
    Failure { exit: Exit::Refused, error }
}

/// The error for a folder or journal that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> anyhow::Error {
    let advice = match error.kind() {
        ErrorKind::PermissionDenied if rustix::process::geteuid().is_root() => {
            "run the command as the owner of that folder, without sudo"
        }
        ErrorKind::PermissionDenied => "put sudo before the command: root may look there",
        _ => "see to that first",
    };
    anyhow!(
        "cannot read {}: {error}; it may hold data of this stick that an interrupted measurement has not put back, so nothing was written; {advice}",
        shown(path)
    )
}

/// The error for a journal that this user may not read.
pub fn of_another_user(path: &Path) -> anyhow::Error {
    anyhow!(
        "{}: a measurement by another user (root) has not put the data of a stick back, and only that user may read which stick; nothing was written; wait if that measurement is running, else run: sudo flashscope restore",
        shown(path)
    )
}

/// The command that puts the data of a journal back. Who could measure without sudo can restore without it.
pub fn restore_command(journal: Option<&Path>) -> String {
    let sudo = if rustix::process::geteuid().is_root() { "sudo " } else { "" };
    let file = journal.map_or_else(String::new, |path| format!(" {}", quoted_path(&shown(path))));
    format!("{sudo}flashscope restore{file}")
}

/// Whether a journal can be of this target: by serial number, or by path or data without one.
fn is_of(header: &JournalHeader, target: &mut Target) -> bool {
    let (saved, found) = (&header.start.medium, medium_of(target));
    if saved.serial.is_some() || found.serial.is_some() {
        return saved.serial == found.serial && saved.model == found.model;
    }
    let same_file = std::fs::canonicalize(&header.start.target).ok();
    let same_file = same_file.is_some() && same_file == std::fs::canonicalize(Path::new(&target.text)).ok();
    saved.model == found.model
        && saved.capacity == found.capacity
        && (same_file || resembles(header, target.device.device_mut().device_mut()))
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_device::layer::journal::JournalStart;
    use flashscope_device::layer::{Budget, Interrupt};
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::attachment::Attachment;

    use super::*;
    use crate::document::Identity;
    use crate::target::{Base, layered};

    const CAPACITY: Bytes = Bytes::mib(1);

    /// A target of this name whose model is its name, and which has no serial number.
    fn target(text: &str) -> Target {
        let interrupt = Interrupt::default();
        let identity = Identity::VirtualStick {
            name: String::new(),
            description: String::new(),
            capacity_bytes: CAPACITY.get(),
            seed: 1,
            faults: Vec::new(),
        };
        Target {
            text: text.to_owned(),
            name: String::new(),
            identity,
            attachment: Attachment::default(),
            remarks: Vec::new(),
            writable: true,
            is_erased: false,
            is_virtual: true,
            link: None,
            filesystem_capacity: None,
            is_buffered: false,
            failed_requests: 0,
            device: layered(Base::watched(MemoryDevice::new(CAPACITY)), &interrupt, Budget::UNLIMITED),
            interrupt,
        }
    }

    #[test]
    fn journal_is_of_the_medium_with_its_serial_number_or_of_its_own_file_without_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let mut target = target(path);
        let mut fits = |name: &str, model: &str, serial: Option<&str>, capacity: Bytes| {
            let medium = JournalMedium {
                model: model.to_owned(),
                serial: serial.map(str::to_owned),
                capacity,
                logical_block: Bytes::new(512),
            };
            let start = JournalStart {
                flashscope: String::new(),
                target: name.to_owned(),
                started_at: String::new(),
                medium,
            };
            is_of(&JournalHeader { start, places: Vec::new() }, &mut target)
        };
        assert!(fits(path, path, None, CAPACITY));
        assert!(!fits(path, path, Some("4C53"), CAPACITY), "another stick of the same model");
        assert!(!fits(path, "another model", None, CAPACITY));
        assert!(!fits(path, path, None, CAPACITY * 2));
        assert!(!fits("/nonexistent", path, None, CAPACITY));
    }
}
