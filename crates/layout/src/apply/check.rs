//! Checks a plan before it is applied: it may have been edited by hand, or belong to another medium.

use flashscope_device::{Bytes, Device};

use super::run::ApplyError;
use crate::filesystem::{self, option};
use crate::plan::{Partition, Plan, TableKind};

/// The most partitions of an MBR without a chain of further tables.
const PARTITIONS_MAX: usize = 4;
/// A UUID with its dashes (RFC 9562, 4).
const UUID_LENGTH: usize = 36;
/// An MBR counts sectors with 32 bits.
const MBR_SECTORS_MAX: u64 = u32::MAX as u64;

fn impossible(what: impl Into<String>) -> ApplyError {
    ApplyError::Impossible(what.into())
}

/// Checks a plan against the medium.
///
/// # Errors
/// [`ApplyError`] if the medium is another one, a partition does not fit, overlaps another or lies on the
/// table, or an option, label or identifier is none that a plan has.
pub fn check(plan: &Plan, device: &dyn Device) -> Result<(), ApplyError> {
    let capabilities = device.capabilities();
    let block = capabilities.logical_block;
    if capabilities.capacity != plan.medium.capacity {
        let (expected, found) = (plan.medium.capacity, capabilities.capacity);
        return Err(ApplyError::OtherMedium { expected, found });
    }
    let is_true = plan.medium.true_size.is_none_or(|size| size <= plan.medium.capacity);
    if !is_true || plan.medium.true_size.is_some() && plan.table.kind != TableKind::Mbr {
        return Err(impossible("a device of a smaller true size needs an MBR within it"));
    }
    if block != plan.medium.logical_block {
        return Err(impossible(format!("it has logical blocks of {block}")));
    }
    let erase_block = plan.medium.erase_block.size;
    if erase_block.is_zero() || !erase_block.is_multiple_of(block) {
        return Err(impossible(format!("its erase block of {erase_block} is no multiple of {block}")));
    }
    if plan.partitions.is_empty() || plan.partitions.len() > PARTITIONS_MAX {
        return Err(impossible(format!("it has {} partitions", plan.partitions.len())));
    }
    if !is_identifier(&plan.table.id) {
        return Err(impossible(format!("'{}' is no identifier of a table", plan.table.id.escape_debug())));
    }
    let is_chs = plan.table.chs.is_none_or(|chs| chs.heads >= 1 && (1..=63).contains(&chs.sectors));
    if !is_chs || plan.table.chs.is_some() && plan.table.kind != TableKind::Mbr {
        return Err(impossible("its CHS geometry is impossible"));
    }
    let mut end = block;
    for (partition, number) in plan.partitions.iter().zip(1..) {
        place(partition, number, end, plan)?;
        words(partition, plan.table.kind)?;
        end = partition.end();
    }
    Ok(())
}

/// Checks that a partition lies after `end`, on the medium, in whole blocks.
fn place(partition: &Partition, number: u32, end: Bytes, plan: &Plan) -> Result<(), ApplyError> {
    let (placement, block) = (&partition.placement, plan.medium.logical_block);
    let last = placement.start.get().checked_add(placement.size.get()).map(Bytes::new);
    let fits = last.is_some_and(|last| last <= plan.medium.usable());
    let is_whole = placement.start.is_multiple_of(block) && placement.size.is_multiple_of(block);
    let is_in_table =
        plan.table.kind != TableKind::Mbr || last.is_some_and(|last| last / block <= MBR_SECTORS_MAX);
    let is_there = partition.number == number && placement.start >= end && !placement.size.is_zero();
    if fits && is_whole && is_in_table && is_there {
        return Ok(());
    }
    Err(impossible(format!("partition {} does not fit", partition.number)))
}

/// Checks every word of a partition that becomes part of a command, and its type.
fn words(partition: &Partition, table: TableKind) -> Result<(), ApplyError> {
    let placement = &partition.placement;
    let filesystem = filesystem::of_kind(placement.filesystem);
    let kind = filesystem.kind();
    filesystem.check_label(&partition.label).map_err(|error| impossible(error.to_string()))?;
    for text in [&partition.uuid, &partition.part_uuid] {
        if !is_identifier(text) {
            return Err(impossible(format!("'{}' is no identifier", text.escape_debug())));
        }
    }
    if let Some(word) = option::unknown(&placement.options, filesystem.options()) {
        return Err(impossible(format!(
            "'{}' is no option that flashscope gives {kind}",
            word.escape_debug()
        )));
    }
    let mount =
        partition.mount_options.iter().find(|word| !filesystem.mount_options().contains(&word.as_str()));
    if let Some(word) = mount {
        return Err(impossible(format!("'{}' is no mount option of {kind}", word.escape_debug())));
    }
    if partition.type_code != filesystem.type_code(placement, table) {
        let code = partition.type_code.escape_debug();
        return Err(impossible(format!("'{code}' is not the partition type of {kind}")));
    }
    Ok(())
}

/// Hexadecimal digits and dashes, not at the front.
fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_hexdigit())
        && text.len() <= UUID_LENGTH
        && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}
