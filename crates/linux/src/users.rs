//! The users of this computer.

use std::io;
use std::path::PathBuf;

use nix::unistd::{Uid, User};

/// The home directory of the user with this number; `None` if there is no such user.
///
/// # Errors
/// That of the system, if it cannot read its list of users.
pub fn home_of(user: u32) -> io::Result<Option<PathBuf>> {
    Ok(User::from_uid(Uid::from_raw(user))?.map(|user| user.dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_is_found_by_number_and_missing_without_the_user() {
        // Every Linux has root (User Database Specification; Linux Standard Base).
        assert!(home_of(0).unwrap().is_some_and(|home| home.is_absolute()));
        assert_eq!(home_of(u32::MAX - 7).unwrap(), None);
    }
}
