//! A cache in single-level cells: fast while there is room, and a debt to be folded into dense cells.
//!
//! What a write would have cost the translation layer is not lost: it joins the debt, and is paid in proportion as the cache is
//! folded. So a cache that took scattered writes folds slowly.

use crate::factor::{share, times};
use crate::link::nanoseconds;
use crate::profile::{Profile, WhenFull};
use crate::writes::WriteCommand;

#[derive(Debug, Clone)]
pub(crate) struct SlcCache {
    page_bytes: u64,
    fixed_bytes: u64,
    free_share: f64,
    overhead_ns: u64,
    page_program_ns: u64,
    fold_ns_per_byte: f64,
    when_full: WhenFull,
    held_bytes: u64,
    copying_ns: u64,
    folded_bytes: u64,
}

/// What the flash has to do for a write: `program_ns` beside the data's way, `then_ns` after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) program_ns: u64,
    pub(crate) then_ns: u64,
}

impl SlcCache {
    pub(crate) fn new(profile: &Profile) -> Option<Self> {
        let cache = profile.slc_cache.as_ref()?;
        Some(Self {
            page_bytes: profile.ftl.page.get(),
            fixed_bytes: cache.size.get(),
            free_share: cache.free_share,
            overhead_ns: nanoseconds(cache.overhead_us),
            page_program_ns: nanoseconds(cache.page_program_us),
            fold_ns_per_byte: 1e3 / cache.fold_megabytes_per_s,
            when_full: cache.when_full,
            held_bytes: 0,
            copying_ns: 0,
            folded_bytes: 0,
        })
    }

    /// Takes a write for which the flash would do `work` without a cache, while `free_bytes` hold nothing. A page that the write
    /// before has begun has its room already.
    pub(crate) fn take(&mut self, write: WriteCommand, work: Work, free_bytes: u64) -> Work {
        let bytes = write.fresh_pages * self.page_bytes;
        let over = (self.held_bytes + bytes).saturating_sub(self.room_bytes(free_bytes));
        if over > 0 && self.when_full == WhenFull::Direct {
            return work;
        }
        let folding_ns = self.fold(over.min(self.held_bytes));
        self.held_bytes += bytes;
        self.copying_ns += work.then_ns;
        Work { program_ns: self.overhead_ns + write.pages * self.page_program_ns, then_ns: folding_ns }
    }

    /// Folds in the background for at most this time, and returns what it took.
    pub(crate) fn fold_for(&mut self, budget_ns: u64) -> u64 {
        let all_ns = self.debt_ns();
        if all_ns <= budget_ns {
            return self.fold(self.held_bytes);
        }
        self.fold(share(self.held_bytes, budget_ns, all_ns));
        budget_ns
    }

    pub(crate) const fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    pub(crate) const fn pages_folded(&self) -> u64 {
        self.folded_bytes / self.page_bytes
    }

    fn room_bytes(&self, free_bytes: u64) -> u64 {
        self.fixed_bytes + times(free_bytes, self.free_share)
    }

    /// What folding all of it takes.
    fn debt_ns(&self) -> u64 {
        times(self.held_bytes, self.fold_ns_per_byte) + self.copying_ns
    }

    /// Folds so many of the bytes it holds, with their share of the copying, and returns what that takes.
    fn fold(&mut self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let copying_ns = share(self.copying_ns, bytes, self.held_bytes);
        self.copying_ns -= copying_ns;
        self.held_bytes -= bytes;
        self.folded_bytes += bytes;
        copying_ns + times(bytes, self.fold_ns_per_byte)
    }
}
