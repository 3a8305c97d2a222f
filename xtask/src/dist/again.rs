//! The same commit gives the same bytes in another directory.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use super::build::{self, Architecture};
use crate::output::{print, progress};
use crate::process::{self, repository};

/// Builds the last commit in a directory of its own, with nothing of this build, and compares the programs.
/// Everything else in a package comes from the commit, and `--trial` packs it twice.
pub fn check(architecture: Architecture, program: &Path) -> anyhow::Result<()> {
    let mut status = Command::new("git");
    status.current_dir(repository()).args(["status", "--porcelain", "--untracked-files=no"]);
    ensure!(process::output(&mut status)?.is_empty(), "the tree has changes that are not committed");
    let folder = tempfile::tempdir()?;
    let tree = folder.path().join("tree");
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet"]).arg(repository()).arg(&tree);
    process::output(&mut clone)?;
    progress("building the same commit in another directory");
    let again = build::program_of(&tree, &folder.path().join("target"), architecture)?;
    ensure!(fs::read(program)? == fs::read(again)?, "another directory gives another program");
    Ok(print("another directory gives the same program\n")?)
}
