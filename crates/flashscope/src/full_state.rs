//! The state files of `verify --full`: what is done of a test that was interrupted.
//!
//! They lie in the folder of journals. Stamps on the medium tell whether a state is of it: only the test
//! that wrote them knows their seed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_layout::Identity;
use flashscope_linux::make_journal_folder;
use flashscope_measure::capacity::full::holds_stamps;
use flashscope_record::full_capacity::FullProgress;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::document::VERSION;
use crate::exit::{Exit, Failure, OrExit};
use crate::medium::{file_stem, identity, lasting_name};
use crate::scratch;
use crate::target::Target;

/// The extension of a state file.
const EXTENSION: &str = "verify";
/// The version of the format. Other versions are left alone.
const FORMAT: u32 = 1;

/// What a state file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    format: u32,
    flashscope: String,
    target: String,
    model: String,
    serial: Option<String>,
    stored_at: String,
    progress: FullProgress,
}

impl Stored {
    /// Whether it is of this medium: by serial number, or by its lasting name `target` without one.
    fn names(&self, found: &Identity, target: &str) -> bool {
        match (&self.serial, &found.serial) {
            (None, None) => self.target == target,
            (ours, theirs) => ours == theirs && self.model == found.model,
        }
    }
}

/// The state file of one test.
pub struct StateFile {
    path: PathBuf,
    stored: Stored,
}

impl StateFile {
    /// The file for a new test of this target. Nothing is written yet.
    ///
    /// # Errors
    /// Exit code 2 if there is no folder for it.
    pub fn new(target: &Target, progress: &FullProgress) -> Result<Self, Failure> {
        let folder = scratch::folder()?;
        let cannot = format!("cannot keep the state of the test in {}", folder.display());
        make_journal_folder(&folder).or_exit(Exit::Usage, cannot)?;
        let name = format!("{}-{:016x}.{EXTENSION}", file_stem(&target.text), progress.seed);
        let found = identity(target);
        let stored = Stored {
            format: FORMAT,
            flashscope: VERSION.to_owned(),
            target: lasting_name(&target.text),
            model: found.model,
            serial: found.serial,
            stored_at: crate::wall_clock::now(),
            progress: progress.clone(),
        };
        Ok(Self { path: folder.join(name), stored })
    }

    /// The test of this target that was interrupted, if there is one.
    ///
    /// # Errors
    /// Exit code 4 if there is one, but its stamps are not on the medium; 3 if that cannot be read.
    pub fn find(target: &mut Target) -> Result<Option<Self>, Failure> {
        let mut changed = None;
        for state in all(target) {
            let device = target.device.device_mut().device_mut();
            if holds_stamps(device, &state.stored.progress).or_exit_bare(Exit::Failed)? {
                return Ok(Some(state));
            }
            if state.is_of(target) {
                changed = Some(state);
            }
        }
        match changed {
            None => Ok(None),
            Some(state) => Err(Failure {
                exit: Exit::Refused,
                error: anyhow!(
                    "a full test of {} was interrupted ({}), but this is another medium, or it was used since; add --restart to \
                     begin again",
                    target.text,
                    state.stored.stored_at
                ),
            }),
        }
    }

    /// Removes the states of earlier tests of this target.
    ///
    /// # Errors
    /// Exit code 3 if a file cannot be removed, or the medium not be read.
    pub fn remove_all(target: &mut Target) -> Result<(), Failure> {
        for state in all(target) {
            let is_named = state.is_of(target);
            let device = target.device.device_mut().device_mut();
            if is_named || holds_stamps(device, &state.stored.progress).or_exit_bare(Exit::Failed)? {
                state.remove().or_exit(Exit::Failed, "cannot remove the state of an earlier test")?;
            }
        }
        Ok(())
    }

    /// Whether it names this target.
    fn is_of(&self, target: &Target) -> bool {
        self.stored.names(&identity(target), &lasting_name(&target.text))
    }

    /// The progress that it holds.
    pub const fn progress(&self) -> &FullProgress {
        &self.stored.progress
    }

    /// When it was stored.
    pub fn stored_at(&self) -> &str {
        &self.stored.stored_at
    }

    /// Replaces the file. A crash leaves the old one or the new one.
    ///
    /// # Errors
    /// The error of the system.
    pub fn store(&mut self, progress: &FullProgress) -> io::Result<()> {
        self.stored.progress = progress.clone();
        self.stored.stored_at = crate::wall_clock::now();
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut partial =
            tempfile::Builder::new().prefix(".flashscope-").suffix(".partial").tempfile_in(folder)?;
        write(&mut partial, &self.stored)?;
        partial.persist(&self.path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    }

    /// Removes the file, if it was ever written.
    ///
    /// # Errors
    /// The error of the system.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

fn write(partial: &mut NamedTempFile, stored: &Stored) -> io::Result<()> {
    partial.write_all(&serde_json::to_vec(stored)?)?;
    partial.as_file().sync_all()
}

/// All states of media of this model and capacity. What is no state is left out.
fn all(target: &Target) -> Vec<StateFile> {
    let Ok(entries) = scratch::folder().and_then(|folder| fs::read_dir(folder).or_exit_bare(Exit::Usage))
    else {
        return Vec::new();
    };
    let found = identity(target);
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let is_state = |path: &PathBuf| path.extension().is_some_and(|extension| extension == EXTENSION);
    let parsed = paths.into_iter().filter(is_state).filter_map(|path| {
        let stored: Stored = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        Some(StateFile { path, stored })
    });
    parsed
        .filter(|state| {
            let stored = &state.stored;
            stored.format == FORMAT
                && stored.progress.is_of_capacity(found.capacity)
                && stored.model == found.model
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    #[test]
    fn state_is_of_the_stick_with_its_serial_number_or_of_its_path_without_one() {
        let medium = |model: &str, serial: Option<&str>| Identity {
            model: model.to_owned(),
            serial: serial.map(str::to_owned),
            capacity: Bytes::gib(8),
        };
        let names = |serial: Option<&str>, found: &Identity, target: &str| {
            let stored = Stored {
                format: FORMAT,
                flashscope: String::new(),
                target: "/dev/sdb".to_owned(),
                model: "SanDisk Ultra".to_owned(),
                serial: serial.map(str::to_owned),
                stored_at: String::new(),
                progress: FullProgress::new(1, Bytes::gib(8), Bytes::mib(16)),
            };
            stored.names(found, target)
        };
        let numbered = medium("SanDisk Ultra", Some("4C53"));
        assert!(names(Some("4C53"), &numbered, "/dev/sdc"), "in another port");
        assert!(!names(Some("4C54"), &numbered, "/dev/sdb"), "another stick of this model");
        assert!(!names(Some("4C53"), &medium("SanDisk Cruzer", Some("4C53")), "/dev/sdb"));
        let nameless = medium("SanDisk Ultra", None);
        assert!(!names(Some("4C53"), &nameless, "/dev/sdb") && !names(None, &numbered, "/dev/sdb"));
        assert!(names(None, &nameless, "/dev/sdb") && !names(None, &nameless, "/dev/sdc"));
    }
}
