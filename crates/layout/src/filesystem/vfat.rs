//! FAT16 and FAT32: the data area on an edge, by reserved sectors or by the start of the partition.
//!
//! The data area begins after R reserved sectors and two FATs. R is increased until it lies on an edge; the
//! FATs shrink meanwhile, so that takes one to three rounds. R has 16 bits: for larger erase blocks the
//! partition starts off the edge instead. Formulas: Microsoft, "FAT: General Overview of On-Disk Format",
//! version 1.03.

use flashscope_device::Bytes;

use super::contract::{
    Cannot, Command, DataArea, Filesystem, FilesystemKind, GPT_BASIC_DATA, Placement, Request, Tool,
};
use super::label::{self, LabelError};
use super::option::{KnownOption, OptionValue};
use super::space::size_from;
use crate::purpose::Purpose;
use crate::reason::{Because, PlanNumber, Reason};
use crate::standard::standard;
use crate::version::Version;

/// A FAT32 has at least this many clusters, a FAT16 fewer (Microsoft's overview, "FAT type determination").
const FAT32_CLUSTERS_MIN: u64 = 65_525;
/// A FAT16 has at least this many.
const FAT16_CLUSTERS_MIN: u64 = 4_085;
/// The most clusters of a FAT32: 2^28 less the reserved values.
const FAT32_CLUSTERS_MAX: u64 = 0x0FFF_FFF5;
/// The largest number in the field of all sectors.
const SECTORS_MAX: u64 = u32::MAX as u64;
/// The largest number in the field of reserved sectors.
const RESERVED_MAX: u64 = 65_535;
/// mkfs.fat needs 32 reserved sectors for a FAT32: boot sector, its backup and the information sector.
const RESERVED_FAT32: u64 = 32;
/// And one for a FAT16.
const RESERVED_FAT16: u64 = 1;
/// Entries of the root directory of a FAT16, 32 bytes each.
const ROOT_ENTRIES: u64 = 512;
/// FATs, as every reader expects them.
const FATS: u64 = 2;
/// The largest cluster that Windows and cameras read.
const CLUSTER_MAX: Bytes = Bytes::kib(64);
/// Heads and sectors a track in the boot sector: the largest that a CHS address holds. mkfs.fat asks a disk
/// otherwise.
const GEOMETRY: &str = "255/63";
/// The largest cluster that the SD Association recommends for FAT32.
const CLUSTER_STANDARD_MAX: Bytes = Bytes::kib(32);
/// The clusters of FAT32 up to a size (Microsoft, "Default cluster size for NTFS, FAT, and exFAT").
const DEFAULT_CLUSTERS: [(Bytes, Bytes); 4] = [
    (Bytes::gib(8), Bytes::kib(4)),
    (Bytes::gib(16), Bytes::kib(8)),
    (Bytes::gib(32), Bytes::kib(16)),
    (Bytes::new(u64::MAX), Bytes::kib(32)),
];
/// Rounds of the search for R; 48 of 48 combinations that were tried took three at most.
const ROUNDS: u32 = 16;

/// The options of a placement.
const OPTIONS: [KnownOption; 9] = [
    KnownOption { flag: "-a", value: OptionValue::None },
    KnownOption { flag: "-F", value: OptionValue::OneOf(&["16", "32"]) },
    KnownOption { flag: "-S", value: OptionValue::Number },
    KnownOption { flag: "-s", value: OptionValue::Number },
    KnownOption { flag: "-R", value: OptionValue::Number },
    KnownOption { flag: "-f", value: OptionValue::OneOf(&["2"]) },
    KnownOption { flag: "-h", value: OptionValue::Number },
    KnownOption { flag: "-g", value: OptionValue::OneOf(&[GEOMETRY]) },
    KnownOption { flag: "-r", value: OptionValue::Number },
];

/// FAT16 and FAT32.
pub(super) struct Vfat;

/// The sizes of a FAT filesystem, in sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    is_fat32: bool,
    reserved: u64,
    fat: u64,
    root: u64,
    clusters: u64,
}

