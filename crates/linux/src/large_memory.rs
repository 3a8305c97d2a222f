//! Memory for large requests, in large pages where the kernel has them.
//!
//! The kernel takes hold of every page that a request past its cache transfers, and hands each to the driver. In ordinary pages 1 MiB lies
//! in 256 pieces, and taking hold of them is a quarter to a third of what such a read costs whoever makes it (60 to 101 us of CPU time
//! a read of a served stick, 41 to 77 us in one large page). In one piece it is not cut either where a disk takes few (`max_segments`).

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::{fmt, ptr, slice};

use flashscope_device::Bytes;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A large page of most kernels; where it is another, the memory is ordinary memory.
const LARGE_PAGE: usize = 2 << 20;

/// Zeroed memory that begins where a large page does, mapped for itself.
pub struct LargeMemory {
    mapped: *mut c_void,
    /// A page more than is used: the kernel aligns mappings to ordinary pages only. What is never touched takes no memory.
    mapped_bytes: usize,
    start: *mut u8,
    bytes: usize,
}

impl LargeMemory {
    /// So many bytes at least; `None` if the system refuses them.
    pub fn of(length: Bytes) -> Option<Self> {
        let bytes = length.to_usize().max(1).checked_next_multiple_of(LARGE_PAGE)?;
        let mapped_bytes = bytes.checked_add(LARGE_PAGE)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of this program.
        let mapped =
            unsafe { mmap_anonymous(ptr::null_mut(), mapped_bytes, access, MapFlags::PRIVATE) }.ok()?;
        let start = mapped.map_addr(|address| address.next_multiple_of(LARGE_PAGE));
        // SAFETY: the range lies within the mapping, and the advice leaves what it holds as it is.
        let _without = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
        Some(Self { mapped, mapped_bytes, start: start.cast(), bytes })
    }
}

impl Deref for LargeMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, which is zeroed and lives as long as this.
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
    fn it_begins_at_a_large_page_and_holds_what_is_written() {
        for (length, bytes) in [(Bytes::mib(1), 2 << 20), (Bytes::mib(2) + Bytes::new(1), 4 << 20)] {
            let mut memory = LargeMemory::of(length).unwrap();
            assert!(memory.as_ptr().addr().is_multiple_of(LARGE_PAGE));
            assert!(memory.len() == bytes && memory.iter().all(|byte| *byte == 0));
            memory.fill(7);
            assert!(memory.iter().all(|byte| *byte == 7));
        }
        assert!(LargeMemory::of(Bytes::new(u64::MAX)).is_none(), "no system has so much");
    }
}
