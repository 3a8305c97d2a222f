//! Makes the layout of a plan for a trial: nothing is saved for undo, and nothing read back.
//!
//! What the trial writes into the filesystem is compared instead.

use flashscope_device::transfer::{self, MediumError};
use flashscope_device::{ByteRange, Bytes, Device};

use super::build::{Image, Piece, build, filesystem};
use super::check::check;
use super::host::{Host, HostError};
use super::run::{ApplyError, write};
use crate::plan::{Partition, Plan};

/// A layout that was not made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The plan does not suit the medium. Nothing was written.
    #[error("{0}")]
    Plan(ApplyError),
    /// A tool or a scratch file failed. Nothing was written.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The medium failed while it was written.
    #[error(transparent)]
    Medium(#[from] MediumError),
    /// A scratch file failed while the medium was written.
    #[error("{0}")]
    Scratch(ApplyError),
}

/// Makes table and filesystem of a plan on a whole medium, whose data may be lost. Returns the bytes written.
///
/// # Errors
/// [`MakeError`].
pub fn make(plan: &Plan, device: &mut dyn Device, host: &mut dyn Host) -> Result<Bytes, MakeError> {
    check(plan, device).map_err(MakeError::Plan)?;
    let image = build(plan, host)?;
    let (table, data): (Vec<&Piece>, Vec<&Piece>) = image.pieces.iter().partition(|piece| piece.is_table);
    // The table comes last, as in apply.
    Ok(write_all(&data, Bytes::ZERO, device, host)? + write_all(&table, Bytes::ZERO, device, host)?)
}

/// Makes the filesystem of a partition in the partition itself, `device`. The table around it stays.
/// Returns the bytes written.
///
/// # Errors
/// [`MakeError`].
pub fn make_in_partition(
    partition: &Partition,
    device: &mut dyn Device,
    host: &mut dyn Host,
) -> Result<Bytes, MakeError> {
    let (expected, found) = (partition.placement.size, device.capabilities().capacity);
    if expected > found {
        return Err(MakeError::Plan(ApplyError::OtherMedium { expected, found }));
    }
    let mut image = Image { pieces: Vec::new(), messages: Vec::new() };
    filesystem(partition, host, &mut image)?;
    let pieces: Vec<&Piece> = image.pieces.iter().collect();
    write_all(&pieces, partition.placement.start, device, host)
}

/// Writes pieces, counted from `origin` on the medium, and flushes.
fn write_all(
    pieces: &[&Piece],
    origin: Bytes,
    device: &mut dyn Device,
    host: &mut dyn Host,
) -> Result<Bytes, MakeError> {
    let mut bytes = Bytes::ZERO;
    for piece in pieces {
        let range = ByteRange::new(piece.range.offset - origin, piece.range.length);
        let moved = Piece { range, ..(*piece).clone() };
        write(&moved, host, device).map_err(|error| match error {
            ApplyError::Medium(error) => MakeError::Medium(error),
            other => MakeError::Scratch(other),
        })?;
        bytes += range.length;
    }
    transfer::flush(device)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::filesystem::Command;
    use crate::medium::{EraseBlock, EraseBlockSource, Medium};
    use crate::trial::Variant;

    /// A host whose tools write one block of sevens at the start of a scratch file.
    struct Sevens;

    impl Host for Sevens {
        fn scratch(&mut self, name: &str, _size: Bytes) -> Result<PathBuf, HostError> {
            Ok(PathBuf::from(name))
        }

        fn run(&mut self, _command: &Command) -> Result<String, HostError> {
            Ok("mke2fs 1.47.0".to_owned())
        }

        fn written(&mut self, _path: &Path) -> Result<Vec<ByteRange>, HostError> {
            Ok(vec![ByteRange::new(Bytes::ZERO, Bytes::kib(4))])
        }

        fn read(&mut self, _path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError> {
            let is_first = |at: u64| range.offset.get() + at < 4096;
            Ok((0..range.length.get()).map(|at| if is_first(at) { 7 } else { 0 }).collect())
        }

        fn write(&mut self, _path: &Path, _offset: Bytes, _bytes: &[u8]) -> Result<(), HostError> {
            Ok(())
        }
    }

    fn plan(capacity: Bytes, start: Option<Bytes>) -> Plan {
        let medium = Medium {
            target: "memory".to_owned(),
            capacity,
            erase_block: EraseBlock { size: Bytes::mib(1), source: EraseBlockSource::Given },
            ..Medium::stick()
        };
        Variant::Ext4.plan(&medium, start, 5).unwrap()
    }

    #[test]
    fn table_and_filesystem_are_written_where_the_plan_has_them() {
        let mut device = MemoryDevice::new(Bytes::mib(40));
        let start = Bytes::new(63 * 512);
        let written = make(&plan(Bytes::mib(40), Some(start)), &mut device, &mut Sevens).unwrap();
        assert!(written >= Bytes::mib(2), "both ends of the partition are zeroed: {written}");
        let at = start.to_usize();
        assert!(device.contents()[at..at + 4096].iter().all(|byte| *byte == 7));
        assert_eq!(device.contents()[0], 7, "the table");
        assert_eq!(device.contents()[at + 4096], 0);
    }

    #[test]
    fn filesystem_of_a_partition_is_written_from_its_start() {
        let plan = plan(Bytes::mib(40), None);
        let partition = &plan.partitions[0];
        let mut device = MemoryDevice::new(partition.placement.size);
        make_in_partition(partition, &mut device, &mut Sevens).unwrap();
        assert!(device.contents()[..4096].iter().all(|byte| *byte == 7) && device.contents()[4096] == 0);
        let mut smaller = MemoryDevice::new(Bytes::mib(8));
        let refused = make_in_partition(partition, &mut smaller, &mut Sevens).unwrap_err();
        assert!(matches!(refused, MakeError::Plan(_)) && smaller.contents().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn plan_for_a_medium_of_another_size_writes_nothing() {
        let mut device = MemoryDevice::new(Bytes::mib(32));
        let refused = make(&plan(Bytes::mib(40), None), &mut device, &mut Sevens).unwrap_err();
        assert!(matches!(refused, MakeError::Plan(ApplyError::OtherMedium { .. })));
        assert!(device.contents().iter().all(|byte| *byte == 0));
    }
}