impl Layout {
    /// With R reserved sectors in a partition of `sectors`; `None` if no clusters are left.
    fn new(sectors: u64, cluster: u64, reserved: u64, sector: Bytes, is_fat32: bool) -> Option<Self> {
        let root = if is_fat32 { 0 } else { (ROOT_ENTRIES * 32).div_ceil(sector.get()) };
        let entry_bytes = if is_fat32 { 4 } else { 2 };
        let available = sectors.checked_sub(reserved + root)?;
        // Each cluster takes its sectors and one entry in each FAT; two entries are reserved.
        let per_cluster = cluster * sector.get() + FATS * entry_bytes;
        let clusters = (available * sector.get() + FATS * 2 * entry_bytes) / per_cluster;
        let fat = ((clusters + 2) * entry_bytes).div_ceil(sector.get());
        let clusters = available.checked_sub(FATS * fat)? / cluster;
        Some(Self { is_fat32, reserved, fat, root, clusters })
    }

    /// The first sector of the data area, from the start of the partition.
    const fn data(self) -> u64 {
        self.reserved + FATS * self.fat + self.root
    }
}

impl Vfat {
    /// The cluster for a purpose: small ones where small files count, the standard's where readers expect it.
    ///
    /// Linux writes only the used sectors of a cluster. So large clusters leave gaps between small files, and
    /// nothing is merged into larger writes.
    fn cluster(request: &Request, size: Bytes) -> Bytes {
        request.cluster.unwrap_or(match request.purpose {
            Purpose::Share | Purpose::LinuxData => default_cluster(size),
            Purpose::BoardBoot | Purpose::LinuxRoot => DEFAULT_CLUSTERS[0].1,
            Purpose::Camera | Purpose::Backup => standard(size).cluster.min(CLUSTER_STANDARD_MAX),
        })
    }

    /// Whether the number of clusters suits this kind of FAT.
    fn suits(layout: Layout) -> bool {
        let range = if layout.is_fat32 {
            FAT32_CLUSTERS_MIN..=FAT32_CLUSTERS_MAX
        } else {
            FAT16_CLUSTERS_MIN..=FAT32_CLUSTERS_MIN - 1
        };
        range.contains(&layout.clusters)
    }
}

/// The cluster that every system gives a FAT32 of this size.
fn default_cluster(size: Bytes) -> Bytes {
    let fits = DEFAULT_CLUSTERS.iter().find(|(most, _)| size <= *most);
    fits.map_or(CLUSTER_STANDARD_MAX, |(_, cluster)| *cluster)
}

/// One way to put the data area on an edge.
struct Solution {
    start: Bytes,
    size: Bytes,
    layout: Layout,
    is_by_start: bool,
}

/// R such that the data area lies on an edge, from a start on an edge.
fn by_reserved(request: &Request, cluster: Bytes, is_fat32: bool) -> Result<Option<Solution>, Cannot> {
    let sector = request.logical_block;
    let edge = request.erase_block / sector;
    let start = request.space.first.round_up(request.erase_block);
    let size = size_from(request, start)?;
    let mut reserved = if is_fat32 { RESERVED_FAT32 } else { RESERVED_FAT16 };
    for _ in 0..ROUNDS {
        let Some(layout) = Layout::new(size / sector, cluster / sector, reserved, sector, is_fat32) else {
            return Ok(None);
        };
        let beyond = layout.data() % edge;
        if beyond == 0 {
            return Ok(Some(Solution { start, size, layout, is_by_start: false }));
        }
        reserved += edge - beyond;
        if reserved > RESERVED_MAX {
            return Ok(None);
        }
    }
    Ok(None)
}

/// A start off the edge such that the data area lies on one. The FATs then lie before that edge.
fn by_start(request: &Request, cluster: Bytes, is_fat32: bool) -> Result<Option<Solution>, Cannot> {
    let sector = request.logical_block;
    let reserved = if is_fat32 { RESERVED_FAT32 } else { RESERVED_FAT16 };
    let first = request.space.first.round_up(sector);
    let mut start = first;
    for _ in 0..ROUNDS {
        let size = size_from(request, start)?;
        let Some(layout) = Layout::new(size / sector, cluster / sector, reserved, sector, is_fat32) else {
            return Ok(None);
        };
        let data = (first + sector * layout.data()).round_up(request.erase_block);
        let wanted = data - sector * layout.data();
        if wanted == start {
            return Ok(Some(Solution { start, size, layout, is_by_start: true }));
        }
        start = wanted;
    }
    Ok(None)
}

