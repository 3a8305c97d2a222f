//! Memory for large requests, in huge pages where the kernel has them.
//!
//! For direct I/O the kernel pins every page of the buffer. 1 MiB is 256 ordinary pages, and pinning them
//! takes a quarter to a third of the CPU time of such a read (60 to 101 us a read of a served stick, 41 to
//! 77 us with one huge page). A huge page also keeps the request in one segment, where a disk takes few
//! (`max_segments`).

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::{fmt, ptr, slice};

use flashscope_device::Bytes;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// The size of a huge page on most kernels. On others the memory is ordinary memory.
const LARGE_PAGE: usize = 2 << 20;

/// Zeroed memory that starts at a huge-page boundary, in a mapping of its own.
pub struct LargeMemory {
    mapped: *mut c_void,
    /// One huge page more than `bytes`: the kernel aligns mappings to ordinary pages only. Untouched pages
    /// take no memory.
    mapped_bytes: usize,
    start: *mut u8,
    bytes: usize,
}

impl LargeMemory {
    /// At least `length` bytes; `None` if the system refuses them.
    pub fn of(length: Bytes) -> Option<Self> {
        let bytes = length.to_usize().max(1).checked_next_multiple_of(LARGE_PAGE)?;
        let mapped_bytes = bytes.checked_add(LARGE_PAGE)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of this program.
        let mapped =
            unsafe { mmap_anonymous(ptr::null_mut(), mapped_bytes, access, MapFlags::PRIVATE) }.ok()?;
        let start = mapped.map_addr(|address| address.next_multiple_of(LARGE_PAGE));
        // SAFETY: the range lies within the mapping, and the advice does not change its contents.
        let _without = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
        Some(Self { mapped, mapped_bytes, start: start.cast(), bytes })
    }
}

impl Deref for LargeMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, which is zeroed and lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start, self.bytes) }
    }
}

impl DerefMut for LargeMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nothing else refers to it.
        unsafe { slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for LargeMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is whole, and nothing refers to it any more.
        let _unmapped = unsafe { munmap(self.mapped, self.mapped_bytes) };
    }
}

impl fmt::Debug for LargeMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LargeMemory of {} bytes", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zeroed_and_writable() {
        for (length, bytes) in [(Bytes::mib(1), 2 << 20), (Bytes::mib(2) + Bytes::new(1), 4 << 20)] {
            let mut memory = LargeMemory::of(length).unwrap();
            assert!(memory.as_ptr().addr().is_multiple_of(LARGE_PAGE));
            assert!(memory.len() == bytes && memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
            assert!(memory.iter().all(|byte| *byte == 7));
        }
        assert!(LargeMemory::of(Bytes::new(u64::MAX)).is_none(), "no system has that much");
    }
}
