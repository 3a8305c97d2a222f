//! Counts the pages of a file that are in the page cache, with mincore(2).

use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The bytes that are mapped at a time.
const CHUNK: usize = 64 << 20;

/// The pages of the first `length` bytes of `file` in the page cache, and all pages; `None` where that is
/// not available.
pub fn resident_pages(file: BorrowedFd<'_>, length: NonZeroUsize) -> Option<(u64, u64)> {
    let length = length.get();
    let chunks = (0..length).step_by(CHUNK).map(|from| chunk(file, from, CHUNK.min(length - from)));
    chunks.sum::<Option<Counted>>().map(|counted| (counted.resident, counted.pages))
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    resident: u64,
    pages: u64,
}

impl std::iter::Sum for Counted {
    fn sum<I: Iterator<Item = Self>>(chunks: I) -> Self {
        let none = Self { resident: 0, pages: 0 };
        let plus = |sum: Self, each: Self| Self {
            resident: sum.resident + each.resident,
            pages: sum.pages + each.pages,
        };
        chunks.fold(none, plus)
    }
}

fn chunk(file: BorrowedFd<'_>, from: usize, length: usize) -> Option<Counted> {
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of this program.
    let mapped =
        unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, from as u64) }
            .ok()?;
    let mut states = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: the range is the mapping made above, and `states` holds a byte for each of its pages.
    let status = unsafe { libc::mincore(mapped, length, states.as_mut_ptr()) };
    // SAFETY: the mapping is the one made above, whole, and nothing refers to it any more.
    let unmapped = unsafe { munmap(mapped, length) };
    let is_known = status == 0 && unmapped.is_ok();
    let resident = states.iter().filter(|state| **state & 1 == 1).count() as u64;
    is_known.then_some(Counted { resident, pages: states.len() as u64 })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn freshly_written_file_is_in_the_page_cache() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &vec![7; 3 * 4096 + 1]).unwrap();
        let length = NonZeroUsize::new(3 * 4096 + 1).unwrap();
        let (resident, pages) = resident_pages(file.as_fd(), length).unwrap();
        assert!(resident == pages && pages > 0, "{resident} of {pages}");
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(resident_pages(socket.as_fd(), length).is_none());
    }
}
