//! A plan in words: what goes where, and the arithmetic and the reason of every number.

use std::fmt::Write as _;

use flashscope_layout::filesystem::Command;
use flashscope_layout::medium::{EraseBlock, EraseBlockSource};
use flashscope_layout::plan::{Partition, Plan, TableKind};
use flashscope_layout::present::{Alignment, PresentVolume, TableProblem};
use flashscope_layout::reason::{Because, PlanNumber, Reason};
use flashscope_layout::steps;

/// The plan for a terminal. `disk` names the disk in its commands.
#[must_use]
pub fn plan(plan: &Plan, disk: &str) -> String {
    let medium = &plan.medium;
    let model = if medium.identity.model.is_empty() { String::new() } else { format!("{}, ", medium.identity.model) };
    let mut text = format!("Plan for {}: {model}{}, for {}\n", medium.target, medium.capacity, plan.purpose);
    let _ = writeln!(text, "Erase block: {}\n", erase_block(medium.erase_block));
    let kind = match plan.table.kind {
        TableKind::Mbr => "MBR",
        TableKind::Gpt => "GPT",
    };
    let _ = writeln!(text, "Partition table: {kind}. {}", because(plan.table.reason.because));
    if let Some(chs) = plan.table.chs {
        let _ = writeln!(text, "  CHS fields pretend {} heads and {} sectors.", chs.heads, chs.sectors);
    }
    for each in &plan.partitions {
        text.push_str(&partition(each));
    }
    if let Some(gain) = plan.gain {
        let _ = writeln!(text, "\nGain: {:.1} times as fast ({:.1} to {:.1}) for an everyday copy.", gain.likely, gain.low, gain.high);
    }
    text.push_str("\nCommands:\n");
    for command in steps::commands(plan, disk) {
        let _ = writeln!(text, "  {}", line(&command));
        for input in command.input.lines().filter(|line| !line.is_empty()) {
            let _ = writeln!(text, "    {input}");
        }
    }
    if let Some(rule) = &plan.udev_rule {
        let _ = writeln!(text, "\nTo limit what waits in memory (Linux 6.2), in /etc/udev/rules.d/90-flashscope.rules:\n  {rule}");
    }
    text.push_str("\nRisk: everything on the disk is lost. flashscope apply saves what it overwrites; flashscope undo restores it.\n");
    text
}

fn partition(partition: &Partition) -> String {
    let placement = &partition.placement;
    let label = if partition.label.is_empty() { String::new() } else { format!(", label {}", partition.label) };
    let mut text = format!(
        "\nPartition {}: {}{label}, {} from {}\n",
        partition.number, placement.filesystem, placement.size, placement.start
    );
    for reason in &placement.reasons {
        text.push_str(&number(reason));
    }
    if let Some(cannot) = &placement.cannot {
        let _ = writeln!(text, "  Cannot: {cannot}.");
    }
    if !partition.mount_options.is_empty() {
        let _ = writeln!(text, "  Mount with: {}", partition.mount_options.join(","));
    }
    text
}

fn number(reason: &Reason) -> String {
    let arithmetic = if reason.arithmetic.is_empty() { String::new() } else { format!(" = {}", reason.arithmetic) };
    format!("  {}: {}{arithmetic}\n      {}\n", title(reason.number), reason.value, because(reason.because))
}

/// A command on one line, as a person types it.
fn line(command: &Command) -> String {
    std::iter::once(&command.program).chain(&command.arguments).cloned().collect::<Vec<_>>().join(" ")
}

fn erase_block(erase_block: EraseBlock) -> String {
    let size = erase_block.size;
    match erase_block.source {
        EraseBlockSource::Measured { confidence } => format!("{size}, measured ({:.0} % sure)", confidence * 100.0),
        EraseBlockSource::Given => format!("{size}, as you gave it"),
        EraseBlockSource::StandardBoundary => {
            format!("unknown; the SD Association's boundary unit for this capacity, {size}, stands in")
        }
    }
}

