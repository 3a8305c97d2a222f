//! Finds the journal of a measurement that did not put its data back.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::Device;
use flashscope_device::layer::journal::{JournalContents, JournalHeader, JournalMedium, resembles};
use flashscope_linux::{JournalFile, journals, printable};

use super::folder;
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

/// Refuses to write to a stick whose data is not back yet.
///
/// # Errors
/// Exit code 4 if there is an unfinished journal for it.
pub fn refuse_unfinished(target: &mut Target) -> Result<(), Failure> {
    let paths = folder().ok().and_then(|folder| journals(&folder).ok()).unwrap_or_default();
    for path in paths {
        // A journal without a header saved nothing, and nothing was overwritten.
        let header =
            JournalFile::open(&path).ok().and_then(|mut file| JournalContents::header(&mut file).ok());
        if header.is_some_and(|header| is_of(&header, target)) {
            let error = anyhow!(
                "an interrupted measurement of {} has not put its data back; run: flashscope restore {} (or delete that file to \
                 give the data up)",
                target.text,
                printable(&path.to_string_lossy())
            );
            return Err(Failure { exit: Exit::Refused, error });
        }
    }
    Ok(())
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
