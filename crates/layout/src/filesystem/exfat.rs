//! exFAT: the cluster heap on an edge.
//!
//! mkfs.exfat rounds FAT and heap up to `-b`, a power of two, counted from the start of the disk. For an
//! erase block that is no power of two, `-b` is the largest power of two that divides it, and the partition
//! starts off the edge on purpose so that the heap lies on one. Tried with exfatprogs 1.2.0; the layout is
//! read back after formatting.

use flashscope_device::Bytes;

use super::contract::{
    Cannot, Command, DataArea, Filesystem, FilesystemKind, GPT_BASIC_DATA, NewerOption, Placement, Request,
    Tool,
};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::{size_from, whole_blocks};
use crate::purpose::Purpose;
use crate::reason::{Because, PlanNumber, Reason};
use crate::standard::standard;
use crate::version::Version;

/// The cluster sizes that the specification allows: up to 32 MiB (Microsoft, exFAT file system specification,
/// 3.1.15).
const CLUSTER_MAX: Bytes = Bytes::mib(32);
/// Archives are large files. Policy.
const CLUSTER_BACKUP_MIN: Bytes = Bytes::kib(128);
/// The most clusters (same source, 3.1.9).
const CLUSTERS_MAX: u64 = 0xFFFF_FFF5;
/// The smallest volume (same source, 3.1.5).
const MINIMUM: Bytes = Bytes::mib(1);
/// Bitmap, up-case table and root directory take a cluster each, at least; some for files are left. Policy.
const CLUSTERS_MIN: u64 = 16;
/// The boot regions take 24 sectors (same source, section 2).
const BOOT_SECTORS: u64 = 24;

/// mkfs.exfat 1.2.2 sets the volume's GUID. 1.2.6 would take the physical sector for the sector of the
/// filesystem, which moves the heap; `-s`, since 1.2.3, keeps the logical one (exfatprogs, NEWS).
const NEWER: [NewerOption; 2] = [
    NewerOption { flag: "-U", since: Version([1, 2, 2]), default: None },
    NewerOption { flag: "-s", since: Version([1, 2, 3]), default: Some("512") },
];

/// The options of a placement.
const OPTIONS: [KnownOption; 3] = [
    KnownOption { flag: "-b", value: OptionValue::Number },
    KnownOption { flag: "-c", value: OptionValue::Number },
    KnownOption { flag: "-s", value: OptionValue::Number },
];

/// exFAT.
pub(super) struct Exfat;

/// The offset of the heap from the start of the partition, if that is a multiple of `boundary`.
fn heap(size: Bytes, cluster: Bytes, boundary: Bytes, sector: Bytes) -> Bytes {
    let fat = (sector * BOOT_SECTORS).round_up(boundary);
    let length = (Bytes::new(4) * (size / cluster)).round_up(cluster);
    (fat + length).round_up(boundary)
}

/// The cluster, and why.
fn cluster(request: &Request) -> Result<(Bytes, Because), Cannot> {
    let standard = standard(size_from(request, request.space.first)?).cluster;
    let (cluster, because) = match (request.cluster, request.purpose) {
        (Some(asked), _) => (asked, Because::Asked),
        (None, Purpose::Backup) => (standard.max(CLUSTER_BACKUP_MIN), Because::ClusterForPurpose),
        (None, _) => (standard, Because::StandardCluster),
    };
    let sector = request.logical_block;
    if !cluster.get().is_power_of_two() || cluster < sector || cluster > CLUSTER_MAX {
        let usable = format!("a power of two from {sector} to {CLUSTER_MAX}");
        return Err(Cannot::Cluster { filesystem: FilesystemKind::Exfat, cluster, usable });
    }
    Ok((cluster, because))
}