const fn title(number: PlanNumber) -> &'static str {
    match number {
        PlanNumber::TableKind => "partition table",
        PlanNumber::PartitionStart => "start",
        PlanNumber::PartitionSize => "size",
        PlanNumber::Cluster => "cluster",
        PlanNumber::StripeWidth => "stripe and stripe_width",
        PlanNumber::BlocksPerGroup => "blocks per group",
        PlanNumber::BytesPerInode => "bytes per inode",
        PlanNumber::ReservedForRoot => "reserved for root",
        PlanNumber::ReservedSectors => "reserved sectors",
        PlanNumber::Boundary => "boundary",
        PlanNumber::ClusterHeap => "cluster heap",
        PlanNumber::SegmentsPerSection => "segments per section",
        PlanNumber::StripeUnit => "stripe unit",
        PlanNumber::MetadataCopies => "copies of metadata",
        PlanNumber::BlocksPerSegment => "blocks per segment",
    }
}

const fn because(because: Because) -> &'static str {
    match because {
        Because::MbrIsReadEverywhere => "Every system, camera and board reads an MBR.",
        Because::LargerThanMbr => "The disk is larger than an MBR can describe.",
        Because::Asked => "You asked for it.",
        Because::StartOnEdge => "The partition starts on an edge of an erase block.",
        Because::StartOffEdgeOnPurpose => {
            "The partition starts off the edge on purpose, so that its data area lies on one."
        }
        Because::EndOnEdge => "The partition ends with a whole erase block.",
        Because::BootPartition => "The usual size of a boot partition.",
        Because::GroupsFollowStart => "Groups are counted from the start, so it lies on an edge of an erase block.",
        Because::SectionsFollowDisk => "Sections are counted from the start of the disk.",
        Because::EveryGroupOnEdge => "Every group starts on an edge; the default size is no multiple of the erase block.",
        Because::SmallFilesPacked => "Small files are packed into whole erase blocks.",
        Because::FewerInodeTables => "Fewer inode tables have to be zeroed.",
        Because::NoReserveForData => "A disk for data needs no reserve; the default keeps 5 % back.",
        Because::DataAreaOnEdge => "Everything before the data adds up to whole erase blocks.",
        Because::ClusterAgainstFat => "Small clusters waste less and leave fewer gaps; large ones need smaller FATs.",
        Because::StandardCluster => "The SD Association recommends this cluster for the capacity.",
        Because::ClusterForPurpose => "Large clusters suit large files, small ones small files.",
        Because::PowersOfTwoOnly => "The tool aligns to powers of two only.",
        Because::LargestPowerOfTwo => "The largest power of two that divides the erase block.",
        Because::CleaningFreesSections => "Cleaning frees whole sections, so a section is made of whole erase blocks.",
        Because::GroupsOfStripeUnits => "Allocation groups are made of whole stripe units.",
        Because::OneMetadataCopy => "One copy of the metadata halves its writes.",
    }
}

/// How a volume lies against an erase block, as one sentence.
#[must_use]
pub fn alignment(volume: &PresentVolume, erase_block: flashscope_device::Bytes) -> String {
    let name = volume.number.map_or_else(|| "The filesystem".to_owned(), |number| format!("Partition {number}"));
    let sector = volume.start / flashscope_device::SECTOR;
    let kind = volume.head.as_ref().map_or_else(String::new, |head| format!(" ({})", head.kind));
    match volume.alignment(erase_block) {
        Alignment::Aligned => format!("{name}{kind} is aligned to {erase_block}."),
        Alignment::DataAreaOnly => {
            format!("{name}{kind} starts at sector {sector}, off the edge on purpose: its data area is aligned to {erase_block}.")
        }
        Alignment::DataAreaOff { by } => {
            format!("{name}{kind} is misaligned: its data area starts {by} after an edge of {erase_block}.")
        }
        Alignment::GroupsOff { group } => {
            format!("{name}{kind} starts on an edge, but its groups of {group} do not: they are no multiple of {erase_block}.")
        }
        Alignment::StartOff { by } => {
            format!("{name}{kind} is misaligned: it starts at sector {sector}, {by} after an edge of {erase_block}.")
        }
        Alignment::StartOnly => format!("{name}{kind} starts on an edge of {erase_block}; its data area is not known."),
    }
}

/// What is wrong with a partition table, as one sentence.
#[must_use]
pub const fn table_problem(problem: TableProblem) -> &'static str {
    match problem {
        TableProblem::GptBackup => "The backup header of the GPT is missing or damaged.",
        TableProblem::HybridMbr => "The MBR describes partitions beside the GPT (hybrid MBR).",
        TableProblem::BeyondEnd => "A partition reaches beyond the end of the disk.",
        TableProblem::Overlap => "Two partitions overlap.",
    }
}
