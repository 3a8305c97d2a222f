//! The layout that is on a medium, in sentences.

use flashscope_device::{Bytes, SECTOR};
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::present::{Alignment, Present, PresentVolume, TableProblem};

/// What is on a medium, judged against its erase block: a sentence for each partition and each problem.
#[must_use]
pub fn present(present: &Present, erase_block: Bytes) -> Vec<String> {
    if present.volumes.is_empty() && present.problems.is_empty() {
        return vec!["No partition and no known filesystem.".to_owned()];
    }
    let volumes = present.volumes.iter().map(|volume| alignment(volume, erase_block));
    volumes.chain(present.problems.iter().map(|problem| table_problem(*problem).to_owned())).collect()
}

/// How a volume lies against an erase block, as one sentence.
#[must_use]
pub fn alignment(volume: &PresentVolume, erase_block: Bytes) -> String {
    let name =
        volume.number.map_or_else(|| "The filesystem".to_owned(), |number| format!("Partition {number}"));
    let kind = volume.head.as_ref().map_or_else(String::new, |head| format!(" ({})", head.kind));
    let verdict = verdict(volume, erase_block);
    let more = volume.head.as_ref().map_or_else(String::new, |head| {
        let stripe = head.stripe.filter(|stripe| !stripe.is_zero());
        let stripe = match (head.kind, stripe) {
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
    });
    format!("{name}{kind} {verdict}.{more}")
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

const fn table_problem(problem: TableProblem) -> &'static str {
    match problem {
        TableProblem::GptBackup => "The backup header of the GPT is missing or damaged.",
        TableProblem::HybridMbr => "The MBR describes partitions beside the GPT (hybrid MBR).",
        TableProblem::BeyondEnd => "A partition reaches beyond the end of the disk.",
        TableProblem::Overlap => "Two partitions overlap.",
    }
}
