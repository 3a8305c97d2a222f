//! Where the published logs are, and how a test skips what this machine lacks.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of published logs that the repository carries.
pub fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/published")
}

/// The folder of logs that may not be copied here (see its README), named by `FLASHSCOPE_CORPUS` or
/// beside the repository. Only tests over it may skip even where everything is required.
pub fn wirenboard() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("FLASHSCOPE_CORPUS").map_or(beside, PathBuf::from);
    let folder = corpus.join("wirenboard");
    if !folder.is_dir() {
        say(&format!("skipped: no folder {}\n", folder.display()));
        return None;
    }
    Some(folder)
}

/// Says something even if the test passes: unlike what `eprintln!` prints, this is not captured.
fn say(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

/// The logs in a folder, by name, in order.
pub fn logs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut logs: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    logs.sort();
    let read = |path: &PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    };
    logs.iter().map(read).collect()
}
