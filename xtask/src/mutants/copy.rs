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
    /// Its tests did not end within the time limit.
    TimedOut,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Survived => "SURVIVED",
            Self::Unbuilt => "UNBUILT",
            Self::TimedOut => "timeout",
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

    /// Checks that a package's tests pass without a mutation, within the time limit.
    pub fn check_package(&self, package: &str, seconds: u64) -> anyhow::Result<()> {
        match self.outcome_of(package, seconds)? {
            Outcome::Survived => Ok(()),
            Outcome::TimedOut => {
                bail!("the tests of {package} take longer than {seconds} s without a mutation")
            }
            _ => bail!("'cargo test --package {package}' fails without a mutation"),
        }
    }

    /// The text of a file.
    pub fn text(&self, file: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.folder.path().join(file)).with_context(|| format!("cannot read {file}"))
    }

    /// Builds and tests a package with this text in `file`, and takes it back.
    pub fn try_text(&self, file: &str, text: &str, package: &str, seconds: u64) -> anyhow::Result<Outcome> {
        let original = self.text(file)?;
        let file = self.folder.path().join(file);
        fs::write(&file, text)?;
        let outcome = self.outcome_of(package, seconds);
        fs::write(&file, original)?;
        outcome
    }

    /// What a package's own tests say of the copy as it is. Building has no time limit.
    fn outcome_of(&self, package: &str, seconds: u64) -> anyhow::Result<Outcome> {
        let test = |command: &mut Command, more: &[&str]| {
            let command = command.current_dir(self.folder.path()).env("CARGO_TARGET_DIR", &self.target);
            // The crates have no tests in comments; looking for them would build each library twice.
            let command = command.args(["test", "--tests", "--quiet", "--package", package]).args(more);
            command.stdout(Stdio::null()).stderr(Stdio::null()).status()
        };
        if !test(&mut process::cargo(), &["--no-run"])?.success() {
            return Ok(Outcome::Unbuilt);
        }
        let cargo = process::cargo().get_program().to_owned();
        let mut limited = Command::new("timeout");
        let status = test(limited.arg(seconds.to_string()).arg(cargo), &[])?;
        Ok(match status.code() {
            Some(0) => Outcome::Survived,
            // timeout(1).
            Some(124) => Outcome::TimedOut,
            _ => Outcome::Killed,
        })
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
