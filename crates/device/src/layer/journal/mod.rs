//! A journal of original data: a measurement may overwrite a device full of data, and every byte comes back.
//!
//! [`Journaled`] saves the data of a range to a [`JournalStore`], durably, before the range is overwritten
//! for the first time. What nobody reads back is written with its old data, so that it need not come back.
//! [`restore`] writes the originals back. After a crash, [`JournalContents`] reads what
//! was saved, and [`recognise`] checks that the device is the one that was saved.

mod contents;
mod error;
mod format;
mod header;
mod journaled;
mod originals;
mod range_set;
mod recognise;
mod restore;
mod saved;
mod shared_blocks;
mod store;

pub use contents::JournalContents;
pub use error::JournalError;
pub use format::MAGIC;
pub use header::{JournalHeader, JournalMedium, JournalStart, Place};
pub use journaled::{Journaled, saved_max};
pub use recognise::{Recognition, recognise, resembles};
pub use restore::{Restored, restore};
pub use store::{JournalStore, MemoryStore};
