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

#[cfg(test)]
mod tests {
    use flashscope_device::SECTOR;
    use flashscope_device::layer::{FaultSpec, Faulty};
    use flashscope_device::memory::MemoryDevice;

    use super::*;
    use crate::filesystem::FilesystemKind;
    use crate::medium::Medium;
    use crate::planner::{Wish, plan};
    use crate::purpose::Purpose;

    const CAPACITY: Bytes = Bytes::mib(100);

    /// The plan of an ext4 on a medium of this size.
    fn planned(capacity: Bytes) -> Plan {
        let medium = Medium { target: "memory".to_owned(), capacity, ..Medium::stick() };
        let wish = Wish { filesystem: Some(FilesystemKind::Ext4), ..Wish::new(Purpose::LinuxData, 1) };
        plan(&medium, &wish).unwrap()
    }

    /// A plan with this number of partitions of 16 MiB, without gaps.
    fn with_partitions(count: u32) -> Plan {
        let mut planned = planned(CAPACITY);
        let first = planned.partitions.remove(0);
        for index in 0..count {
            let mut partition = Partition { number: index + 1, ..first.clone() };
            partition.placement.start = Bytes::mib(4) + Bytes::mib(16) * u64::from(index);
            partition.placement.size = Bytes::mib(16);
            planned.partitions.push(partition);
        }
        planned
    }

    #[test]
    fn up_to_four_partitions_are_taken() {
        let device = MemoryDevice::new(CAPACITY);
        for count in 1..=4 {
            assert!(check(&with_partitions(count), &device).is_ok(), "{count}");
        }
        for count in [0, 5] {
            let refused = check(&with_partitions(count), &device).unwrap_err();
            let why = format!("it has {count} partitions");
            assert!(matches!(&refused, ApplyError::Impossible(what) if *what == why), "{refused}");
        }
    }

    /// An MBR counts sectors with 32 bits: up to 2 TiB, less a sector.
    #[test]
    fn partition_that_ends_behind_the_last_sector_of_an_mbr_needs_a_gpt() {
        let large: FaultSpec = "limbo:real=1MiB,fake=3TiB".parse().unwrap();
        let device = Faulty::new(MemoryDevice::new(Bytes::mib(1)), &[large], 1).unwrap();
        let gpt = planned(Bytes::gib(3072));
        assert_eq!(gpt.table.kind, TableKind::Gpt);
        assert!(check(&gpt, &device).is_ok());
        let in_mbr_until = |sectors: u64| {
            let mut edited = gpt.clone();
            edited.table.kind = TableKind::Mbr;
            let partition = &mut edited.partitions[0];
            partition.type_code = "83".to_owned();
            partition.placement.size = SECTOR * sectors - partition.placement.start;
            check(&edited, &device)
        };
        assert!(in_mbr_until(0xFFFF_FFFF).is_ok());
        let refused = in_mbr_until(0x1_0000_0000).unwrap_err();
        let why = "partition 1 does not fit";
        assert!(matches!(&refused, ApplyError::Impossible(what) if what == why), "{refused}");
    }

    #[test]
    fn identifiers_are_up_to_36_hexadecimal_digits_and_dashes() {
        let longest = "8c9e5c5a-1b1e-4f4b-9f6e-3a2b1c0d9e8f";
        for text in ["7", "1234ABCD", "1234abcd-01", longest] {
            assert!(is_identifier(text), "{text}");
        }
        let longer = format!("{longest}0");
        for text in ["", "-", "-1234", "--------", "0x1", "12 34", "1234\nsize=1", "g", &longer] {
            assert!(!is_identifier(text), "{text}");
        }
    }
}
