//! The plan of a command: region, number of requests, and whether the device allows it.

use flashscope_device::{ByteRange, Bytes, Capabilities};

use flashscope_measure::Estimate;
use flashscope_record::observation::{Refusal, Room};

use crate::command::Command;
use crate::procedure::align;

// flashbench --open-au: units start at 16 MiB and are 12 erase blocks apart, so that no two are adjacent.
const FIRST_UNIT: Bytes = Bytes::mib(16);
const STRIDE_ERASE_BLOCKS: u64 = 12;

/// The name of the experiment.
pub(super) const fn name(command: &Command) -> &'static str {
    match command {
        Command::Align { .. } => "align",
        Command::OpenUnits { .. } => "open-units",
        Command::FindFat { .. } => "fat-area",
    }
}

/// The offset of unit `index` of `--open-au`.
pub(super) fn unit_offset(erase_block: Bytes, index: u32) -> Bytes {
    FIRST_UNIT.round_up(erase_block) + erase_block * (STRIDE_ERASE_BLOCKS * u64::from(index))
}

/// The request sizes of the rows: the erase block, halved down to `smallest`.
pub(super) fn request_sizes(erase_block: Bytes, smallest: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::successors(Some(erase_block), |size| Some(*size / 2)).take_while(move |size| *size >= smallest)
}

/// The region of the device that a command uses.
pub(super) fn region(command: &Command, capabilities: &Capabilities) -> ByteRange {
    match *command {
        Command::Align { .. } => capabilities.whole(),
        Command::OpenUnits { erase_block, open_units, .. } => {
            let first = unit_offset(erase_block, 0);
            let end = unit_offset(erase_block, open_units.saturating_sub(1)) + erase_block;
            ByteRange::new(first, end - first)
        }
        Command::FindFat { erase_block, units, .. } => {
            ByteRange::new(Bytes::ZERO, erase_block * u64::from(units))
        }
    }
}

/// The cost of a command.
pub(super) fn estimate(command: &Command, capabilities: &Capabilities) -> Estimate {
    let (units, erase_block, smallest) = match *command {
        Command::Align { read } => {
            return Estimate { requests: align::requests(read, capabilities), ..Estimate::default() };
        }
        Command::OpenUnits { erase_block, open_units, smallest, .. } => (open_units, erase_block, smallest),
        Command::FindFat { erase_block, units, smallest, .. } => (units, erase_block, smallest),
    };
    let units = u64::from(units);
    let rows = request_sizes(erase_block, smallest);
    let (count, requests) = rows.fold((0, 0), |(count, requests), size| {
        let pieces = size.get().div_ceil(capabilities.max_request.get());
        (count + 1, requests + units * (erase_block / size) * pieces)
    });
    Estimate { requests, bytes_written: erase_block * (units * count), ..Estimate::default() }
}

/// Checks that a command can run.
///
/// # Errors
/// One sentence that says why not.
pub(super) fn feasible(command: &Command, capabilities: &Capabilities) -> Result<(), Refusal> {
    match *command {
        Command::Align { read } => align::feasible(read, capabilities),
        Command::OpenUnits { erase_block, open_units, smallest, .. } => {
            writes_are_feasible(erase_block, open_units, smallest, capabilities)?;
            fits(command, capabilities)
        }
        Command::FindFat { erase_block, units, smallest, .. } => {
            writes_are_feasible(erase_block, units, smallest, capabilities)?;
            fits(command, capabilities)
        }
    }
}

fn writes_are_feasible(
    erase_block: Bytes,
    units: u32,
    smallest: Bytes,
    capabilities: &Capabilities,
) -> Result<(), Refusal> {
    let block = capabilities.logical_block;
    if !capabilities.writable {
        return Err(Refusal::ReadOnly);
    }
    if units == 0 {
        return Err(Refusal::NoBlocks);
    }
    if smallest.is_zero() || smallest > erase_block {
        return Err(Refusal::RequestOutOfRange { request: smallest, least: block, most: erase_block });
    }
    // This also bounds every later product.
    if u64::from(units) > capabilities.capacity / erase_block {
        let room = Room::Blocks(units, erase_block);
        return Err(Refusal::TooSmall { capacity: capabilities.capacity, room });
    }
    match request_sizes(erase_block, smallest)
        .find(|size| !size.is_multiple_of(block) || !erase_block.is_multiple_of(*size))
    {
        Some(odd) => Err(Refusal::NotWhole { size: erase_block, unit: odd }),
        None => Ok(()),
    }
}

fn fits(command: &Command, capabilities: &Capabilities) -> Result<(), Refusal> {
    let end = region(command, capabilities).end();
    if end <= capabilities.capacity {
        return Ok(());
    }
    Err(Refusal::TooSmall { capacity: capabilities.capacity, room: Room::End(end) })
}
