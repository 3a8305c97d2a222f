//! Carries a plan out, and takes it back.
//!
//! The tools build table and filesystems in sparse scratch files on the host. So every range that will be
//! written is known before the medium is touched: it is saved for undo, and then written. A tool that fails
//! has touched nothing.

mod build;
mod check;
mod host;
mod make;
mod run;
mod undo;

pub use build::{Image, Piece, build};
pub use check::check;
pub use flashscope_device::transfer::MediumError;
pub use host::{Host, HostError, version_of};
pub use make::{MakeError, make, make_in_partition};
pub use run::{Applied, ApplyError, Means, Step, apply};
pub use undo::{
    MAGIC as UNDO_MAGIC, Restored, UndoError, UndoHeader, UndoSink, UndoState, read_header, restore, state,
};
