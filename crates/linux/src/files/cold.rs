//! Making reads cold: the page cache is told to forget, and asked whether it has.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::os::fd::AsFd;

use rustix::fs::Advice;

use crate::resident::resident_pages;

/// How reads were made cold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cold {
    /// Each file was given up (`posix_fadvise` with `POSIX_FADV_DONTNEED`). Folders and the filesystem's tables may still be in
    /// memory.
    Advised,
    /// And the kernel dropped all its caches, folders and tables included (`drop_caches`). Only root may ask for that.
    Dropped,
}

/// Tells the kernel to forget a file, all of which was flushed.
pub fn forget(file: &File) {
    // Advice only: what is still there is counted below.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

/// Asks the kernel to drop all caches; what was not flushed stays (Documentation/admin-guide/sysctl/vm.rst).
pub fn drop_caches() -> Cold {
    match fs::write("/proc/sys/vm/drop_caches", "3\n") {
        Ok(()) => Cold::Dropped,
        Err(_) => Cold::Advised,
    }
}

/// Pages of files that are still in memory, of all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Warmth {
    warm: u64,
    pages: u64,
    is_unknown: bool,
}

impl Warmth {
    /// Counts a file of this length.
    pub fn count(&mut self, file: &File, length: u64) {
        let Some(length) = usize::try_from(length).ok().and_then(NonZeroUsize::new) else { return };
        match resident_pages(file.as_fd(), length) {
            Some((warm, pages)) => {
                self.warm += warm;
                self.pages += pages;
            }
            None => self.is_unknown = true,
        }
    }

    /// The share of all pages; `None` where the kernel does not tell.
    pub fn share(self) -> Option<f64> {
        (self.pages > 0 && !self.is_unknown).then(|| self.warm as f64 / self.pages as f64)
    }
}
