//! One open erase block: its run and its log.

// No run: no offset continues here.
pub(super) const NO_RUN: u64 = u64::MAX;

/// One open erase block. Offsets are relative to its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenUnit {
    pub(super) unit: u64,
    pub(super) written_at: u64,
    /// Its position in the order of opening; with clock eviction, of opening or sparing.
    pub(super) queued_at: u64,
    /// Written since it was opened or spared.
    pub(super) rewritten: bool,
    pub(super) random: bool,
    pub(super) run_start: u64,
    pub(super) run_end: u64,
    pub(super) run_pages: u64,
    pub(super) log_pages: u64,
    /// Bytes written since the unit was opened or last merged.
    pub(super) held_bytes: u64,
    pub(super) superseded_bytes: u64,
}

impl OpenUnit {
    pub(super) const fn new(unit: u64, queued_at: u64) -> Self {
        Self {
            unit,
            written_at: 0,
            queued_at,
            rewritten: false,
            random: false,
            run_start: NO_RUN,
            run_end: NO_RUN,
            run_pages: 0,
            log_pages: 0,
            held_bytes: 0,
            superseded_bytes: 0,
        }
    }

    pub(super) const fn is_fresh(&self) -> bool {
        !self.random && self.run_start == NO_RUN
    }

    pub(super) const fn is_sequential(&self) -> bool {
        self.run_start == 0
    }

    pub(super) const fn start_run(&mut self, at: u64) {
        (self.run_start, self.run_end, self.run_pages) = (at, at, 0);
    }

    pub(super) const fn extend_run(&mut self, from: u64, end: u64, pages: u64) {
        self.held_bytes += end - from;
        self.run_end = end;
        self.run_pages += pages;
    }
}
