//! Sentences about partitions: filesystem, mounts and alignment.

use flashscope_device::Bytes;
use flashscope_layout::present::{Alignment, PresentVolume};
use flashscope_linux::{Card, Disk, Filesystem, Mount, Partition, alignment};

use super::fact::Fact;
use crate::target::volume_of_partition;

/// The smallest useful alignment: no controller has a smaller page.
const PAGE_MIN: Bytes = Bytes::kib(4);

/// A data area aligned to this, in a partition that is not, was aligned on purpose: the smallest boundary
/// unit of the SD Association for cards above 8 MiB (SD File System Specification 3.00; see
/// `layout::standard`).
const PURPOSE_MIN: Bytes = Bytes::kib(16);

/// One fact a partition, or one for a disk without partitions.
pub fn facts(disk: &Disk) -> Vec<Fact> {
    if disk.partitions.is_empty() && !disk.is_empty() {
        return vec![Fact::new("partitions", whole(disk))];
    }
    disk.partitions.iter().map(|partition| Fact::new(&partition.name, one(partition, disk))).collect()
}

fn whole(disk: &Disk) -> String {
    let found = disk.filesystem.as_ref().map(|found| format!(", {}", filesystem(found, Bytes::ZERO)));
    format!("none{}{}", found.unwrap_or_default(), mounted(&disk.mounts))
}

fn one(partition: &Partition, disk: &Disk) -> String {
    let found = partition.filesystem.as_ref();
    let found =
        found.map_or_else(|| "no known filesystem".to_owned(), |found| filesystem(found, partition.start));
    format!(
        "{}, {found}{}; {}",
        partition.length,
        mounted(&partition.mounts),
        alignment_text(partition, disk.capacity, disk.card.as_ref().and_then(Card::allocation_unit))
    )
}

/// `start`: the offset of its partition on the disk.
fn filesystem(found: &Filesystem, start: Bytes) -> String {
    let label = found.label.as_ref().map_or_else(String::new, |label| format!(" \"{label}\""));
    let cluster = found.cluster.map_or_else(String::new, |cluster| format!(", {cluster} clusters"));
    let data =
        data_alignment(found, start).map_or_else(String::new, |data| format!(", data aligned to {data}"));
    format!("{}{label}{cluster}{data}", found.kind)
}

fn mounted(mounts: &[Mount]) -> String {
    let directory = |mount: &Mount| {
        let read_only = if mount.has("ro") { " (read-only)" } else { "" };
        format!("{}{read_only}", mount.path)
    };
    let directories: Vec<String> = mounts.iter().map(directory).collect();
    if directories.is_empty() {
        ", not mounted".to_owned()
    } else {
        format!(", mounted at {}", directories.join(" and "))
    }
}

/// The alignment of a partition on a disk of this capacity, and with this allocation unit if it is a card.
fn alignment_text(partition: &Partition, capacity: Bytes, unit: Option<Bytes>) -> String {
    let (start, to) = (partition.start, alignment(partition.start));
    let end = start.get().checked_add(partition.length.get());
    if end.is_none_or(|end| end > capacity.get()) {
        return "ends beyond the disk: the partition table is damaged or belongs to another disk".to_owned();
    }
    if let Some(unit) = unit {
        return against_unit(partition, unit);
    }
    if to >= PAGE_MIN {
        return format!("starts at {start}, aligned to {to}");
    }
    match partition.filesystem.as_ref().and_then(|found| data_alignment(found, start)) {
        Some(data) if data >= PURPOSE_MIN => {
            format!("starts at {}, inside a page on purpose: its data is aligned", start.sectors())
        }
        _ => inside_a_page(start),
    }
}

/// The alignment of a partition to the allocation unit of its card.
fn against_unit(partition: &Partition, unit: Bytes) -> String {
    let start = partition.start;
    let unit_text = format!("the card's allocation unit {unit}");
    match PresentVolume::from(&volume_of_partition(partition)).alignment(unit) {
        Alignment::Aligned | Alignment::StartOnly => format!("starts at {start}, a multiple of {unit_text}"),
        Alignment::DataAreaOnly => {
            format!("starts at {}, off {unit_text} on purpose: its data is aligned to it", start.sectors())
        }
        Alignment::DataAreaOff { by } | Alignment::StartOff { by }
            if alignment(start).max(alignment(by)) < PAGE_MIN =>
        {
            inside_a_page(start)
        }
        Alignment::DataAreaOff { by } => {
            format!("starts at {start}; its data starts {by} after a multiple of {unit_text}")
        }
        Alignment::GroupsOff { group } => {
            format!("starts at {start}, a multiple of {unit_text}; its groups of {group} are not")
        }
        Alignment::StartOff { .. } => format!("starts at {start}, not a multiple of {unit_text}"),
    }
}

