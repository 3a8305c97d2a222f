//! Why a journal cannot be written, read or restored.

use crate::contract::DeviceError;
use crate::request::RequestError;
use crate::transfer::MediumError;

/// A journal that cannot be written, read or restored.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It is no journal.
    #[error("this is not a journal of flashscope")]
    NotJournal,
    /// It is damaged.
    #[error("the journal is damaged ({part}); nothing was written")]
    Damaged {
        /// Where.
        part: String,
    },
    /// It cannot be read or written. The text holds that of the system, so that is no source as well.
    #[error("the journal: {0}")]
    Store(std::io::Error),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A request to the device failed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Another size: this device cannot be the one that was saved.
    #[error("the journal belongs to {expected}, and this is {found}; nothing was written")]
    OtherMedium {
        /// The medium that was saved.
        expected: String,
        /// The medium that is there.
        found: String,
    },
    /// After restoring, data reads back differently.
    #[error(
        "the old data was written back, but {ranges} of it read back differently, first {first}; the medium may be failing"
    )]
    NotRestored {
        /// How much differs, such as `2 ranges`.
        ranges: String,
        /// The first range that differs.
        first: String,
    },
}

impl From<std::io::Error> for JournalError {
    fn from(error: std::io::Error) -> Self {
        Self::Store(error)
    }
}

impl From<MediumError> for JournalError {
    fn from(error: MediumError) -> Self {
        match error {
            MediumError::Device(error) => error.into(),
            MediumError::Request(error) => error.into(),
        }
    }
}

impl JournalError {
    pub(super) fn damaged(part: impl Into<String>) -> Self {
        Self::Damaged { part: part.into() }
    }
}
