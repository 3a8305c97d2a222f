//! Applies a plan: build, save, write, read back.

use flashscope_device::transfer::{self, MediumError};
use flashscope_device::{ByteRange, Bytes, Device};

use super::build::{Image, Piece, build};
use super::check::check;
use super::host::{Host, HostError};
use super::undo::{self, Origin, UndoError, UndoHeader, UndoSink};
use crate::plan::Plan;
use crate::present::{Alignment, present};

/// A plan that was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The bytes that were written.
    pub bytes: Bytes,
    /// What the tools printed.
    pub messages: Vec<String>,
    /// What the undo file says. `None` if the medium held all of it already: nothing was written then, and
    /// there is no undo file, as it could only lead back to the same layout.
    pub undo: Option<UndoHeader>,
    /// Whether the medium held the table of this plan, so that it was applied before. The identifiers are
    /// those of the plan, so another plan has another table.
    pub is_repeated: bool,
}

/// A plan that was not applied, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The medium is not the one that the plan is for.
    #[error("the plan is for a medium of {expected}, and this has {found}; make a new plan")]
    OtherMedium {
        /// The size in the plan.
        expected: Bytes,
        /// The size that is there.
        found: Bytes,
    },
    /// The plan was edited, and cannot be right.
    #[error("the plan cannot be applied: {0}; make a new plan")]
    Impossible(String),
    /// The host failed before anything was written.
    #[error("{0}; nothing was written to the medium")]
    Host(HostError),
    /// The undo file could not be written. Nothing was written to the medium.
    #[error("{0}; nothing was written to the medium")]
    Undo(UndoError),
    /// The medium failed while it was written.
    #[error("{0}; run 'flashscope undo' with the undo file to take back what was written")]
    Medium(MediumError),
    /// What was written does not read back.
    #[error("{what} reads back differently than planned; run 'flashscope undo' with the undo file")]
    ReadBack {
        /// What.
        what: String,
    },
}

impl From<HostError> for ApplyError {
    fn from(error: HostError) -> Self {
        Self::Host(error)
    }
}

impl From<UndoError> for ApplyError {
    fn from(error: UndoError) -> Self {
        Self::Undo(error)
    }
}

impl From<MediumError> for ApplyError {
    fn from(error: MediumError) -> Self {
        Self::Medium(error)
    }
}

/// What applying uses besides plan and medium.
pub struct Means<'a> {
    /// The version of flashscope, for the undo file.
    pub version: &'a str,
    /// The target as undo should find it again.
    pub target: &'a str,
    /// Tools and scratch files.
    pub host: &'a mut dyn Host,
    /// Takes the undo file, which is durable before anything is written.
    pub undo: &'a mut dyn UndoSink,
    /// Takes each step before it begins.
    pub observer: &'a mut dyn FnMut(Step),
}

/// What applying does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The tools make table and filesystems in scratch files.
    Build,
    /// This number of bytes is read from the medium and saved for undo.
    Save(Bytes),
    /// This number of bytes is written to the medium.
    Write(Bytes),
    /// The same is read back.
    ReadBack(Bytes),
}

/// Applies a plan.
///
/// # Errors
/// [`ApplyError`]; all but [`ApplyError::Medium`] and [`ApplyError::ReadBack`] mean that the medium is
/// untouched.
pub fn apply(plan: &Plan, device: &mut dyn Device, means: Means<'_>) -> Result<Applied, ApplyError> {
    let Means { version, target, host, undo, observer } = means;
    let origin = Origin { version, target, medium: &plan.medium };
    check(plan, device)?;
    observer(Step::Build);
    let image = build(plan, host)?;
    let bytes = image.pieces.iter().fold(Bytes::ZERO, |sum, piece| sum + piece.range.length);
    let (table, data): (Vec<&Piece>, Vec<&Piece>) = image.pieces.iter().partition(|piece| piece.is_table);
    let is_repeated = are_there(&table, host, device)?;
    if is_repeated && are_there(&data, host, device)? {
        return Ok(Applied { bytes: Bytes::ZERO, messages: image.messages, undo: None, is_repeated });
    }
    observer(Step::Save(bytes));
    let header = undo::save(&origin, &image, host, device, undo)?;
    undo.make_durable().map_err(UndoError::from)?;
    observer(Step::Write(bytes));
    // The table comes last: until then nothing half made can be mounted.
    for pieces in [data, table] {
        for piece in pieces {
            write(piece, host, device)?;
        }
        transfer::flush(device)?;
    }
    observer(Step::ReadBack(bytes));
    read_back(plan, &image, host, device)?;
    Ok(Applied { bytes, messages: image.messages, undo: Some(header), is_repeated })
}

