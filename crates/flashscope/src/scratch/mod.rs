//! `--scratch`: write tests on a stick full of data, which is put back afterwards.

mod folder;
mod session;
mod unfinished;

pub use folder::{folder, folders};
pub use session::{finish, start};
pub use unfinished::{
    medium_of, of_another_user, refuse_unfinished, restore_command, unfinished_remark, unreadable,
};
