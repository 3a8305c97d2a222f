//! f2fs: sections of whole erase blocks, and the main area on an edge.
//!
//! Segments have 2 MiB. A section of `-s` segments is the least common multiple of segment and erase block.
//! mkfs.f2fs sees the start of a partition on sd and mmcblk disks only, not on loop partitions; a start on an
//! edge serves both.

use flashscope_device::Bytes;

use super::contract::{Cannot, Command, DataArea, Filesystem, FilesystemKind, Placement, Request, Tool};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

/// A segment: 512 blocks of 4 KiB (kernel documentation, f2fs, disk layout).
const SEGMENT: Bytes = Bytes::mib(2);
/// Sections below this number leave too little beside over-provisioning: it grows from 3 % to 8 % for 24 MiB
/// sections on 7.5 GB. Policy.
const SECTIONS_MIN: u64 = 64;
/// mkfs.f2fs refuses smaller ones.
const MINIMUM: Bytes = Bytes::mib(64);
/// The largest volume (kernel documentation: 16 TiB).
const MAXIMUM: Bytes = Bytes::gib(16 * 1024);

/// The options of a placement.
const OPTIONS: [KnownOption; 3] = [
    KnownOption { flag: "-s", value: OptionValue::Number },
    KnownOption { flag: "-z", value: OptionValue::Number },
    KnownOption { flag: "-t", value: OptionValue::OneOf(&["0"]) },
];

/// f2fs.
pub(super) struct F2fs;

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

impl Filesystem for F2fs {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::F2fs
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.f2fs",
            package: "f2fs-tools",
            first: &["-f", "-q"],
            label: "-l",
            version_option: Some("-V"),
            since: Version([1, 10, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let common = greatest_common_divisor(erase_block.get(), SEGMENT.get());
        let section = Bytes::new(erase_block.get() / common * SEGMENT.get());
        let (start, size) = edge_start(request, section)?;
        let minimum = MINIMUM.max(section * SECTIONS_MIN);
        if size < minimum {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum, available: size });
        }
        if size > MAXIMUM {
            return Err(Cannot::TooLarge { filesystem: self.kind(), maximum: MAXIMUM, available: size });
        }
        let segments = section / SEGMENT;
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {}", start / request.logical_block),
                whole_blocks(start, section),
                Because::SectionsFollowDisk,
            ),
            Reason::new(
                PlanNumber::SegmentsPerSection,
                segments.to_string(),
                format!("lcm({erase_block}, {SEGMENT}) / {SEGMENT}"),
                Because::CleaningFreesSections,
            ),
        ];
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster: Bytes::kib(4),
            options: ["-s", &segments.to_string(), "-z", "1", "-t", "0"].map(str::to_owned).to_vec(),
            data_area: DataArea::Groups { size: section },
            reasons,
            cannot: None,
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf16(label, self.kind(), 512)
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-U".to_owned(), uuid.to_owned()]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("fsck.f2fs", ["--dry-run", device]))
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }
}
