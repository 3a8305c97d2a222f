//! Drops files from the page cache, and checks whether they are gone from it.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::AsFd;
use std::path::Path;

use flashscope_device::host::CacheDrop;
use rustix::fs::Advice;

use crate::resident::resident_pages;

/// Drops a file from the page cache. The file must have been flushed.
pub fn drop_file(file: &File) {
    // Advice only: pages that stay are counted afterwards.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
}

/// Opens a file or disk anew, and drops what was written to it, or read from it, from the page cache.
///
/// # Errors
/// If it cannot be opened or flushed.
pub fn drop_from_page_cache(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_data()?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Asks the kernel to drop all caches. Dirty data stays (Documentation/admin-guide/sysctl/vm.rst).
pub fn drop_caches() -> CacheDrop {
    match fs::write("/proc/sys/vm/drop_caches", "3\n") {
        Ok(()) => CacheDrop::Dropped,
        Err(_) => CacheDrop::Advised,
    }
}

/// Counts the pages of files, and those of them in the page cache.
#[derive(Debug, Clone, Copy, Default)]
pub struct CachedShare {
    cached: u64,
    pages: u64,
    is_unknown: bool,
}

impl CachedShare {
    /// Adds a file of this length.
    pub fn add(&mut self, file: &File, length: u64) {
        let Some(length) = usize::try_from(length).ok().and_then(NonZeroUsize::new) else { return };
        match resident_pages(file.as_fd(), length) {
            Some((cached, pages)) => {
                self.cached += cached;
                self.pages += pages;
            }
            None => self.is_unknown = true,
        }
    }

    /// The cached share of all pages; `None` if the kernel does not report it.
    pub fn share(self) -> Option<f64> {
        (self.pages > 0 && !self.is_unknown).then(|| self.cached as f64 / self.pages as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn cached_share_is_unknown_without_pages_and_if_one_file_is_unknown() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &[7; 3 * 4096]).unwrap();
        let mut share = CachedShare::default();
        assert_eq!(share.share(), None, "no file");
        share.add(&file, 0);
        assert_eq!(share.share(), None, "an empty file");
        share.add(&file, 3 * 4096);
        assert_eq!(share.share(), Some(1.0), "just written");
        let (socket, _other) = UnixStream::pair().unwrap();
        share.add(&File::from(OwnedFd::from(socket)), 4096);
        assert_eq!(share.share(), None, "a socket");
    }
}
