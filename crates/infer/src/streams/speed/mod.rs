//! The speed of equal requests in a row: the steady phase, apart from how the row started.
//!
//! From bottom to top: the phases of a row; whether it is decided; recurring stalls; an exhausted cache;
//! speeds that flash cannot have; the speed itself.

mod clear;
mod expected;
mod not_flash;
mod periods;
mod phases;
mod rate;
mod recovery;
#[cfg(test)]
mod tests;

pub(super) use self::clear::CLEAR_HALF_WIDTH;
pub use self::clear::{is_changing, is_clear, is_fresh, is_vague};
pub use self::expected::Expected;
pub use self::not_flash::{exceeds, impossible};
pub use self::phases::{CLEAR_AFTER, Latencies, Startup};
pub use self::rate::{Speed, Unsettled, is_one_request, speed, speed_of};
pub use self::recovery::ExhaustedCache;
