//! What a translation layer takes to move data inside, on sticks and on patients.

use crate::draw::Draw;

/// Times of moving data inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    copy_page_us: f64,
    erase_us: f64,
}

impl Work {
    /// A page is read and programmed; MLC and TLC take 1.5 to 5 ms for an erase.
    pub(crate) fn draw(page_program_us: f64, draw: &mut Draw) -> Self {
        Self {
            copy_page_us: page_program_us + draw.between(50.0, 300.0),
            erase_us: draw.between(1500.0, 5000.0),
        }
    }

    /// Its lines of a profile.
    pub(crate) fn toml(self) -> String {
        format!("copy_page_us = {:.1}\nerase_us = {:.1}\n", self.copy_page_us, self.erase_us)
    }
}
