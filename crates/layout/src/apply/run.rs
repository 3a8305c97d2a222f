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
