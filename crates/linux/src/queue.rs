//! The request queue of a disk: request sizes, depth, write cache, and implausible sizes.

use std::fmt;

use flashscope_device::{Bytes, SECTOR};

use crate::sysfs::Node;

/// The request queue of a disk. Values that sysfs does not show are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    /// The unit of offsets and lengths.
    pub logical_block: Option<Bytes>,
    /// The unit below which the disk reports slower access.
    pub physical_block: Option<Bytes>,
    /// The largest request that the kernel sends; longer ones are split.
    pub max_request: Option<Bytes>,
    /// The largest request that disk, reader and bus accept; `None` also if they set no limit.
    pub max_hardware_request: Option<Bytes>,
    /// The largest number of memory segments of a request.
    pub max_segments: Option<u32>,
    /// The queue depth of the disk.
    pub depth: Option<u32>,
    /// The largest discard; zero if the disk cannot discard.
    pub max_discard: Option<Bytes>,
    /// The kernel's read-ahead.
    pub read_ahead: Option<Bytes>,
    /// The request size that the disk reports as optimal.
    pub optimal: Option<OptimalSize>,
    /// Whether it has a volatile write cache.
    pub write_cache: Option<WriteCache>,
}

/// Whether a disk has a volatile write cache, as far as it reports. Many sticks have one and do not report
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// It has: data is durable only after a flush.
    WriteBack,
    /// It reports none.
    WriteThrough,
}

impl WriteCache {
    /// From the text in sysfs: `write back`, `write back, no read (daft)`, `write through`, `none`.
    fn from_sysfs(text: &str) -> Option<Self> {
        match text {
            _ if text.starts_with("write back") => Some(Self::WriteBack),
            _ if text.starts_with("write through") || text == "none" => Some(Self::WriteThrough),
            _ => None,
        }
    }

    /// The text in sysfs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteBack => "write back",
            Self::WriteThrough => "write through",
        }
    }
}

/// The request size that a disk reports as optimal (`optimal_io_size`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimalSize {
    /// The reported size.
    pub size: Bytes,
    /// Why it is ignored, if it is.
    pub implausible: Option<ImplausibleReason>,
}

/// Why a reported optimal size is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImplausibleReason {
    /// 65535 blocks, the maximum of a 16-bit field. USB bridges report their transfer limit there: 33553920
    /// bytes for blocks of 512. Partitions aligned to it would start within a page.
    FieldFull {
        /// The block that it counts.
        block: Bytes,
    },
    /// Not a multiple of the physical block, or of a memory page.
    Misaligned {
        /// That block or page.
        unit: Bytes,
    },
    /// More than the capacity.
    AboveCapacity,
}

impl fmt::Display for ImplausibleReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldFull { block } => {
                write!(
                    formatter,
                    "it is 65535 blocks of {block}, the maximum of a 16-bit field: a limit, not an optimum"
                )
            }
            Self::Misaligned { unit } => write!(formatter, "it is not a multiple of {unit}"),
            Self::AboveCapacity => formatter.write_str("it is more than the disk holds"),
        }
    }
}

/// The maximum of a 16-bit field.
const FIELD_FULL: u64 = 0xffff;

/// The memory page. The kernel accepts no smaller optimal size (`sd_validate_opt_xfer_size` in Linux).
const MEMORY_PAGE: Bytes = Bytes::kib(4);

impl OptimalSize {
    fn checked(size: Bytes, physical_block: Option<Bytes>, capacity: Bytes) -> Self {
        let unit = physical_block.unwrap_or(SECTOR).max(MEMORY_PAGE);
        let full = [SECTOR, Bytes::kib(1), Bytes::kib(2), Bytes::kib(4)].into_iter();
        let field_full = full.map(|block| (block, block * FIELD_FULL)).find(|(_, limit)| *limit == size);
        let implausible = match field_full {
            Some((block, _)) => Some(ImplausibleReason::FieldFull { block }),
            None if !size.is_multiple_of(unit) => Some(ImplausibleReason::Misaligned { unit }),
            None if !capacity.is_zero() && size > capacity => Some(ImplausibleReason::AboveCapacity),
            None => None,
        };
        Self { size, implausible }
    }
}

/// Reads the queue of the disk at `node` from sysfs; `capacity` is the reported one.
pub fn read(node: &Node, capacity: Bytes) -> Queue {
    let Some(queue) = node.below("queue") else { return Queue::default() };
    let device = node.below("device");
    let size = |attribute| queue.number(attribute).map(Bytes::new);
    let kib = |attribute| queue.number(attribute).and_then(|kib: u64| kib.checked_mul(1024)).map(Bytes::new);
    let physical_block = size("physical_block_size");
    let optimal = size("optimal_io_size").filter(|size| !size.is_zero());
    Queue {
        logical_block: size("logical_block_size"),
        physical_block,
        max_request: kib("max_sectors_kb"),
        max_hardware_request: kib("max_hw_sectors_kb").and_then(limit),
        max_segments: queue.number("max_segments"),
        depth: device.as_ref().and_then(|device| device.number("queue_depth")),
        max_discard: size("discard_max_bytes"),
        read_ahead: kib("read_ahead_kb"),
        optimal: optimal.map(|size| OptimalSize::checked(size, physical_block, capacity)),
        write_cache: write_cache(&queue, device.as_ref()),
    }
}

/// The kernel's value for a disk without a limit: the most sectors of a 32-bit number, in whole KiB.
const NO_LIMIT: Bytes = Bytes::kib(u32::MAX as u64 / 2);

/// `None` for a disk without a limit.
fn limit(limit: Bytes) -> Option<Bytes> {
    (limit < NO_LIMIT).then_some(limit)
}

/// The disk's own value (SCSI's caching mode page), else the kernel's assumption.
fn write_cache(queue: &Node, device: Option<&Node>) -> Option<WriteCache> {
    let of_scsi = device.into_iter().flat_map(|device| device.entries("scsi_disk"));
    let said = of_scsi.filter_map(|disk| disk.text("cache_type")).next();
    said.or_else(|| queue.text("write_cache")).as_deref().and_then(WriteCache::from_sysfs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_optimal_sizes_are_recognized() {
        let implausible =
            |bytes| OptimalSize::checked(Bytes::new(bytes), Some(SECTOR), Bytes::gib(8)).implausible;
        assert_eq!(implausible(33_553_920), Some(ImplausibleReason::FieldFull { block: SECTOR }));
        assert_eq!(implausible(268_431_360), Some(ImplausibleReason::FieldFull { block: Bytes::kib(4) }));
        assert_eq!(implausible(1_048_064), Some(ImplausibleReason::Misaligned { unit: Bytes::kib(4) }));
        assert_eq!(implausible(16 << 30), Some(ImplausibleReason::AboveCapacity));
        for credible in [65_536, 1 << 20, 3 << 16] {
            assert_eq!(implausible(credible), None);
        }
    }

    #[test]
    fn missing_limit_is_none() {
        assert_eq!(limit(Bytes::mib(32)), Some(Bytes::mib(32)));
        assert_eq!(limit(Bytes::kib(2_147_483_647)), None);
    }

    #[test]
    fn write_cache_texts_of_sysfs_are_parsed() {
        assert_eq!(WriteCache::from_sysfs("write back, no read (daft)"), Some(WriteCache::WriteBack));
        assert_eq!(WriteCache::from_sysfs("write through"), Some(WriteCache::WriteThrough));
        assert_eq!(WriteCache::from_sysfs("fast"), None);
    }
}
