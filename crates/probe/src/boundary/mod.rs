//! What reads across boundaries say about page and erase block: the measuring search and the inference weigh every read by
//! this same model. See docs/methods/align.md.

mod choice;
mod figure;
mod levels;
mod posterior;

pub use choice::{is_decided, telling};
pub use figure::Figures;
pub use posterior::explain;

use flashscope_device::Bytes;

/// The smallest erase block that is looked for: that of the first cards.
pub const ERASE_BLOCK_MIN: Bytes = Bytes::kib(64);
/// The largest: four times the largest allocation unit of the SD status register (64 MiB), with its odd factors.
pub const ERASE_BLOCK_MAX: Bytes = Bytes::mib(7 * 64);
