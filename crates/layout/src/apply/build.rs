//! Builds the layout of a plan in scratch files, and says which ranges of the medium it writes.

use std::path::PathBuf;

use flashscope_device::{ByteRange, Bytes};

use super::host::{Host, HostError};
use crate::filesystem;
use crate::plan::{Chs, Partition, Plan, TableKind};
use crate::steps;

/// A layout that was built: the pieces to write, ascending. The partition table is the last to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What is written, by offset on the medium; no two overlap.
    pub pieces: Vec<Piece>,
    /// What the tools printed, in their order.
    pub messages: Vec<String>,
}

/// A range of the medium and where its bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The range on the medium.
    pub range: ByteRange,
    /// The scratch file.
    pub source: PathBuf,
    /// Where the bytes begin there.
    pub offset: Bytes,
    /// Whether it belongs to the partition table.
    pub is_table: bool,
}

/// Old signatures lie at the start and the end of partitions and disks: as much is overwritten with zeros there. libblkid
/// looks at most 1 MiB from either end for all but few (util-linux, libblkid/src/superblocks).
const WIPE: Bytes = Bytes::mib(1);

/// The package that has sfdisk (Debian).
const TABLE_PACKAGE: &str = "fdisk";

/// Builds the layout, and has each filesystem checked by its own tool.
///
/// # Errors
/// [`HostError`] if a tool is missing or fails, or a scratch file does.
pub fn build(plan: &Plan, host: &mut dyn Host) -> Result<Image, HostError> {
    let mut image = Image { pieces: Vec::new(), messages: Vec::new() };
    for partition in &plan.partitions {
        format(partition, host, &mut image)?;
    }
    table(plan, host, &mut image)?;
    image.pieces.sort_by_key(|piece| piece.range.offset);
    Ok(image)
}

/// Makes one filesystem.
fn format(partition: &Partition, host: &mut dyn Host, image: &mut Image) -> Result<(), HostError> {
    let placement = &partition.placement;
    let path = host.scratch(&format!("partition-{}", partition.number), placement.size)?;
    let filesystem = filesystem::of_kind(placement.filesystem);
    let uuid = partition.uuid.as_deref();
    let (tool, device) = (filesystem.tool(), path.to_string_lossy());
    let version = host.version(&tool).map_err(|error| error.with_package(tool.package))?;
    if let Some(found) = version.filter(|version| *version < tool.since) {
        let (program, package) = (tool.program.to_owned(), tool.package.to_owned());
        return Err(HostError::TooOld { program, found, since: tool.since, package });
    }
    let command = filesystem.command(placement, &partition.label, uuid, &device);
    for command in std::iter::once(tool.adapt(command, version)).chain(filesystem.check(&device)) {
        let messages = host.run(&command).map_err(|error| error.with_package(tool.package))?;
        image.messages.push(messages);
    }
    let ends = [
        ByteRange::new(Bytes::ZERO, WIPE.min(placement.size)),
        ByteRange::new(placement.size.saturating_sub(WIPE), WIPE.min(placement.size)),
    ];
    let written = host.written(&path)?.into_iter().chain(ends).collect();
    for range in merged(written, placement.size) {
        image.pieces.push(Piece {
            range: ByteRange::new(placement.start + range.offset, range.length),
            source: path.clone(),
            offset: range.offset,
            is_table: false,
        });
    }
    Ok(())
}

