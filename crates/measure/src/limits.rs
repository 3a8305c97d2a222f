//! Numbers that several experiments and workloads share, each with its reason.

use flashscope_device::Bytes;

/// The size of a large request. Larger ones gain nothing on sticks: the kernel splits them anyway. It is two
/// recording units of class 10 (SD Physical Layer 4.10, table 4-56).
pub const LARGE_REQUEST: Bytes = Bytes::mib(1);

/// The size of a small request: a page of the system, which most filesystems and controllers do not divide.
pub const SMALL_REQUEST: Bytes = Bytes::kib(4);

/// Offsets that are read to see whether a device, a region or a file holds data. 16 are enough to tell a half
/// from a quarter.
pub const CONTENT_READS: usize = 16;

/// The number of attempts at a request of a test of the capacity: wrong only if wrong twice.
pub const ATTEMPTS: u32 = 2;

/// The most attempts at a write that fails.
pub const TRIES: u32 = 3;

/// The start of a device that rows of requests leave alone: partition table, FAT area, and what is managed
/// otherwise. The latter reaches as far as this on cards whose logs were published (wirenboard, no. 8).
pub const SPEED_START: Bytes = Bytes::mib(32);

/// The largest erase block that is written whole, to free its slot or to be copied.
pub const WHOLE_MAX: Bytes = Bytes::mib(32);
