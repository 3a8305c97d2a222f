//! btrfs: only the start can be aligned; the kernel places the chunks.

use flashscope_device::Bytes;

use super::contract::{Cannot, Command, DataArea, Filesystem, FilesystemKind, Placement, Request, Tool};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

/// mkfs.btrfs refuses smaller ones (109 MiB with single metadata, btrfs-progs 6.2).
const MINIMUM: Bytes = Bytes::mib(128);

/// The options of a placement.
const OPTIONS: [KnownOption; 2] = [
    KnownOption { flag: "-m", value: OptionValue::OneOf(&["single"]) },
    KnownOption { flag: "-d", value: OptionValue::OneOf(&["single"]) },
];

/// btrfs.
pub(super) struct Btrfs;

impl Filesystem for Btrfs {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Btrfs
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.btrfs",
            package: "btrfs-progs",
            first: &["-f", "-q", "-K"],
            label: "-L",
            version_option: Some("-V"),
            since: Version([4, 0, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let (start, size) = edge_start(request, erase_block)?;
        if size < MINIMUM {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum: MINIMUM, available: size });
        }
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {}", start / request.logical_block),
                whole_blocks(start, erase_block),
                Because::StartOnEdge,
            ),
            Reason::new(PlanNumber::MetadataCopies, "single", "", Because::OneMetadataCopy),
        ];
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster: Bytes::kib(4),
            options: ["-m", "single", "-d", "single"].map(str::to_owned).to_vec(),
            data_area: DataArea::Anywhere,
            reasons,
            cannot: Some(Cannot::DataArea { filesystem: self.kind(), erase_block }),
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf8(label, self.kind(), 255)
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-U".to_owned(), uuid.to_owned()]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("btrfs", ["check", "--readonly", device]))
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }
}
