//! Where a part of a file lies on its device.

use crate::units::{ByteRange, Bytes};

/// A part of a file that lies in one piece on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileExtent {
    /// The range in the file.
    pub in_file: ByteRange,
    /// Where it begins on the device.
    pub on_device: Bytes,
}

impl FileExtent {
    /// Where it ends on the device.
    #[must_use]
    pub fn end(&self) -> Bytes {
        self.on_device + self.in_file.length
    }
}
