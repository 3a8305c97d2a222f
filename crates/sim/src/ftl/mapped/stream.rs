//! A stream: the sequential run of one append point.

use super::blocks::NONE;

/// A run of writes. Its last unit stays in the controller's buffer until the run reaches the unit's end or
/// ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// The end of the run.
    pub(super) next: u64,
    pub(super) used_at: u64,
    /// The unit that is written in part; `NONE` if the run ends at a unit's end.
    pub(super) unit: u32,
    /// Whether the unit held data before: the rest of it must be copied.
    pub(super) had_data: bool,
}

impl Stream {
    pub(super) const NEW: Self = Self { next: u64::MAX, used_at: 0, unit: NONE, had_data: false };
}
