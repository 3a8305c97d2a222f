//! Every parser of untrusted bytes.

mod kernel_files;
mod layouts;
mod recordings;
mod texts;
mod traces;

use std::path::{Path, PathBuf};

use crate::target::Target;

/// Every parser of untrusted bytes, with its samples.
///
/// # Errors
/// That of the system if a sample cannot be read, or a temporary directory not be made.
pub fn targets() -> std::io::Result<Vec<Target>> {
    let mut targets = layouts::targets()?;
    targets.extend(texts::targets()?);
    targets.push(traces::target()?);
    targets.extend(recordings::targets()?);
    targets.extend(kernel_files::targets()?);
    Ok(targets)
}

/// A file or folder of the repository's test data.
fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata").join(name)
}

/// The contents of the files in a folder of test data whose names end so, in the order of their names.
fn samples(folder: &str, end: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(testdata(folder))?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}
