//! Write frontiers: the open blocks.

use super::blocks::NONE;

/// An open block, programmed from start to end. A frontier without a block counts as full.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frontier {
    pub(super) block: u32,
    pub(super) next: u32,
    pub(super) end: u32,
}

impl Frontier {
    pub(super) const CLOSED: Self = Self { block: NONE, next: 0, end: 0 };

    pub(super) const fn is_full(self) -> bool {
        self.next == self.end
    }
}
