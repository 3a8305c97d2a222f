//! A copy of the tree, in which mutations are built and tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::table::Mutant;
use crate::process;

/// What became of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Its test failed.
    Killed,
    /// Its test passed: nothing proves the guard.
    Survived,
    /// It does not build, so that it says nothing.
    Unbuilt,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "SURVIVED",
            Self::Unbuilt => "UNBUILT",
        }
    }
}

/// A copy of the tracked and the new files, in a temporary folder.
pub struct Copy {
    folder: TempDir,
    target: PathBuf,
}

impl Copy {
    pub fn new(target: PathBuf) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut list = Command::new("git");
        list.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
        let names = process::output(list.current_dir(process::repository()))?;
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            let (from, to) = (process::repository().join(name), folder.path().join(name));
            copy(&from, &to).with_context(|| format!("cannot copy {name}"))?;
        }
        Ok(Self { folder, target })
    }

    /// Checks that a test passes without a mutation, and is not skipped.
    pub fn check_sound(&self, test: &[&str]) -> anyhow::Result<()> {
        if self.is_successful(test, &["--no-run"])? && self.is_successful(test, &[])? {
            return Ok(());
        }
        bail!(
            "'cargo test {}' fails without a mutation, or is skipped here (no root, no loop devices)",
            test.join(" ")
        )
    }

    /// Builds and tests one mutation, and takes it back.
    pub fn try_out(&self, mutant: &Mutant) -> anyhow::Result<Outcome> {
        let file = self.folder.path().join(mutant.file);
        let text = fs::read_to_string(&file)?;
        fs::write(&file, text.replacen(mutant.from, mutant.to, 1))?;
        let outcome = match self.is_successful(mutant.test, &["--no-run"])? {
            false => Outcome::Unbuilt,
            true if self.is_successful(mutant.test, &[])? => Outcome::Survived,
            true => Outcome::Killed,
        };
        fs::write(&file, text)?;
        Ok(outcome)
    }

    fn is_successful(&self, test: &[&str], more: &[&str]) -> anyhow::Result<bool> {
        let (arguments, filter) = test.split_at(test.len() - 1);
        let status = process::cargo()
            .current_dir(self.folder.path())
            .env("CARGO_TARGET_DIR", &self.target)
            // A skipped test would pass with and without the guard.
            .env("FLASHSCOPE_REQUIRE_ALL", "1")
            .args(["test", "--quiet"])
            .args(arguments)
            .args(more)
            .args(filter)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(status.success())
    }
}

/// Copies a file or a link.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::symlink_metadata(from) {
        Ok(found) if found.is_symlink() => std::os::unix::fs::symlink(fs::read_link(from)?, to),
        Ok(_) => fs::copy(from, to).map(drop),
        // Tracked, and removed from the working tree.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
