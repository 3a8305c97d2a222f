//! Where journals are kept.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::exit::{Exit, Failure};

/// The folder of journals: `FLASHSCOPE_JOURNALS`; for root /var/lib/flashscope, whatever sudo makes of
/// `HOME`; else the state directory of the user (XDG Base Directory Specification).
///
/// # Errors
/// Exit code 2 if there is none: no variable and no home directory.
pub fn folder() -> Result<PathBuf, Failure> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = variable("FLASHSCOPE_JOURNALS") {
        return Ok(named);
    }
    if rustix::process::geteuid().is_root() {
        return Ok(Path::new("/var/lib/flashscope").to_path_buf());
    }
    let state = variable("XDG_STATE_HOME").filter(|state| state.is_absolute());
    let state = state.or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("flashscope")).ok_or_else(|| Failure {
        exit: Exit::Usage,
        error: anyhow!("there is no folder for the journal; name one (FLASHSCOPE_JOURNALS=DIR)"),
    })
}