impl Filesystem for Exfat {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Exfat
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.exfat",
            package: "exfatprogs",
            first: &[],
            label: "-L",
            version_option: Some("-V"),
            since: Version([1, 1, 1]),
            newer: &NEWER,
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let (erase_block, sector) = (request.erase_block, request.logical_block);
        let (cluster, why_cluster) = cluster(request)?;
        let boundary = Bytes::new(1 << erase_block.get().trailing_zeros());
        let (start, size) = start_for(request, cluster, boundary)?;
        if size < MINIMUM {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum: MINIMUM, available: size });
        }
        if size / cluster > CLUSTERS_MAX {
            let usable = "larger clusters".to_owned();
            return Err(Cannot::Cluster { filesystem: self.kind(), cluster, usable });
        }
        let heap = heap(size, cluster, boundary, sector);
        let minimum = heap + cluster * CLUSTERS_MIN;
        if size < minimum {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum, available: size });
        }
        let data = start + heap;
        let is_on_edge = start.is_multiple_of(erase_block);
        let reasons = vec![
            Reason::new(
                PlanNumber::PartitionStart,
                format!("sector {}", start / sector),
                if is_on_edge { whole_blocks(start, erase_block) } else { format!("{data} - {heap}") },
                if is_on_edge { Because::StartOnEdge } else { Because::StartOffEdgeOnPurpose },
            ),
            Reason::new(
                PlanNumber::Boundary,
                boundary.to_string(),
                format!("largest power of two in {erase_block}"),
                Because::PowersOfTwoOnly,
            ),
            Reason::new(
                PlanNumber::ClusterHeap,
                format!("sector {}", data / sector),
                format!("{start} + {heap} = {}", whole_blocks(data, erase_block)),
                Because::DataAreaOnEdge,
            ),
            Reason::new(PlanNumber::Cluster, cluster.to_string(), "", why_cluster),
        ];
        Ok(Placement {
            filesystem: self.kind(),
            start,
            size,
            cluster,
            options: vec![
                "-b".to_owned(),
                kib(boundary),
                "-c".to_owned(),
                kib_or_bytes(cluster),
                "-s".to_owned(),
                sector.get().to_string(),
            ],
            data_area: DataArea::At { offset: data },
            reasons,
            cannot: (!data.is_multiple_of(erase_block))
                .then_some(Cannot::DataArea { filesystem: self.kind(), erase_block }),
        })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::utf16(label, self.kind(), 11)
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-U".to_owned(), uuid.to_owned()]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("fsck.exfat", ["-n", device]))
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

/// The start for which the heap lies on an edge, a multiple of `boundary`; and the size from there.
fn start_for(request: &Request, cluster: Bytes, boundary: Bytes) -> Result<(Bytes, Bytes), Cannot> {
    let first = request.space.first.round_up(boundary);
    let mut start = first;
    // The size of the FAT depends on the start by less than a cluster's entry: two rounds settle it.
    for _ in 0..4 {
        let size = size_from(request, start)?;
        let heap = heap(size, cluster, boundary, request.logical_block);
        let wanted = (first + heap).round_up(request.erase_block) - heap;
        if wanted == start {
            break;
        }
        start = wanted;
    }
    Ok((start, size_from(request, start)?))
}

/// A size as mkfs.exfat reads it, in KiB.
fn kib(size: Bytes) -> String {
    format!("{}K", size.get() >> 10)
}

fn kib_or_bytes(size: Bytes) -> String {
    if size.is_multiple_of(Bytes::kib(1)) { kib(size) } else { size.get().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::Space;

    /// A request for 4 GiB with this cluster.
    fn request(cluster: Option<Bytes>) -> Request {
        Request { cluster, ..Request::until(Purpose::Share, Bytes::gib(4)) }
    }

    #[test]
    fn powers_of_two_from_a_sector_to_32_mib_are_taken_as_clusters() {
        for cluster in [Bytes::new(512), Bytes::kib(4), Bytes::mib(1), Bytes::mib(32)] {
            let placed = Exfat.align(&request(Some(cluster))).unwrap();
            assert_eq!(placed.cluster, cluster);
            assert!(placed.data_area.is_aligned(placed.start, Bytes::mib(4)), "{cluster}");
        }
        for cluster in [Bytes::new(256), Bytes::kib(3), Bytes::mib(64)] {
            let usable = "a power of two from 512 B to 32 MiB".to_owned();
            let refused = Cannot::Cluster { filesystem: FilesystemKind::Exfat, cluster, usable };
            assert_eq!(Exfat.align(&request(Some(cluster))), Err(refused));
        }
        let of_large_sectors = |cluster| Request { logical_block: Bytes::kib(4), ..request(Some(cluster)) };
        assert!(Exfat.align(&of_large_sectors(Bytes::kib(2))).is_err());
        assert!(Exfat.align(&of_large_sectors(Bytes::kib(4))).is_ok());
    }

    #[test]
    fn cluster_is_that_of_the_standard_and_larger_for_archives() {
        let of = |purpose| Exfat.align(&Request { purpose, ..request(None) }).unwrap().cluster;
        assert_eq!([of(Purpose::Share), of(Purpose::Backup)], [Bytes::kib(32), Bytes::kib(128)]);
    }

    #[test]
    fn more_clusters_than_a_fat_can_number_are_refused() {
        let sector = Bytes::new(512);
        let of = |clusters: u64| {
            let space = Space { first: Bytes::mib(1), end: Bytes::mib(1) + sector * clusters };
            Exfat.align(&Request { space, erase_block: sector, ..request(Some(sector)) })
        };
        assert_eq!(of(0xFFFF_FFF5).unwrap().size, sector * 0xFFFF_FFF5);
        assert!(
            matches!(of(0xFFFF_FFF6), Err(Cannot::Cluster { usable, .. }) if usable == "larger clusters")
        );
    }
}