fn inside_a_page(start: Bytes) -> String {
    format!("starts at {}, inside a page: its aligned blocks cross pages", start.sectors())
}

/// The alignment on the disk of a data area that lies apart from the start of its partition.
fn data_alignment(found: &Filesystem, start: Bytes) -> Option<Bytes> {
    found.data_start.filter(|data| !data.is_zero()).and_then(|_| found.data_alignment(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bytes = Bytes::mib(4);

    /// A FAT partition that starts at `start`, and its data area at `data` on the disk.
    fn fat(start: Bytes, data: Bytes) -> Partition {
        let filesystem = Filesystem {
            kind: "vfat".to_owned(),
            cluster: Some(Bytes::kib(32)),
            data_start: Some(data - start),
            ..Filesystem::default()
        };
        let (name, length) = ("sdb1".to_owned(), Bytes::gib(1));
        Partition { name, start, length, filesystem: Some(filesystem), mounts: Vec::new() }
    }

    fn text(partition: &Partition, unit: Option<Bytes>) -> String {
        alignment_text(partition, Bytes::gib(2), unit)
    }

    #[test]
    fn start_and_data_area_are_judged_against_the_allocation_unit() {
        let aligned = text(&fat(UNIT, UNIT * 2), Some(UNIT));
        assert_eq!(aligned, "starts at 4 MiB, a multiple of the card's allocation unit 4 MiB");
        let off = text(&fat(UNIT, UNIT + Bytes::mib(1)), Some(UNIT));
        assert_eq!(
            off,
            "starts at 4 MiB; its data starts 1 MiB after a multiple of the card's allocation unit 4 MiB"
        );
        let ext4 = Filesystem {
            kind: "ext4".to_owned(),
            cluster: Some(Bytes::kib(4)),
            data_start: Some(Bytes::ZERO),
            group: Some(Bytes::mib(126)),
            ..Filesystem::default()
        };
        let groups = text(&Partition { filesystem: Some(ext4), ..fat(UNIT, UNIT) }, Some(UNIT));
        assert!(groups.ends_with("its groups of 126 MiB are not"), "{groups}");
        let unknown = text(&Partition { filesystem: None, ..fat(Bytes::mib(1), UNIT) }, Some(UNIT));
        assert_eq!(unknown, "starts at 1 MiB, not a multiple of the card's allocation unit 4 MiB");
    }

    #[test]
    fn a_start_off_the_edge_with_an_aligned_data_area_is_on_purpose() {
        let start = Bytes::new(249 * 512);
        for unit in [Some(UNIT), None] {
            let partition = fat(start, UNIT);
            assert!(
                text(&partition, unit).contains("sector 249")
                    && text(&partition, unit).contains("on purpose")
            );
            let misplaced = fat(start, UNIT + Bytes::new(512));
            assert!(text(&misplaced, unit).contains("inside a page: its aligned blocks cross pages"));
        }
    }

    #[test]
    fn a_partition_beyond_the_disk_is_reported() {
        let text = alignment_text(&fat(UNIT, UNIT), Bytes::mib(8), Some(UNIT));
        assert!(text.starts_with("ends beyond the disk"), "{text}");
    }

    #[test]
    fn start_inside_a_page_is_on_purpose_only_if_the_data_is_aligned_to_16_kib() {
        let track = Bytes::new(63 * 512);
        let purpose = "starts at sector 63, inside a page on purpose: its data is aligned";
        let crossing = "starts at sector 63, inside a page: its aligned blocks cross pages";
        for (data, expected) in [(64, purpose), (80, purpose), (72, crossing), (68, crossing)] {
            assert_eq!(text(&fat(track, Bytes::kib(data)), None), expected, "data at {data} KiB");
        }
        let page = text(&fat(Bytes::kib(36), Bytes::kib(72)), None);
        assert_eq!(page, "starts at 36 KiB, aligned to 4 KiB");
        let half_a_page = text(&fat(Bytes::kib(38), Bytes::kib(72)), None);
        assert_eq!(half_a_page, "starts at sector 76, inside a page: its aligned blocks cross pages");
    }
}
