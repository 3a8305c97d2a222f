//! The costs of copies and erases inside a translation layer.

use crate::draw::Draw;
use crate::rounding::rounded;

/// The time of a page copy and of an erase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CopyCosts {
    pub(crate) copy_page_us: f64,
    pub(crate) erase_us: f64,
}

impl CopyCosts {
    /// A copy is a read and a program. An erase takes 1.5 to 5 ms, the range of MLC and TLC.
    pub(crate) fn sample(page_program_us: f64, draw: &mut Draw) -> Self {
        Self {
            copy_page_us: rounded(page_program_us + draw.uniform(50.0, 300.0), 1),
            erase_us: rounded(draw.uniform(1500.0, 5000.0), 1),
        }
    }
}
