//! Lists the recordings in `testdata/traces`, so that they become a part of the program.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // Read at run time: a target folder may serve several checkouts.
    let package =
        env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("cargo sets CARGO_MANIFEST_DIR"))?;
    let folder = Path::new(&package).join("../../testdata/traces").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.path()))
        .filter(|path: &io::Result<PathBuf>| {
            path.as_ref().is_ok_and(|path| path.extension().is_some_and(|extension| extension == "zst"))
        })
        .collect::<io::Result<_>>()?;
    files.sort();
    let row = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("    ({name:?}, include_bytes!({:?})),\n", path.display().to_string())
    };
    let rows: String = files.iter().map(row).collect();
    let text = format!("&[\n{rows}]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("files.rs"), text)
}