/// The requests for a piece: where on the medium, and where in the scratch file.
fn parts<'a>(piece: &'a Piece, device: &dyn Device) -> impl Iterator<Item = (ByteRange, ByteRange)> + 'a {
    let parts = transfer::parts(piece.range, transfer::request_max(device));
    parts.map(|part| (part, ByteRange::new(piece.offset + (part.offset - piece.range.offset), part.length)))
}

/// Whether the medium holds every byte of these pieces already. The first difference ends the comparison.
fn are_there(pieces: &[&Piece], host: &mut dyn Host, device: &mut dyn Device) -> Result<bool, ApplyError> {
    for piece in pieces {
        for (part, from) in parts(piece, device) {
            let wanted = host.read(&piece.source, from)?;
            // Nothing is written yet, so a read that fails here is one that fails while saving.
            if transfer::read(device, part).map_err(UndoError::from)?[..] != wanted[..] {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

pub(super) fn write(piece: &Piece, host: &mut dyn Host, device: &mut dyn Device) -> Result<(), ApplyError> {
    for (part, from) in parts(piece, device) {
        // A scratch file that fails now leaves the medium half written.
        let bytes = host
            .read(&piece.source, from)
            .map_err(|error| ApplyError::ReadBack { what: error.to_string() })?;
        transfer::write(device, part.offset, &bytes)?;
    }
    Ok(())
}

/// Compares every written byte, and the layout as a reader of the medium sees it, with the plan.
fn read_back(
    plan: &Plan,
    image: &Image,
    host: &mut dyn Host,
    device: &mut dyn Device,
) -> Result<(), ApplyError> {
    let different = |what: String| ApplyError::ReadBack { what };
    for piece in &image.pieces {
        for (part, from) in parts(piece, device) {
            let wanted = host.read(&piece.source, from).map_err(|error| different(error.to_string()))?;
            if transfer::read(device, part)?[..] != wanted[..] {
                return Err(different(part.to_string()));
            }
        }
    }
    let capabilities = device.capabilities();
    let found = present(capabilities.capacity, capabilities.logical_block, &mut |range| {
        transfer::read(device, range).ok().map(|buffer| buffer.to_vec())
    });
    for (partition, number) in plan.partitions.iter().zip(1_u32..) {
        let placement = &partition.placement;
        let volume = found.volumes.iter().find(|volume| volume.number == Some(number));
        let Some(volume) =
            volume.filter(|volume| volume.start == placement.start && volume.size == placement.size)
        else {
            return Err(different(format!("partition {number}")));
        };
        let erase_block = plan.medium.erase_block.size;
        let is_planned = placement.data_area.is_aligned(placement.start, erase_block);
        let is_off = matches!(
            volume.alignment(erase_block),
            Alignment::DataAreaOff { .. } | Alignment::GroupsOff { .. } | Alignment::StartOff { .. }
        );
        if is_planned && is_off {
            return Err(different(format!("the data area of partition {number}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::filesystem::{Command, FilesystemKind};
    use crate::medium::{EraseBlock, EraseBlockSource, Identity, Medium};
    use crate::planner::{Wish, plan};
    use crate::purpose::Purpose;

    const CAPACITY: Bytes = Bytes::mib(40);

    /// A host whose tools write 4 KiB of sevens as a filesystem, and an MBR with one entry.
    struct Tools {
        table: Vec<u8>,
    }

    impl Tools {
        /// The tools that write the table of this plan.
        fn of(plan: &Plan) -> Self {
            let mut table: Vec<u8> = vec![0; 512];
            let placement = &plan.partitions[0].placement;
            table[450] = 0x83;
            for (at, bytes) in [(454, placement.start), (458, placement.size)] {
                let sectors = u32::try_from(bytes.sectors().0).unwrap();
                table[at..at + 4].copy_from_slice(&sectors.to_le_bytes());
            }
            table[510..].copy_from_slice(&[0x55, 0xaa]);
            Self { table }
        }
    }

    impl Host for Tools {
        fn scratch(&mut self, name: &str, _size: Bytes) -> Result<PathBuf, HostError> {
            Ok(PathBuf::from(name))
        }

        fn run(&mut self, _command: &Command) -> Result<String, HostError> {
            Ok("mke2fs 1.47.0".to_owned())
        }

        fn written(&mut self, _path: &Path) -> Result<Vec<ByteRange>, HostError> {
            Ok(vec![ByteRange::new(Bytes::ZERO, Bytes::kib(4))])
        }

        fn read(&mut self, path: &Path, range: ByteRange) -> Result<Vec<u8>, HostError> {
            let contents = if path == Path::new("table") { self.table.clone() } else { vec![7; 4096] };
            let from = range.offset.to_usize();
            let at = |index: usize| contents.get(from + index).copied().unwrap_or(0);
            Ok((0..range.length.to_usize()).map(at).collect())
        }

        fn write(&mut self, _path: &Path, _offset: Bytes, _bytes: &[u8]) -> Result<(), HostError> {
            Ok(())
        }
    }

    /// A plan of one ext4, for a medium with erase blocks of 1 MiB.
    fn planned() -> Plan {
        let medium = Medium {
            target: "memory".to_owned(),
            capacity: CAPACITY,
            erase_block: EraseBlock { size: Bytes::mib(1), source: EraseBlockSource::Given },
            identity: Identity { capacity: CAPACITY, ..Identity::default() },
            ..Medium::stick()
        };
        let wish = Wish { filesystem: Some(FilesystemKind::Ext4), ..Wish::new(Purpose::LinuxData, 1) };
        plan(&medium, &wish).unwrap()
    }

    fn applied(plan: &Plan, device: &mut MemoryDevice) -> (Applied, Vec<u8>) {
        let (mut host, mut file) = (Tools::of(plan), Vec::new());
        let means = Means {
            version: "0.0.0",
            target: "memory",
            host: &mut host,
            undo: &mut file,
            observer: &mut |_| {},
        };
        (apply(plan, device, means).unwrap(), file)
    }

    /// Three mebibytes are written: the table, and both ends of the partition.
    #[test]
    fn plan_is_written_unless_every_byte_of_it_is_there() {
        let (plan, mut device) = (planned(), MemoryDevice::new(CAPACITY));
        let written = |device: &mut MemoryDevice| {
            let (applied, file) = applied(&plan, device);
            assert_eq!(file.is_empty(), applied.undo.is_none());
            (applied.bytes, applied.is_repeated)
        };
        assert_eq!(written(&mut device), (Bytes::mib(3), false));
        assert_eq!(written(&mut device), (Bytes::ZERO, true));
        transfer::write(&mut device, plan.partitions[0].placement.start, &[5; 512]).unwrap();
        assert_eq!(written(&mut device), (Bytes::mib(3), true));
        transfer::write(&mut device, Bytes::ZERO, &[5; 512]).unwrap();
        assert_eq!(written(&mut device), (Bytes::mib(3), false));
    }

    #[test]
    fn places_that_recognise_the_medium_are_not_written() {
        let mut device = MemoryDevice::new(CAPACITY);
        transfer::write(&mut device, Bytes::ZERO, &vec![3; CAPACITY.to_usize()]).unwrap();
        let before = device.contents().to_vec();
        let (_, file) = applied(&planned(), &mut device);
        let mut rest = file.as_slice();
        let header = undo::read_header(&mut rest).unwrap();
        let mut data = rest;
        let state = undo::state(&header, &mut rest, &mut device).unwrap();
        assert!(state.marked_unchanged > 0, "{state:?}");
        assert_eq!((state.fingerprint_changed, state.marked), (0, state.marked_unchanged), "{state:?}");
        undo::restore(&header, &mut data, &mut device).unwrap();
        assert!(device.contents() == before);
    }
}
