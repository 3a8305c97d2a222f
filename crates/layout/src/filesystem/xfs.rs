//! XFS: allocation groups in whole erase blocks (`-d su=,sw=1`).

use flashscope_device::Bytes;

use super::contract::{Cannot, Command, DataArea, Filesystem, FilesystemKind, Placement, Request, Tool};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

/// mkfs.xfs refuses less than 300 MB since xfsprogs 5.19, and with a stripe unit up to 400 MB, as no log of
/// 64 MiB fits then (tried with 6.1.0).
const MINIMUM: Bytes = Bytes::mib(512);
/// The log's stripe unit: the largest is 256 KiB, and mkfs.xfs falls back to 32 KiB with a warning for larger
/// ones.
const LOG_STRIPE: &str = "su=32k";
/// An allocation group has at least 16 MiB, and must hold several stripe units. Policy: four groups of four
/// units.
const UNITS_MIN: u64 = 16;

/// The options of a placement.
const OPTIONS: [KnownOption; 3] = [
    KnownOption { flag: "-d", value: OptionValue::Keys(&["su", "sw"]) },
    KnownOption { flag: "-l", value: OptionValue::Keys(&["su"]) },
    KnownOption { flag: "-s", value: OptionValue::Keys(&["size"]) },
];

/// XFS.
pub(super) struct Xfs;

impl Filesystem for Xfs {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Xfs
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.xfs",
            package: "xfsprogs",
            first: &["-f", "-q", "-K"],
            label: "-L",
            version_option: Some("-V"),
            since: Version([4, 2, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let (start, size) = edge_start(request, erase_block)?;
        let minimum = MINIMUM.max(erase_block * UNITS_MIN);
        if size < minimum {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum, available: size });
        }
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {}", start / request.logical_block),
                whole_blocks(start, erase_block),
                Because::AllocationGroupsFollowStart,
            ),
            Reason::new(PlanNumber::StripeUnit, erase_block.to_string(), "", Because::GroupsOfStripeUnits),
        ];
        let data = format!("su={},sw=1", erase_block.get());
        // In a file the tool sees sectors of 512 bytes; the kernel refuses smaller ones than the disk has.
        let sector = format!("size={}", request.logical_block.get());
        let options = ["-s", &sector, "-d", &data, "-l", LOG_STRIPE].map(str::to_owned).to_vec();
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster: Bytes::kib(4),
            options,
            data_area: DataArea::Groups { size: erase_block },
            reasons,
            cannot: None,
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf8(label, self.kind(), 12)
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-m".to_owned(), format!("uuid={uuid}")]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("xfs_repair", ["-n", "-f", device]))
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }
}
