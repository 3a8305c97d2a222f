//! An SLC cache: fast while there is room; its data must be folded into dense cells later.
//!
//! The copying time of the translation layer is deferred, not lost: it is added in proportion when the cache
//! is folded. So a cache with random writes folds slowly.

use crate::arithmetic::nanoseconds;
use crate::arithmetic::{share, times};
use crate::profile::{Profile, WhenFull};
use crate::writes::WriteCommand;

/// The state of an SLC cache.
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
    deferred_copying_ns: u64,
    folded_bytes: u64,
}

/// The work of the flash for a write: `program_ns` overlaps with the data transfer, `then_ns` follows it.
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
            deferred_copying_ns: 0,
            folded_bytes: 0,
        })
    }

    /// The work of a write, which would be `work` without a cache. `free_bytes` of the stick hold no data. A
    /// page that the previous write has begun takes no new room.
    pub(crate) fn write(&mut self, write: WriteCommand, work: Work, free_bytes: u64) -> Work {
        let bytes = write.fresh_pages * self.page_bytes;
        let over = (self.held_bytes + bytes).saturating_sub(self.room_bytes(free_bytes));
        if over > 0 && self.when_full == WhenFull::Direct {
            return work;
        }
        let folding_ns = self.fold(over.min(self.held_bytes));
        self.held_bytes += bytes;
        self.deferred_copying_ns += work.then_ns;
        Work { program_ns: self.overhead_ns + write.pages * self.page_program_ns, then_ns: folding_ns }
    }

    /// Folds in the background for at most this time, and returns the time used.
    pub(crate) fn fold_for(&mut self, budget_ns: u64) -> u64 {
        let all_ns = self.fold_all_ns();
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

    /// The time to fold everything.
    fn fold_all_ns(&self) -> u64 {
        times(self.held_bytes, self.fold_ns_per_byte) + self.deferred_copying_ns
    }

    /// Folds this number of bytes with their share of the deferred copying, and returns the time.
    fn fold(&mut self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let copying_ns = share(self.deferred_copying_ns, bytes, self.held_bytes);
        self.deferred_copying_ns -= copying_ns;
        self.held_bytes -= bytes;
        self.folded_bytes += bytes;
        copying_ns + times(bytes, self.fold_ns_per_byte)
    }
}
