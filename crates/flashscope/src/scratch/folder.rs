//! Where journals are kept, and where all users of this computer keep them.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_linux::{ROOT_JOURNALS, home_of};

use crate::exit::{Exit, Failure};

/// The state directory in a home (XDG Base Directory Specification), and the folder of journals in that.
const STATE: &str = ".local/state";
const NAME: &str = "flashscope";

/// What decides where journals are.
struct Place {
    /// `FLASHSCOPE_JOURNALS`.
    named: Option<PathBuf>,
    is_root: bool,
    /// The state directory of this user, by the environment.
    state: Option<PathBuf>,
    /// The home of the user: as root, of the one who called sudo.
    home: Option<PathBuf>,
}

impl Place {
    fn of_this_process() -> io::Result<Self> {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let user = rustix::process::geteuid();
        let state = variable("XDG_STATE_HOME").filter(|state| state.is_absolute());
        let caller = || {
            let number = ["SUDO_UID", "PKEXEC_UID"].into_iter().find_map(|name| std::env::var(name).ok());
            number.and_then(|number| number.parse().ok())
        };
        let person = if user.is_root() { caller() } else { Some(user.as_raw()) };
        let home = person.map(home_of).transpose()?.flatten();
        if let (true, Some(number), None) = (user.is_root(), person, &home) {
            return Err(io::Error::other(format!("no user with the number {number} is known here")));
        }
        Ok(Self {
            named: variable("FLASHSCOPE_JOURNALS"),
            is_root: user.is_root(),
            state: state.or_else(|| variable("HOME").map(|home| home.join(STATE))),
            home,
        })
    }

    /// The default folder of this user. Root has one, whatever sudo makes of `HOME`.
    fn own(&self) -> Option<PathBuf> {
        if self.is_root {
            return Some(PathBuf::from(ROOT_JOURNALS));
        }
        let state = self.state.clone().or_else(|| self.home.as_ref().map(|home| home.join(STATE)));
        state.map(|state| state.join(NAME))
    }

    /// The default folder of the other user: root's, or that of who called sudo.
    fn other(&self) -> Option<PathBuf> {
        if self.is_root {
            return self.home.as_ref().map(|home| home.join(STATE).join(NAME));
        }
        Some(PathBuf::from(ROOT_JOURNALS))
    }

    fn all(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in [self.named.clone(), self.own(), self.other()].into_iter().flatten() {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}

/// The folder for a new journal: `FLASHSCOPE_JOURNALS`, else the default one of this user.
///
/// # Errors
/// Exit code 2 if there is none: no variable and no home directory.
pub fn folder() -> Result<PathBuf, Failure> {
    let place = Place::of_this_process().map_err(no_home)?;
    place.named.clone().or_else(|| place.own()).ok_or_else(|| Failure {
        exit: Exit::Usage,
        error: anyhow!("there is no folder for the journal; name one (FLASHSCOPE_JOURNALS=DIR)"),
    })
}

/// Every folder where a journal may be that concerns this user: `FLASHSCOPE_JOURNALS`, the default one, and
/// root's, or as root, that of the user who called sudo. Each at most once.
///
/// # Errors
/// Exit code 4 if the home of the user cannot be found out.
pub fn folders() -> Result<Vec<PathBuf>, Failure> {
    Ok(Place::of_this_process().map_err(no_home)?.all())
}

fn no_home(error: io::Error) -> Failure {
    let error = anyhow!(
        "cannot find the home directory of this user, where data of an interrupted measurement may be: {error}"
    );
    Failure { exit: Exit::Refused, error }
}

/// A folder as messages show it.
pub fn shown(path: &Path) -> String {
    flashscope_linux::printable(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(named: Option<&str>, is_root: bool, state: Option<&str>, home: Option<&str>) -> Place {
        let [named, state, home] = [named, state, home].map(|path| path.map(PathBuf::from));
        Place { named, is_root, state, home }
    }

    #[test]
    fn root_and_the_user_look_into_the_folders_of_each_other() {
        let (of_ada, of_root) = ("/home/ada/.local/state/flashscope", "/var/lib/flashscope");
        let ada = Some("/home/ada");
        for (place, folders) in [
            (place(None, true, Some("/state"), ada), vec![of_root, of_ada]),
            (place(None, true, Some("/state"), None), vec![of_root]),
            (place(None, false, Some("/home/ada/.local/state"), ada), vec![of_ada, of_root]),
            (place(None, false, None, ada), vec![of_ada, of_root]),
            (place(None, false, Some("/state"), ada), vec!["/state/flashscope", of_root]),
            (place(Some("/big"), false, None, ada), vec!["/big", of_ada, of_root]),
            (place(Some(of_root), true, None, ada), vec![of_root, of_ada]),
            (place(None, false, None, None), vec![of_root]),
        ] {
            assert_eq!(place.all(), folders.iter().map(PathBuf::from).collect::<Vec<_>>());
        }
    }
}
