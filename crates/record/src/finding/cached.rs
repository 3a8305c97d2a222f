//! Why a measured speed cannot be the device's.

use flashscope_device::Bytes;

/// Why a measured speed cannot be the device's.
#[derive(Debug, Clone, PartialEq)]
pub enum Cached {
    /// The link carries less.
    Link {
        /// The link's name.
        name: String,
        /// What it carries.
        bytes_per_s: Bytes,
    },
    /// The requests went through the page cache.
    PageCache,
    /// Reads are faster than any flash.
    FasterThanFlash {
        /// Size of each read.
        request: Bytes,
        /// The shortest read of a flash page, seconds.
        flash_s: f64,
        /// Whether the device is mostly blank, so that no flash was read.
        is_blank: bool,
    },
    /// Written data is lost.
    NotKept {
        /// Offsets that do not hold what was written.
        lost: u32,
        /// Offsets that were read back.
        checked: u32,
    },
    /// Files were still in memory.
    InMemory {
        /// The share of their pages.
        share: f64,
    },
    /// Only a part of the files came from the device.
    PartlyRead {
        /// What the device carried.
        carried: Bytes,
        /// What the files hold.
        bytes: Bytes,
    },
}
