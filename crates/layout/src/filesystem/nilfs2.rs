//! NILFS2: segments of a power of two that divides the erase block.

use flashscope_device::Bytes;

use super::contract::{Cannot, Command, DataArea, Filesystem, FilesystemKind, Placement, Request, Tool};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

const BLOCK: Bytes = Bytes::kib(4);
/// mkfs.nilfs2 takes at least 16 blocks per segment.
const SEGMENT_MIN: Bytes = Bytes::kib(64);
/// The default is 2048 blocks; larger segments are made of erase blocks all the same. Policy.
const SEGMENT_MAX: Bytes = Bytes::mib(64);
/// mkfs.nilfs2 refuses smaller ones: it wants at least this space with default segments.
const MINIMUM: Bytes = Bytes::mib(136);
/// It wants some segments, too. Policy.
const SEGMENTS_MIN: u64 = 32;

/// The options of a placement.
const OPTIONS: [KnownOption; 2] = [
    KnownOption { flag: "-b", value: OptionValue::Number },
    KnownOption { flag: "-B", value: OptionValue::Number },
];

/// NILFS2.
pub(super) struct Nilfs2;

impl Filesystem for Nilfs2 {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Nilfs2
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.nilfs2",
            package: "nilfs-tools",
            first: &["-f", "-q", "-K"],
            label: "-L",
            version_option: Some("-V"),
            since: Version([2, 1, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let (start, size) = edge_start(request, erase_block)?;
        let power = Bytes::new(1 << erase_block.get().trailing_zeros());
        let segment = power.clamp(SEGMENT_MIN, SEGMENT_MAX);
        let minimum = MINIMUM.max(segment * SEGMENTS_MIN);
        if size < minimum {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum, available: size });
        }
        let blocks = segment / BLOCK;
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {}", start / request.logical_block),
                whole_blocks(start, erase_block),
                Because::SegmentsFollowStart,
            ),
            Reason::new(
                PlanNumber::BlocksPerSegment,
                blocks.to_string(),
                format!("{segment} / {BLOCK}"),
                Because::LargestPowerOfTwo,
            ),
        ];
        let is_whole = segment == erase_block;
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster: BLOCK,
            options: vec!["-b".to_owned(), BLOCK.get().to_string(), "-B".to_owned(), blocks.to_string()],
            data_area: if is_whole { DataArea::Groups { size: segment } } else { DataArea::Anywhere },
            reasons,
            cannot: (!is_whole).then_some(Cannot::PowersOfTwoOnly {
                filesystem: self.kind(),
                segment,
                erase_block,
            }),
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf8(label, self.kind(), 80)
    }

    fn check(&self, _device: &str) -> Option<Command> {
        None
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }
}
