//! Where disks are looked for: on this machine, or in a copy of another machine.

use std::path::Path;

use anyhow::anyhow;
use flashscope_linux::Roots;

use crate::args::Source;
use crate::exit::{Exit, Failure};

/// The roots on the command line, or this machine's.
///
/// # Errors
/// Exit code 2 if a copy is missing.
pub fn roots(source: &Source) -> Result<Roots, Failure> {
    let mut roots = Roots::default();
    if let Some(copy) = &source.sysfs {
        roots = Roots::copy(copy);
        must_exist(&roots.sysfs.join("."), copy, "a copy of /sys, or a directory with sys in it")?;
    }
    if let Some(mounts) = &source.mounts {
        must_exist(mounts, mounts, "a copy of /proc/self/mountinfo or /proc/mounts")?;
        roots.mounts.clone_from(mounts);
    }
    Ok(roots)
}

fn must_exist(needed: &Path, typed: &Path, what: &str) -> Result<(), Failure> {
    let cannot = |error| anyhow!("cannot read {}: {error}; {what} is needed", typed.display());
    std::fs::metadata(needed).map(|_| ()).map_err(|error| Failure { exit: Exit::Usage, error: cannot(error) })
}