impl Filesystem for Vfat {
    fn kind(&self) -> FilesystemKind {
        FilesystemKind::Vfat
    }

    fn tool(&self) -> Tool {
        Tool {
            program: "mkfs.vfat",
            package: "dosfstools",
            first: &[],
            label: "-n",
            version_option: None,
            since: Version([3, 0, 0]),
            newer: &[],
        }
    }

    fn align(&self, request: &Request) -> Result<Placement, Cannot> {
        let available = size_from(request, request.space.first)?;
        let maximum = request.logical_block * SECTORS_MAX;
        if available > maximum {
            return Err(Cannot::TooLarge { filesystem: self.kind(), maximum, available });
        }
        let cluster = Self::cluster(request, available);
        if !cluster.get().is_power_of_two() || cluster < request.logical_block || cluster > CLUSTER_MAX {
            let usable = format!("a power of two from {} to {CLUSTER_MAX}", request.logical_block);
            return Err(Cannot::Cluster { filesystem: self.kind(), cluster, usable });
        }
        let is_early = fats_come_early(request);
        for cluster in candidates(cluster, request) {
            for is_fat32 in [true, false] {
                let reserved = if is_early { None } else { by_reserved(request, cluster, is_fat32)? };
                let solution = match reserved {
                    Some(solution) => Some(solution),
                    None => by_start(request, cluster, is_fat32)?,
                };
                if let Some(solution) = solution.filter(|solution| Self::suits(solution.layout)) {
                    return Ok(placement(request, cluster, &solution));
                }
            }
        }
        let smallest = request.logical_block * FAT16_CLUSTERS_MIN;
        if available < smallest {
            return Err(Cannot::TooSmall { filesystem: self.kind(), minimum: smallest, available });
        }
        let usable = "another size, or another filesystem".to_owned();
        Err(Cannot::Cluster { filesystem: self.kind(), cluster, usable })
    }

    fn check_label(&self, label: &str) -> Result<(), LabelError> {
        label::fat(label, self.kind())
    }

    fn identifier(&self, uuid: &str) -> Vec<String> {
        vec!["-i".to_owned(), volume_id(uuid), "--invariant".to_owned()]
    }

    fn check(&self, device: &str) -> Option<Command> {
        Some(Command::new("fsck.vfat", ["-n", device]))
    }

    fn choices(&self) -> &'static [super::Choice] {
        &[super::Choice::Cluster]
    }

    fn options(&self) -> &'static [KnownOption] {
        &OPTIONS
    }

    fn mbr_type(&self, placement: &Placement) -> u8 {
        if placement.options.iter().any(|option| option == "32") { 0x0c } else { 0x0e }
    }

    fn gpt_type(&self) -> &'static str {
        GPT_BASIC_DATA
    }
}

/// Whether the FATs should lie as early as possible: some sticks and cards map the start of the device
/// finely, and nowhere else. That is done unless there is known to be no such area. Cards of cameras get the
/// layout of the SD Association.
fn fats_come_early(request: &Request) -> bool {
    match request.fat_area {
        Some(area) => !area.is_zero(),
        None => request.purpose != Purpose::Camera,
    }
}

