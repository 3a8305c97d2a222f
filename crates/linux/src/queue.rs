//! How a disk takes requests: sizes, depth, the write cache, and which of the sizes it names are none.

use std::fmt;

use flashscope_device::{Bytes, SECTOR};

use crate::sysfs::Node;

/// How a disk takes requests. What sysfs does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    /// The unit of offsets and lengths.
    pub logical_block: Option<Bytes>,
    /// The unit below which the disk says it works less well.
    pub physical_block: Option<Bytes>,
    /// The largest request the kernel makes; longer ones are cut.
    pub max_request: Option<Bytes>,
    /// The largest request that disk, reader and bus take; `None` too if they set no limit.
    pub max_hardware_request: Option<Bytes>,
    /// In how many pieces of memory a request may lie.
    pub max_segments: Option<u32>,
    /// How many requests the disk takes at a time.
    pub depth: Option<u32>,
    /// How much it discards at a time; zero if it cannot.
    pub max_discard: Option<Bytes>,
    /// How much the kernel reads ahead.
    pub read_ahead: Option<Bytes>,
    /// The request size it says it likes best, if it names one.
    pub optimal: Option<OptimalSize>,
    /// Whether it keeps writes in memory of its own.
    pub write_cache: Option<WriteCache>,
}

/// Whether a disk keeps writes in memory of its own, as far as it tells. Many sticks have a cache and do not say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteCache {
    /// It does: what is written is safe only after a flush.
    WriteBack,
    /// It says, or does not deny, that it does not.
    WriteThrough,
}

impl WriteCache {
    /// The words of sysfs: `write back`, `write back, no read (daft)`, `write through`, `none`.
    fn from_sysfs(text: &str) -> Option<Self> {
        match text {
            _ if text.starts_with("write back") => Some(Self::WriteBack),
            _ if text.starts_with("write through") || text == "none" => Some(Self::WriteThrough),
            _ => None,
        }
    }

    /// As sysfs has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WriteBack => "write back",
            Self::WriteThrough => "write through",
        }
    }
}

/// The request size that a disk says it likes best (`optimal_io_size`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptimalSize {
    /// What it says.
    pub size: Bytes,
    /// Why that is to be ignored, if it is.
    pub bogus: Option<Bogus>,
}

/// Why a size that a disk names cannot be the one it likes best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bogus {
    /// 65535 blocks, the most that a field of 16 bits holds: bridges put the limit of a transfer there, 33553920 bytes for
    /// blocks of 512. Partitions that begin at multiples of it begin within a page.
    FieldFull {
        /// The block it counts in.
        block: Bytes,
    },
    /// No multiple of the block below which, as it says itself, it works less well, or of memory's pages.
    Odd {
        /// That block, or page.
        unit: Bytes,
    },
    /// More than there is.
    MoreThanAll,
}

impl fmt::Display for Bogus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldFull { block } => {
                write!(
                    formatter,
                    "it is 65535 blocks of {block}, the most that fits in 16 bits: a limit, not a liking"
                )
            }
            Self::Odd { unit } => write!(formatter, "it is no multiple of {unit}"),
            Self::MoreThanAll => formatter.write_str("it is more than the disk holds"),
        }
    }
}

/// The largest number that a field of 16 bits holds.
const FIELD_FULL: u64 = 0xffff;

/// Memory's page: the kernel takes no smaller size for an optimal one (`sd_validate_opt_xfer_size` in Linux).
const MEMORY_PAGE: Bytes = Bytes::kib(4);

impl OptimalSize {
    fn judged(size: Bytes, physical_block: Option<Bytes>, capacity: Bytes) -> Self {
        let unit = physical_block.unwrap_or(SECTOR).max(MEMORY_PAGE);
        let full = [SECTOR, Bytes::kib(1), Bytes::kib(2), Bytes::kib(4)].into_iter();
        let field_full = full.map(|block| (block, block * FIELD_FULL)).find(|(_, limit)| *limit == size);
        let bogus = match field_full {
            Some((block, _)) => Some(Bogus::FieldFull { block }),
            None if !size.is_multiple_of(unit) => Some(Bogus::Odd { unit }),
            None if !capacity.is_zero() && size > capacity => Some(Bogus::MoreThanAll),
            None => None,
        };
        Self { size, bogus }
    }
}

/// What sysfs tells of how the disk at `node` takes requests; `capacity` is what it claims to hold.
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
        optimal: optimal.map(|size| OptimalSize::judged(size, physical_block, capacity)),
        write_cache: write_cache(&queue, device.as_ref()),
    }
}

/// What the kernel tells of a disk that sets no limit: as many sectors as a number of 32 bits counts, in whole KiB.
const NO_LIMIT: Bytes = Bytes::kib(u32::MAX as u64 / 2);

/// What is a limit.
fn limit(told: Bytes) -> Option<Bytes> {
    (told < NO_LIMIT).then_some(told)
}

/// What the disk says (SCSI's caching mode page), else what the kernel takes it for.
fn write_cache(queue: &Node, device: Option<&Node>) -> Option<WriteCache> {
    let of_scsi = device.into_iter().flat_map(|device| device.entries("scsi_disk"));
    let said = of_scsi.filter_map(|disk| disk.text("cache_type")).next();
    said.or_else(|| queue.text("write_cache")).as_deref().and_then(WriteCache::from_sysfs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_odd_sizes_are_no_likings() {
        let bogus = |bytes| OptimalSize::judged(Bytes::new(bytes), Some(SECTOR), Bytes::gib(8)).bogus;
        assert_eq!(bogus(33_553_920), Some(Bogus::FieldFull { block: SECTOR }));
        assert_eq!(bogus(268_431_360), Some(Bogus::FieldFull { block: Bytes::kib(4) }));
        assert_eq!(bogus(1_048_064), Some(Bogus::Odd { unit: Bytes::kib(4) }));
        assert_eq!(bogus(16 << 30), Some(Bogus::MoreThanAll));
        for credible in [65_536, 1 << 20, 3 << 16] {
            assert_eq!(bogus(credible), None);
        }
    }

    #[test]
    fn a_limit_that_is_none_is_not_told() {
        assert_eq!(limit(Bytes::mib(32)), Some(Bytes::mib(32)));
        assert_eq!(limit(Bytes::kib(2_147_483_647)), None);
    }

    #[test]
    fn caches_are_read_as_sysfs_words_them() {
        assert_eq!(WriteCache::from_sysfs("write back, no read (daft)"), Some(WriteCache::WriteBack));
        assert_eq!(WriteCache::from_sysfs("write through"), Some(WriteCache::WriteThrough));
        assert_eq!(WriteCache::from_sysfs("fast"), None);
    }
}