/// Makes the partition table, and zeros around it.
fn table(plan: &Plan, host: &mut dyn Host, image: &mut Image) -> Result<(), HostError> {
    let medium = &plan.medium;
    // sfdisk takes a file for a disk with sectors of 512 bytes. An MBR only counts sectors, so a disk with larger ones is
    // built as a file with as many small ones.
    let scale = if plan.table.kind == TableKind::Mbr { medium.logical_block / Bytes::new(512) } else { 1 };
    let size = Bytes::new(medium.capacity.get() / scale);
    let path = host.scratch("table", size)?;
    let command = steps::table_command(plan, &path.to_string_lossy());
    image.messages.push(host.run(&command).map_err(|error| error.with_package(TABLE_PACKAGE))?);
    if let Some(chs) = plan.table.chs {
        pretend(plan, chs, host, &path)?;
    }
    let first = plan.partitions.iter().map(|partition| partition.placement.start).min().unwrap_or(WIPE);
    let last = plan.partitions.iter().map(Partition::end).max().unwrap_or(WIPE);
    let before = ByteRange::new(Bytes::ZERO, WIPE.min(first));
    let end = medium.capacity.saturating_sub(WIPE).max(last).round_up(medium.logical_block);
    let after = ByteRange::new(end, medium.capacity.round_down(medium.logical_block).saturating_sub(end));
    for range in [before, after].into_iter().filter(|range| !range.length.is_zero()) {
        // A GPT lies where it belongs; of an MBR on larger sectors only the first 512 bytes count, and the rest is zeros.
        image.pieces.push(Piece { range, source: path.clone(), offset: range.offset, is_table: true });
    }
    Ok(())
}

/// Writes the CHS fields of an MBR for a pretended geometry.
fn pretend(plan: &Plan, chs: Chs, host: &mut dyn Host, path: &std::path::Path) -> Result<(), HostError> {
    for partition in &plan.partitions {
        let sector = plan.medium.logical_block;
        let at = Bytes::new(446 + 16 * u64::from(partition.number.saturating_sub(1)));
        let fields = [
            (at + Bytes::new(1), partition.placement.start / sector),
            (at + Bytes::new(5), (partition.end() / sector).saturating_sub(1)),
        ];
        for (offset, lba) in fields {
            host.write(path, offset, &chs_field(lba, chs))?;
        }
    }
    Ok(())
}

/// The three bytes of a CHS address; the largest one for a sector beyond cylinder 1023.
fn chs_field(lba: u64, chs: Chs) -> [u8; 3] {
    let (heads, sectors) = (u64::from(chs.heads.max(1)), u64::from(chs.sectors.clamp(1, 63)));
    let cylinder = lba / (heads * sectors);
    let (cylinder, head, sector) = if cylinder > 1023 {
        (1023, heads - 1, sectors)
    } else {
        (cylinder, lba / sectors % heads, lba % sectors + 1)
    };
    let byte = |number: u64| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
    [byte(head), byte(sector | cylinder >> 8 << 6), byte(cylinder)]
}

/// The ranges sorted, within `end`, and none overlapping or touching another.
fn merged(mut ranges: Vec<ByteRange>, end: Bytes) -> Vec<ByteRange> {
    ranges.sort_by_key(|range| range.offset);
    let mut merged: Vec<ByteRange> = Vec::new();
    for range in ranges {
        let range_end = range.end().min(end);
        match merged.last_mut() {
            Some(last) if range.offset <= last.end() => {
                last.length = last.length.max(range_end.saturating_sub(last.offset));
            }
            _ if range.offset < range_end => {
                merged.push(ByteRange::new(range.offset, range_end - range.offset))
            }
            _ => {}
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_merged() {
        let range = |offset, length| ByteRange::new(Bytes::new(offset), Bytes::new(length));
        let ranges = vec![range(10, 5), range(0, 4), range(15, 5), range(18, 10), range(40, 5)];
        assert_eq!(merged(ranges, Bytes::new(42)), [range(0, 4), range(10, 18), range(40, 2)]);
    }

    #[test]
    fn the_old_recipe_gives_cylinders_of_49_times_128_kib() {
        let chs = Chs { heads: 224, sectors: 56 };
        assert_eq!(u64::from(chs.heads) * u64::from(chs.sectors) * 512, 49 * 128 * 1024);
        assert_eq!(chs_field(256, chs), [4, 33, 0]);
        assert_eq!(chs_field(u64::from(u32::MAX), chs), [223, 56 | 3 << 6, 0xff]);
    }
}