/// The volume id: the first eight hexadecimal digits of a UUID.
fn volume_id(uuid: &str) -> String {
    uuid.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// The cluster that is wanted, and those beside it where it does not suit the size.
fn candidates(cluster: Bytes, request: &Request) -> Vec<Bytes> {
    let mut all = vec![cluster];
    if request.cluster.is_none() {
        let powers = (9..=16).map(|shift| Bytes::new(1 << shift));
        let mut others: Vec<Bytes> =
            powers.filter(|size| *size != cluster && *size >= request.logical_block).collect();
        others.sort_by_key(|size| size.get().max(cluster.get()) / size.get().min(cluster.get()));
        all.append(&mut others);
    }
    all
}

fn placement(request: &Request, cluster: Bytes, solution: &Solution) -> Placement {
    let Solution { start, size, layout, is_by_start } = *solution;
    let (sector, erase_block) = (request.logical_block, request.erase_block);
    let data = start + sector * layout.data();
    let bits = if layout.is_fat32 { "32" } else { "16" };
    let options: Vec<String> = [
        "-a".to_owned(),
        "-F".to_owned(),
        bits.to_owned(),
        "-S".to_owned(),
        sector.get().to_string(),
        "-s".to_owned(),
        (cluster / sector).to_string(),
        "-R".to_owned(),
        layout.reserved.to_string(),
        "-f".to_owned(),
        FATS.to_string(),
        "-h".to_owned(),
        (start / sector).to_string(),
        "-g".to_owned(),
        GEOMETRY.to_owned(),
    ]
    .into_iter()
    .chain((!layout.is_fat32).then(|| ["-r".to_owned(), ROOT_ENTRIES.to_string()]).into_iter().flatten())
    .collect();
    let fats = sector * (FATS * layout.fat);
    let sum = format!(
        "so data starts at sector {} + {} + {FATS} x {}{} = {} = {}",
        start / sector,
        layout.reserved,
        layout.fat,
        if layout.root > 0 { format!(" + {}", layout.root) } else { String::new() },
        data / sector,
        super::space::whole_blocks(data, erase_block),
    );
    let reasons = vec![
        Reason::new(
            PlanNumber::PartitionStart,
            format!("sector {}", start / sector),
            if is_by_start {
                format!("{} - {}", data / sector, layout.data())
            } else {
                super::space::whole_blocks(start, erase_block)
            },
            if is_by_start { Because::FatsAtStart } else { Because::StartOnEdge },
        ),
        Reason::new(
            PlanNumber::ReservedSectors,
            format!("{}, {sum}", layout.reserved),
            "",
            Because::DataAreaOnEdge,
        ),
        Reason::new(
            PlanNumber::Cluster,
            format!("{} sectors", cluster / sector),
            format!("{cluster}; the FATs take {fats}"),
            Because::ClusterAgainstFat,
        ),
    ];
    Placement {
        filesystem: FilesystemKind::Vfat,
        start,
        size,
        cluster,
        options,
        data_area: DataArea::At { offset: data },
        reasons,
        cannot: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::Space;

    /// The options, and the values of the reasons with their arithmetic.
    fn numbers(request: &Request) -> (String, Vec<String>) {
        let placed = Vfat.align(request).unwrap();
        assert!(placed.data_area.is_aligned(placed.start, request.erase_block));
        let shown = |reason: &Reason| format!("{}; {}", reason.value, reason.arithmetic);
        (placed.options.join(" "), placed.reasons.iter().map(shown).collect())
    }

    #[test]
    fn data_area_is_put_on_an_edge_by_reserved_sectors() {
        let (options, shown) = numbers(&Request::until(Purpose::Camera, Bytes::gib(8)));
        assert_eq!(options, "-a -F 32 -S 512 -s 64 -R 4098 -f 2 -h 8192 -g 255/63");
        let sum = "4098, so data starts at sector 8192 + 4098 + 2 x 2047 = 16384 = 2 x 4 MiB; ";
        assert_eq!(shown, ["sector 8192; 1 x 4 MiB", sum, "64 sectors; 32 KiB; the FATs take 2.00 MiB"]);
        let (options, shown) = numbers(&Request::until(Purpose::Camera, Bytes::mib(512)));
        assert_eq!(options, "-a -F 16 -S 512 -s 32 -R 7906 -f 2 -h 8192 -g 255/63 -r 512");
        let sum = "7906, so data starts at sector 8192 + 7906 + 2 x 127 + 32 = 16384 = 2 x 4 MiB; ";
        assert_eq!(shown[1], sum);
    }

    #[test]
    fn data_area_is_put_on_an_edge_by_the_start() {
        let (options, shown) = numbers(&Request::until(Purpose::Share, Bytes::gib(8)));
        assert_eq!(options, "-a -F 32 -S 512 -s 8 -R 32 -f 2 -h 8238 -g 255/63");
        let sum = "32, so data starts at sector 8238 + 32 + 2 x 16345 = 40960 = 5 x 4 MiB; ";
        assert_eq!(shown, ["sector 8238; 40960 - 32722", sum, "8 sectors; 4 KiB; the FATs take 16.0 MiB"]);
        let large_sectors =
            Request { logical_block: Bytes::kib(4), ..Request::until(Purpose::Share, Bytes::gib(8)) };
        let (options, shown) = numbers(&large_sectors);
        assert_eq!(options, "-a -F 32 -S 4096 -s 1 -R 32 -f 2 -h 1000 -g 255/63");
        assert_eq!(shown[0], "sector 1000; 5120 - 4120");
    }

    #[test]
    fn powers_of_two_from_a_sector_to_64_kib_are_taken_as_clusters() {
        let of = |cluster| {
            let cluster = Some(cluster);
            Vfat.align(&Request { cluster, ..Request::until(Purpose::Share, Bytes::mib(512)) })
        };
        for cluster in [Bytes::new(512), Bytes::kib(4), Bytes::kib(64)] {
            assert_eq!(of(cluster).unwrap().cluster, cluster);
        }
        for cluster in [Bytes::new(256), Bytes::kib(3), Bytes::kib(128)] {
            let usable = "a power of two from 512 B to 64 KiB".to_owned();
            let refused = Cannot::Cluster { filesystem: FilesystemKind::Vfat, cluster, usable };
            assert_eq!(of(cluster), Err(refused));
        }
    }

    /// 4085 clusters of a sector, and as many sectors as 32 bits count.
    #[test]
    fn space_that_no_fat_fills_is_refused_with_the_limit() {
        let filesystem = FilesystemKind::Vfat;
        let tiny =
            Request { erase_block: Bytes::kib(512), ..Request::until(Purpose::Share, Bytes::kib(2560)) };
        let (minimum, available) = (Bytes::new(4085 * 512), Bytes::kib(1536));
        assert_eq!(Vfat.align(&tiny), Err(Cannot::TooSmall { filesystem, minimum, available }));
        let huge = Request::until(Purpose::Share, Bytes::gib(3072));
        let (maximum, available) = (Bytes::new(512 * 0xFFFF_FFFF), Bytes::gib(3072) - Bytes::mib(1));
        assert_eq!(Vfat.align(&huge), Err(Cannot::TooLarge { filesystem, maximum, available }));
        // Large enough, but not for 4085 clusters of this size.
        let cluster = Bytes::kib(64);
        let few = Request { cluster: Some(cluster), ..Request::until(Purpose::Share, Bytes::mib(96)) };
        let usable = "another size, or another filesystem".to_owned();
        assert_eq!(Vfat.align(&few), Err(Cannot::Cluster { filesystem, cluster, usable }));
    }

    /// Readers tell the kinds apart by the number of clusters alone: a sector each here.
    #[test]
    fn number_of_clusters_is_one_of_the_kind_that_is_made() {
        let sector = Bytes::new(512);
        for (sectors, kind) in [
            // A FAT16 takes 33 sectors and two FATs besides its clusters, which are 4085 to 65524.
            (4149, None),
            (1 + 2 * 16 + 32 + 4085, Some("-F 16")),
            (1 + 2 * 256 + 32 + 65_524, Some("-F 16")),
            (1 + 2 * 256 + 32 + 65_525, None),
            // A FAT32 takes 32 sectors and two FATs, and has more clusters.
            (32 + 2 * 512 + 65_524, None),
            (32 + 2 * 512 + 65_525, Some("-F 32")),
            (32 + 2 * 2_097_152 + 0x0FFF_FFF5, Some("-F 32")),
            (32 + 2 * 2_097_152 + 0x0FFF_FFF6, None),
        ] {
            let space = Space { first: Bytes::mib(1), end: Bytes::mib(1) + sector * sectors };
            let cluster = Some(sector);
            let asked = Request {
                space,
                erase_block: sector,
                cluster,
                ..Request::until(Purpose::Share, Bytes::mib(2))
            };
            let made = Vfat.align(&asked).ok().map(|placed| placed.options[1..3].join(" "));
            assert_eq!(made.as_deref(), kind, "{sectors}");
        }
    }

    /// In 11 MiB clusters of 4 KiB, the usual ones, are too few for a FAT16.
    #[test]
    fn cluster_that_does_not_suit_the_size_is_replaced_by_the_nearest_that_does() {
        let small =
            Request { erase_block: Bytes::kib(512), ..Request::until(Purpose::Share, Bytes::mib(12)) };
        let (options, shown) = numbers(&small);
        assert_eq!(options, "-a -F 16 -S 512 -s 4 -R 1 -f 2 -h 2995 -g 255/63 -r 512");
        assert_eq!(shown[2], "4 sectors; 2 KiB; the FATs take 22 KiB");
    }
}
