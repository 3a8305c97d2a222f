//! Builds the layout of a plan in scratch files, and says which ranges of the medium it writes.

use std::path::PathBuf;

use flashscope_device::{ByteRange, Bytes};

use super::host::{Host, HostError, version_of};
use crate::filesystem::of_kind;
use crate::plan::{Partition, Plan, TableKind};
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

/// The package that has sfdisk (Debian).
const TABLE_PACKAGE: &str = "fdisk";

/// Builds the layout, and has each filesystem checked by its own tool.
///
/// # Errors
/// [`HostError`] if a tool is missing or fails, or a scratch file does.
pub fn build(plan: &Plan, host: &mut dyn Host) -> Result<Image, HostError> {
    let mut image = Image { pieces: Vec::new(), messages: Vec::new() };
    for partition in &plan.partitions {
        filesystem(partition, host, &mut image)?;
    }
    table(plan, host, &mut image)?;
    image.pieces.sort_by_key(|piece| piece.range.offset);
    Ok(image)
}

/// Makes one filesystem.
pub(super) fn filesystem(
    partition: &Partition,
    host: &mut dyn Host,
    image: &mut Image,
) -> Result<(), HostError> {
    let placement = &partition.placement;
    let path = host.scratch(&format!("partition-{}", partition.number), placement.size)?;
    let filesystem = of_kind(placement.filesystem);
    let (tool, device) = (filesystem.tool(), path.to_string_lossy());
    let version = version_of(&tool, &mut |command| host.run(command))?;
    let command = filesystem.command(placement, &partition.label, &partition.uuid, &device);
    for command in std::iter::once(tool.adapt(command, version)?).chain(filesystem.check(&device)) {
        let messages = host.run(&command).map_err(|error| error.with_package(tool.package))?;
        image.messages.push(messages);
    }
    let written = host.written(&path)?.into_iter().chain(steps::partition_ends(partition)).collect();
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
    // sfdisk takes a file for a disk with sectors of 512 bytes. An MBR only counts sectors, so a disk with
    // larger ones is built as a file with as many small ones.
    let scale = if plan.table.kind == TableKind::Mbr { medium.logical_block / Bytes::new(512) } else { 1 };
    let size = Bytes::new(medium.capacity.get() / scale);
    let path = host.scratch("table", size)?;
    let command = steps::table_command(plan, &path.to_string_lossy());
    image.messages.push(host.run(&command).map_err(|error| error.with_package(TABLE_PACKAGE))?);
    for (offset, bytes) in steps::chs_fields(plan) {
        host.write(&path, offset, &bytes)?;
    }
    for range in steps::table_ranges(plan) {
        // A GPT lies where it belongs; of an MBR on larger sectors only the first 512 bytes count, and the
        // rest is zeros.
        image.pieces.push(Piece { range, source: path.clone(), offset: range.offset, is_table: true });
    }
    Ok(())
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
}
