//! The layout that is on a medium, in sentences.
//!
//! `plan` reads it from the medium; a report takes the volumes that its run stores.

use flashscope_device::{Bytes, SECTOR};
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::head::{Head, Signature};
use flashscope_layout::present::{Alignment, Present, PresentVolume, TableProblem};
use flashscope_record::attachment::Volume;
use flashscope_record::diagnosis::{Bottleneck, Diagnosis, DiagnosisEvidence, Gain};
use flashscope_record::finding::FindingId;

use crate::Report;
use crate::words::{Sentence, gain_text};

/// What is on a medium, judged against its erase block: a sentence for each partition and each problem.
#[must_use]
pub fn present(present: &Present, erase_block: Bytes) -> Vec<String> {
    if present.volumes.is_empty() && present.problems.is_empty() {
        return vec!["No partition and no known filesystem.".to_owned()];
    }
    let volumes = present.volumes.iter().map(|volume| alignment(volume, erase_block));
    volumes.chain(present.problems.iter().map(|problem| table_problem(*problem).to_owned())).collect()
}

/// How a volume lies against an erase block, in sentences.
#[must_use]
pub fn alignment(volume: &PresentVolume, erase_block: Bytes) -> String {
    let name =
        volume.number.map_or_else(|| "The filesystem".to_owned(), |number| format!("Partition {number}"));
    let kind = volume.head.as_ref().map(Head::name).or_else(|| volume.signature.map(signature));
    format!("{}{}", placed(&name, kind, volume, erase_block), options(volume))
}

/// A volume of a report, judged against the erase block that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedVolume<'a> {
    /// The volume as the run stores it.
    pub volume: &'a Volume,
    /// The erase block, and how the volume lies against it; `None` if the erase block is not known.
    pub alignment: Option<(Bytes, Alignment)>,
    /// What aligning it gains; `None` if it is aligned, or if its cost was not measured.
    pub gain: Option<Gain>,
}

/// The volumes of a report.
#[must_use]
pub fn judged<'a>(report: &Report<'a>, diagnosis: &Diagnosis) -> Vec<JudgedVolume<'a>> {
    let erase_block = report.size(FindingId::EraseBlockBytes);
    let judge = |volume: &'a Volume| {
        let alignment = |erase_block| (erase_block, PresentVolume::from(volume).alignment(erase_block));
        let alignment = erase_block.map(alignment);
        let is_off = alignment.is_some_and(|(_, alignment)| alignment.is_off());
        JudgedVolume { volume, alignment, gain: gain(diagnosis, volume).filter(|_| is_off) }
    };
    report.run.attachment.volumes.iter().map(judge).collect()
}

/// What aligning this volume gains, if the diagnosis is about it.
fn gain(diagnosis: &Diagnosis, volume: &Volume) -> Option<Gain> {
    let costs = [Bottleneck::Alignment, Bottleneck::Filesystem];
    let cost = costs.into_iter().find_map(|bottleneck| diagnosis.cost(bottleneck))?;
    let is_about_it =
        matches!(&cost.evidence, DiagnosisEvidence::Alignment { volume: name, .. } if *name == volume.name);
    Some(cost.gain).filter(|gain| is_about_it && !gain.is_none())
}

/// The sentences of a report about its volumes; none if the erase block is not known.
pub(crate) fn sentences(report: &Report<'_>, diagnosis: &Diagnosis) -> Vec<Sentence> {
    judged(report, diagnosis).iter().filter_map(sentence).collect()
}

fn sentence(judged: &JudgedVolume<'_>) -> Option<Sentence> {
    let JudgedVolume { volume, alignment, gain } = judged;
    let erase_block = (*alignment)?.0;
    let present = PresentVolume::from(*volume);
    let placed = placed(&title(volume), volume.filesystem.as_deref(), &present, erase_block);
    let gain = gain.map_or_else(String::new, |gain| {
        format!(" Moving it would make an everyday copy {}.", gain_text(gain))
    });
    Some(Sentence::new(format!("{placed}{gain}{}{}", options(&present), mounted(volume))))
}

/// `Partition sdb1`, `partition 1`, or `the filesystem on sdb`.
fn title(volume: &Volume) -> String {
    let name = &volume.name;
    match name.starts_with("partition ") {
        _ if volume.start.is_zero() => format!("the filesystem on {name}"),
        true => name.clone(),
        false => format!("partition {name}"),
    }
}

fn placed(name: &str, kind: Option<&str>, volume: &PresentVolume, erase_block: Bytes) -> String {
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    format!("{name}{kind} {}.", verdict(volume, erase_block))
}

/// Cluster, stripe and journal.
fn options(volume: &PresentVolume) -> String {
    let Some(head) = &volume.head else { return String::new() };
    let stripe = match (head.kind, head.stripe.filter(|stripe| !stripe.is_zero())) {
        (FilesystemKind::Ext4, None) => ", no stripe_width".to_owned(),
        (_, Some(stripe)) => format!(", stripe of {stripe}"),
        _ => String::new(),
    };
    let journal = match head.has_journal {
        Some(true) => ", with a journal",
        Some(false) => ", without a journal",
        None => "",
    };
    format!(" Clusters of {}{stripe}{journal}.", head.cluster)
}

/// The mount options that slow writes.
fn mounted(volume: &Volume) -> &'static str {
    let has = |option: &str| volume.mount_options.iter().any(|each| each == option);
    if has("sync") {
        " It is mounted with sync: every write waits for the device."
    } else if has("flush") {
        " It is mounted with flush: small files take longer to copy."
    } else {
        ""
    }
}

fn verdict(volume: &PresentVolume, erase_block: Bytes) -> String {
    let sector = volume.start / SECTOR;
    match volume.alignment(erase_block) {
        Alignment::Aligned => format!("is aligned to {erase_block}"),
        Alignment::DataAreaOnly => format!(
            "starts at sector {sector}, inside an erase block on purpose: its data area is aligned to {erase_block}"
        ),
        Alignment::DataAreaOff { by } => {
            format!("is misaligned: its data area starts {by} into an erase block of {erase_block}")
        }
        Alignment::GroupsOff { group } => {
            format!("starts with an erase block, but its groups of {group} are no multiple of {erase_block}")
        }
        Alignment::StartOff { by } => {
            format!("is misaligned: it starts at sector {sector}, {by} into an erase block of {erase_block}")
        }
        Alignment::StartOnly => {
            format!("starts with an erase block of {erase_block}; where its data area starts is not known")
        }
    }
}

/// What a signature stands for.
const fn signature(signature: Signature) -> &'static str {
    match signature {
        Signature::Lvm => "LVM",
        Signature::Luks => "LUKS encryption",
        Signature::Raid => "Linux RAID",
        Signature::Btrfs => "btrfs",
        Signature::Swap => "swap",
    }
}

const fn table_problem(problem: TableProblem) -> &'static str {
    match problem {
        TableProblem::GptHeader => "The header of the GPT is missing or damaged; gdisk can restore it.",
        TableProblem::GptBackup => "The backup header of the GPT is missing or damaged.",
        TableProblem::HybridMbr => "The MBR describes partitions beside the GPT (hybrid MBR).",
        TableProblem::BeyondEnd => "A partition reaches beyond the end of the disk.",
        TableProblem::Overlap => "Two partitions overlap.",
    }
}
