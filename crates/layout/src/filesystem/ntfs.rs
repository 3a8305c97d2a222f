//! NTFS: start and clusters can be aligned, the master file table cannot.

use flashscope_device::Bytes;

use super::contract::{
    Cannot, Command, DataArea, Filesystem, FilesystemKind, GPT_BASIC_DATA, Placement, Request, Tool,
};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{edge_start, whole_blocks};
use crate::purpose::Purpose;
use crate::reason::{Because, PlanNumber, Reason};
use crate::version::Version;

/// The largest cluster that mkntfs 2022.10.3 makes.
const CLUSTER_MAX: Bytes = Bytes::mib(2);
/// mkntfs refuses smaller ones.
const MINIMUM: Bytes = Bytes::mib(8);
/// The geometry that every tool pretends since disks have no heads any more.
const HEADS: &str = "255";
const SECTORS_PER_TRACK: &str = "63";

/// The options of a placement.
const OPTIONS: [KnownOption; 5] = [
    KnownOption { flag: "-c", value: OptionValue::Number },
    KnownOption { flag: "-p", value: OptionValue::Number },
    KnownOption { flag: "-H", value: OptionValue::Number },
    KnownOption { flag: "-S", value: OptionValue::Number },
    KnownOption { flag: "-s", value: OptionValue::Number },
];

/// NTFS.
pub(super) struct Ntfs;

impl Filesystem for Ntfs {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Ntfs
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.ntfs",
            package: "ntfs-3g",
            first: &["-Q", "-F", "-q"],
            label: "-L",
            version_option: Some("-V"),
            since: Version([2012, 1, 15]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let erase_block = request.erase_block;
        let usual = if request.purpose == Purpose::Backup { Bytes::kib(64) } else { Bytes::kib(4) };
        let cluster = request.cluster.unwrap_or(usual);
        if !cluster.get().is_power_of_two() || cluster < request.logical_block || cluster > CLUSTER_MAX {
            let usable = format!("a power of two from {} to {CLUSTER_MAX}", request.logical_block);
            return Err(Cannot::Cluster { filesystem: self.kind(), cluster, usable });
        }
        let (start, size) = edge_start(request, erase_block)?;
        if size < MINIMUM {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum: MINIMUM, available: size });
        }
        let sector = start / request.logical_block;
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {sector}"),
                whole_blocks(start, erase_block),
                Because::StartOnEdge,
            ),
            Reason::new(PlanNumber::Cluster, cluster.to_string(), "", Because::ClusterForPurpose),
        ];
        let (start_text, cluster_text) = (sector.to_string(), cluster.get().to_string());
        let sector_text = request.logical_block.get().to_string();
        let options = [
            "-s",
            &sector_text,
            "-c",
            &cluster_text,
            "-p",
            &start_text,
            "-H",
            HEADS,
            "-S",
            SECTORS_PER_TRACK,
        ];
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster,
            options: options.map(str::to_owned).to_vec(),
            data_area: DataArea::Anywhere,
            reasons,
            cannot: Some(Cannot::DataArea { filesystem: self.kind(), erase_block }),
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf16(label, self.kind(), 128)
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("ntfsfix", ["-n", device]))
    }

    fn choices(&self) -> &'static [super::Choice] {
        &[super::Choice::Cluster]
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }

    fn mbr_type(&self, _placement: &Placement) -> u8 {
        0x07
    }

    fn gpt_type(&self) -> &'static str {
        GPT_BASIC_DATA
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(purpose: Purpose, cluster: Option<Bytes>, end: Bytes) -> Request {
        Request { cluster, ..Request::until(purpose, end) }
    }

    #[test]
    fn archives_have_large_clusters_unless_others_are_asked_for() {
        for (purpose, cluster, bytes) in [
            (Purpose::Backup, None, 65_536),
            (Purpose::Share, None, 4096),
            (Purpose::LinuxData, None, 4096),
            (Purpose::Backup, Some(Bytes::new(512)), 512),
            (Purpose::Share, Some(Bytes::mib(2)), 2_097_152),
        ] {
            let placed = Ntfs.align(&request(purpose, cluster, Bytes::gib(1))).unwrap();
            let options = format!("-s 512 -c {bytes} -p 8192 -H 255 -S 63");
            assert_eq!((placed.options.join(" "), placed.cluster), (options, Bytes::new(bytes)), "{purpose}");
        }
    }

    #[test]
    fn clusters_and_sizes_that_mkntfs_does_not_take_are_refused() {
        let filesystem = FilesystemKind::Ntfs;
        for cluster in [Bytes::new(256), Bytes::kib(3), Bytes::mib(4)] {
            let usable = "a power of two from 512 B to 2 MiB".to_owned();
            let refused = Cannot::Cluster { filesystem, cluster, usable };
            assert_eq!(Ntfs.align(&request(Purpose::Share, Some(cluster), Bytes::gib(1))), Err(refused));
        }
        let size = |end| Ntfs.align(&request(Purpose::Share, None, end)).map(|placed| placed.size);
        assert_eq!(size(Bytes::mib(12)), Ok(Bytes::mib(8)));
        let (minimum, available) = (Bytes::mib(8), Bytes::mib(4));
        assert_eq!(size(Bytes::mib(11)), Err(Cannot::TooSmall { filesystem, minimum, available }));
    }
}
