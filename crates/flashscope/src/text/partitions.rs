//! Sentences about partitions: filesystem, mounts and alignment.

use flashscope_device::Bytes;
use flashscope_linux::{Card, Disk, Filesystem, Mount, Partition, alignment};

use super::fact::Fact;

/// The smallest useful alignment: no controller has a smaller page.
const PAGE_MIN: Bytes = Bytes::kib(4);

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
        alignment_text(partition, disk)
    )
}

/// `start`: the offset of its partition on the disk.
fn filesystem(found: &Filesystem, start: Bytes) -> String {
    let label = found.label.as_ref().map_or_else(String::new, |label| format!(" \"{label}\""));
    let cluster = found.cluster.map_or_else(String::new, |cluster| format!(", {cluster} clusters"));
    let data = found.data_start.filter(|data| !data.is_zero()).and_then(|_| found.data_alignment(start));
    let data = data.map_or_else(String::new, |data| format!(", data aligned to {data}"));
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

/// The alignment of a partition.
fn alignment_text(partition: &Partition, disk: &Disk) -> String {
    let (start, to) = (partition.start, alignment(partition.start));
    let end = start.get().checked_add(partition.length.get());
    if end.is_none_or(|end| end > disk.capacity.get()) {
        return "ends beyond the disk: the partition table is damaged or belongs to another disk".to_owned();
    }
    if to < PAGE_MIN {
        return format!("starts at {}, inside a page: its aligned blocks cross pages", start.sectors());
    }
    match disk.card.as_ref().and_then(Card::allocation_unit) {
        Some(unit) if start.is_multiple_of(unit) => {
            format!("starts at {start}, a multiple of the card's allocation unit {unit}")
        }
        Some(unit) => format!("starts at {start}, not a multiple of the card's allocation unit {unit}"),
        None => format!("starts at {start}, aligned to {to}"),
    }
}
