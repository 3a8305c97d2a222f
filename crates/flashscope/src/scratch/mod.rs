//! `--scratch`: write tests on a stick full of data, which is put back afterwards.

mod folder;
mod session;
mod unfinished;

pub use folder::folder;
pub use session::{finish, start};
pub use unfinished::{medium_of, refuse_unfinished};
