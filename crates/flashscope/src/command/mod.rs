//! One file a command. A command prints only through its printer.

pub mod apply;
pub mod bench;
mod capacity_probe;
pub mod check;
mod check_classes;
mod check_directory;
pub mod compare;
pub mod fs;
pub mod generate;
pub mod import;
pub mod list;
pub mod measure;
pub mod plan;
mod plan_gain;
mod recordings;
pub mod report;
pub mod restore;
pub mod schema;
mod show;
pub mod sim;
pub mod undo;
pub mod verify;
mod verify_free_space;
mod verify_full;
pub mod watch;
pub mod whatif;
