//! A plan in words: what goes where, and the arithmetic and the reason of every number.

use flashscope_layout::Purpose;
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::medium::{EraseBlock, EraseBlockSource};
use flashscope_layout::plan::{Partition, Plan, PredictedGain, TableKind};
use flashscope_layout::present::{Present, PresentVolume};
use flashscope_layout::reason::{Because, PlanNumber, Reason};
use flashscope_layout::steps;

use crate::layout;
use crate::printable::printable;
use crate::terminal::wrapped;

/// What the text of a plan is made of.
#[derive(Debug)]
pub struct Page<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What is on the target now.
    pub present: &'a Present,
    /// The disk; a virtual stick has none.
    pub disk: &'a str,
    /// The options of `plan` that lead to this plan, quoted for a shell.
    pub options: &'a str,
    /// The image file that is attached as `$disk`, quoted for a shell.
    pub image: Option<String>,
    /// The commands that carry it out, as lines for a shell.
    pub commands: &'a [String],
    /// The file that the plan was written to, for `apply`.
    pub plan_file: Option<String>,
    /// Whether to print how to keep the files.
    pub keeps_files: bool,
}

/// The plan for a terminal of this width. Commands are never broken.
#[must_use]
pub fn text(page: &Page<'_>, width: usize) -> String {
    let Page { plan, present, commands, .. } = page;
    let mut text = Text { text: String::new(), width };
    let medium = &plan.medium;
    let model = printable(&medium.identity.model);
    let model = if model.is_empty() || model == medium.target { String::new() } else { format!("{model}, ") };
    text.line(
        0,
        &format!("Plan for {}: {model}{}, for {}.", printable(&medium.target), medium.capacity, plan.purpose),
    );
    if let Some(size) = medium.true_size {
        text.line(0, &format!("It stores only {size} ({} bytes): nothing is written beyond.", size.get()));
    }
    text.line(0, &format!("Erase block: {}.", erase_block(medium.erase_block)));
    text.heading("Present layout");
    for sentence in layout::present(present, medium.erase_block.size) {
        text.line(2, &sentence);
    }
    text.heading(match plan.table.kind {
        TableKind::Mbr => "Partition table: MBR",
        TableKind::Gpt => "Partition table: GPT",
    });
    text.line(2, because(plan.table.reason.because));
    if let Some(chs) = plan.table.chs {
        let (heads, sectors) = (chs.heads, chs.sectors);
        text.line(2, &format!("Its CHS fields are those of {heads} heads and {sectors} sectors a track."));
    }
    for each in &plan.partitions {
        partition(&mut text, each);
    }
    text.heading("Gain");
    text.line(2, &gain(plan, present));
    if let Some(predicted) = &plan.predicted {
        text.line(2, &predicted_gain(predicted));
    }
    text.heading("Commands");
    if let Some(image) = &page.image {
        text.command(&format!("disk=$(sudo losetup --find --show --partscan -- {image})"));
    }
    commands.iter().for_each(|command| text.command(command));
    if plan.table.chs.is_some() {
        text.line(2, "sfdisk has no option for the CHS fields; --script and apply write them.");
    }
    mount(&mut text, plan);
    if let Some(rule) = &plan.udev_rule {
        text.heading("Limit what waits in memory, in /etc/udev/rules.d/90-flashscope.rules (Linux 6.2)");
        text.command(rule);
    }
    if let Some(stick) = medium.target.strip_prefix("sim:") {
        serve(&mut text, page.options, stick);
        return text.text;
    }
    text.heading("Risk");
    text.line(
        2,
        "Everything on the disk is lost. 'apply' first saves what it overwrites, and 'undo' restores that.",
    );
    if page.keeps_files {
        keep_files(&mut text, page);
    } else {
        text.heading("Next");
        let plan = page.plan_file.as_deref().map_or_else(|| "PLAN.json".to_owned(), steps::quoted_path);
        text.command(&format!("sudo flashscope apply {plan}"));
        if page.plan_file.is_none() {
            text.line(2, "Write PLAN.json with -o PLAN.json.");
        }
    }
    text.text
}

/// How to apply the plan of a virtual stick, which has no disk until it is served as one.
fn serve(text: &mut Text, options: &str, stick: &str) {
    text.heading("Next");
    text.line(
        2,
        "A virtual stick ends with its command, so nothing can be applied to it. Serve it as a disk, whose name is printed, and plan \
         for that disk:",
    );
    text.command(&format!("sudo flashscope sim serve {} --loop", steps::quoted(stick)));
    text.command(&format!("sudo flashscope plan /dev/loopN {options} -o PLAN.json"));
    text.command("sudo flashscope apply PLAN.json");
}

/// How the partitions are mounted, and how a person may write to them.
fn mount(text: &mut Text, plan: &Plan) {
    text.heading("Mount, in /etc/fstab");
    plan.partitions.iter().for_each(|partition| text.command(&fstab(partition)));
    if let Some(partition) =
        plan.partitions.iter().find(|_| is_for_files(plan.purpose)).filter(|of| keeps_owners(of))
    {
        text.line(2, "Its root folder belongs to root. Once it is mounted, make it yours:");
        text.command(&format!("sudo chown $USER: /mnt/stick{}", partition.number));
    }
}

/// Whether people put files on it themselves.
const fn is_for_files(purpose: Purpose) -> bool {
    matches!(purpose, Purpose::Share | Purpose::LinuxData | Purpose::Backup)
}

/// Whether its files have owners of Linux.
const fn keeps_owners(partition: &Partition) -> bool {
    !matches!(
        partition.placement.filesystem,
        FilesystemKind::Vfat | FilesystemKind::Exfat | FilesystemKind::Ntfs
    )
}

/// The line of a partition in /etc/fstab.
#[must_use]
pub fn fstab(partition: &Partition) -> String {
    let kind = match partition.placement.filesystem {
        FilesystemKind::Ntfs => "ntfs-3g",
        other => other.as_str(),
    };
    let options = partition.mount_options.join(",");
    let options = if options.is_empty() { "nofail".to_owned() } else { format!("nofail,{options}") };
    let number = partition.number;
    format!("PARTUUID={} /mnt/stick{number} {kind} {options} 0 0", partition.part_uuid)
}

/// How to copy the files off, apply the plan, and copy them back, as one block that stops at the first error.
/// Moving a partition in place is not offered.
fn keep_files(text: &mut Text, page: &Page<'_>) {
    let number = |volume: &PresentVolume| volume.number.unwrap_or_default();
    let old = |volume: &PresentVolume| match volume.number {
        Some(number) => steps::quoted(&steps::partition_path(page.disk, number)),
        None => steps::quoted(page.disk),
    };
    let new = page.plan.partitions.last().map_or(1, |partition| partition.number);
    let new = steps::quoted(&steps::partition_path(page.disk, new));
    let plan = page.plan_file.as_deref().map_or_else(|| "PLAN.json".to_owned(), steps::quoted_path);
    text.heading("Keep the files: a partition cannot be moved in place, so this copies them off and back");
    text.command("(\nset -e\nsudo mkdir --parents /mnt/stick /var/tmp/stick-copy");
    for volume in &page.present.volumes {
        let copy = format!("/var/tmp/stick-copy/{}", number(volume));
        text.command(&format!("sudo mount -o ro {} /mnt/stick", old(volume)));
        text.command(&format!("sudo rsync --archive --hard-links --acls --xattrs /mnt/stick/ {copy}/"));
        text.command(&format!("sudo diff --recursive --no-dereference /mnt/stick {copy}"));
        text.command("sudo umount /mnt/stick");
    }
    text.command(&format!("sudo flashscope apply {plan}\nsudo mount {new} /mnt/stick"));
    match page.present.volumes.as_slice() {
        [only] => text.command(&format!(
            "sudo cp --recursive --preserve=timestamps /var/tmp/stick-copy/{}/. /mnt/stick/",
            number(only)
        )),
        _ => text.command("sudo cp --recursive --preserve=timestamps /var/tmp/stick-copy/. /mnt/stick/"),
    }
    text.command("sudo umount /mnt/stick\n)");
    text.line(0, "Delete /var/tmp/stick-copy only after you have checked the files on the disk.");
}

fn partition(text: &mut Text, partition: &Partition) {
    let placement = &partition.placement;
    let label = printable(&partition.label);
    let label = if label.is_empty() { String::new() } else { format!(" \"{label}\"") };
    let (number, kind) = (partition.number, placement.filesystem);
    text.heading(&format!("Partition {number}: {kind}{label}, {} from {}", placement.size, placement.start));
    for reason in &placement.reasons {
        text.line(2, &number_line(reason));
        text.line(6, because(reason.because));
    }
    if let Some(cannot) = &placement.cannot {
        text.line(2, &format!("Cannot: {cannot}."));
    }
}

fn number_line(reason: &Reason) -> String {
    let Reason { number, value, arithmetic, .. } = reason;
    let arithmetic = if arithmetic.is_empty() { String::new() } else { format!(" = {arithmetic}") };
    format!("{}: {value}{arithmetic}", title(*number))
}

fn gain(plan: &Plan, present: &Present) -> String {
    let is_off = present.volumes.iter().any(|volume| volume.alignment(plan.medium.erase_block.size).is_off());
    match plan.gain {
        Some(gain) => format!(
            "An everyday copy becomes {:.1} times as fast ({:.1} to {:.1}).",
            gain.likely, gain.low, gain.high
        ),
        None if present.volumes.is_empty() => "Unknown: nothing is on the disk that it could be compared with.".to_owned(),
        None if !is_off => "None from alignment: what is on the disk is aligned already.".to_owned(),
        None => "Unknown: the cost of small writes was not measured. 'flashscope check TARGET --erase -o RUN.json' \
                 measures it, and all data is lost; then plan with --run RUN.json."
            .to_owned(),
    }
}

/// The prediction, with what it is worth: an interval that includes 1 shows no gain.
fn predicted_gain(predicted: &PredictedGain) -> String {
    let PredictedGain { now, now_start, gain } = predicted;
    let interval = format!("{:.1} times as fast ({:.1} to {:.1})", gain.likely, gain.low, gain.high);
    let now = format!("the present {} at {now_start}", printable(now));
    if gain.low > 1.0 {
        format!("Predicted: the 33,000 files of a source tree are written {interval} as with {now}.")
    } else {
        format!(
            "Predicted for the 33,000 files of a source tree: {interval} as with {now}. No gain is certain."
        )
    }
}

fn erase_block(erase_block: EraseBlock) -> String {
    let size = erase_block.size;
    match erase_block.source {
        EraseBlockSource::Measured { confidence } => {
            format!("{size}, measured ({:.0} % sure)", confidence * 100.0)
        }
        EraseBlockSource::Given => format!("{size}, as given"),
        EraseBlockSource::StandardBoundary => {
            format!("not measured; {size} is taken, the SD Association's boundary unit for this capacity")
        }
    }
}

const fn title(number: PlanNumber) -> &'static str {
    match number {
        PlanNumber::TableKind => "partition table",
        PlanNumber::PartitionStart => "start",
        PlanNumber::PartitionSize => "size",
        PlanNumber::Cluster => "cluster",
        PlanNumber::StripeWidth => "stride and stripe_width",
        PlanNumber::BlocksPerGroup => "blocks per group",
        PlanNumber::BytesPerInode => "bytes per inode",
        PlanNumber::ReservedForRoot => "reserved for root",
        PlanNumber::Journal => "journal",
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
        Because::StartOnEdge => "The partition starts with an erase block.",
        Because::StartOffEdgeOnPurpose => {
            "It starts inside an erase block on purpose, so that its data area starts with one."
        }
        Because::EndOnEdge => "The partition ends with a whole erase block.",
        Because::BootPartition => "The usual size of a boot partition.",
        Because::GroupsFollowStart => "Block groups are counted from here, so it starts with an erase block.",
        Because::AllocationGroupsFollowStart => {
            "Allocation groups are counted from here, so it starts with an erase block."
        }
        Because::SegmentsFollowStart => "Segments are counted from here, so it starts with an erase block.",
        Because::SectionsFollowDisk => "Sections are counted from the start of the disk.",
        Because::EveryGroupOnEdge => {
            "Every block group starts with an erase block; the default size is no multiple of it."
        }
        Because::SmallFilesPacked => "Small files are packed into whole erase blocks.",
        Because::FewerInodeTables => "Fewer inode tables have to be zeroed.",
        Because::NoReserveForData => "A disk for data needs no reserve; the default keeps 5 % back.",
        Because::NoJournal => "Fewer writes. After a power cut it has to be checked, and files may be lost.",
        Because::FatsAtStart => {
            "The FATs lie right before the first data, in the start of the device that some sticks map finely."
        }
        Because::DataAreaOnEdge => "Everything before the data adds up to whole erase blocks.",
        Because::ClusterAgainstFat => {
            "Small clusters waste less and leave fewer gaps; large ones need smaller FATs."
        }
        Because::StandardCluster => "The SD Association recommends this cluster for the capacity.",
        Because::ClusterForPurpose => "Large clusters suit large files, small ones small files.",
        Because::PowersOfTwoOnly => "The tool aligns to powers of two only.",
        Because::LargestPowerOfTwo => "The largest power of two that divides the erase block.",
        Because::CleaningFreesSections => {
            "Garbage collection frees whole sections, so a section is made of whole erase blocks."
        }
        Because::GroupsOfStripeUnits => "Allocation groups are made of whole stripe units.",
        Because::GptNeedsTheEnd => {
            "A GPT keeps a copy at the end, where the device stores nothing; an MBR lies at the start."
        }
        Because::OneMetadataCopy => "One copy of the metadata halves its writes.",
    }
}

/// Text as it is built.
struct Text {
    text: String,
    width: usize,
}

impl Text {
    fn line(&mut self, indent: usize, sentence: &str) {
        for line in wrapped(sentence, self.width.saturating_sub(indent).max(20)) {
            self.text.push_str(&" ".repeat(indent));
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    fn heading(&mut self, heading: &str) {
        self.text.push('\n');
        self.line(0, heading);
    }

    /// At the start of a line, so that it can be pasted with the lines of its input.
    fn command(&mut self, command: &str) {
        self.text.push_str(command);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_layout::{Chs, Identity, Medium, Wish};

    use super::*;

    /// The text of a plan for an empty disk, with this geometry in its CHS fields.
    fn text_with(chs: Option<Chs>) -> String {
        let medium = Medium {
            target: "/dev/sdb".to_owned(),
            capacity: Bytes::gib(8),
            true_size: None,
            logical_block: Bytes::new(512),
            erase_block: EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given },
            fat_area: None,
            identity: Identity::default(),
        };
        let wish = Wish { chs, ..Wish::new(Purpose::LinuxData, 1) };
        let plan = flashscope_layout::plan(&medium, &wish).unwrap();
        let present = Present { table: None, problems: Vec::new(), volumes: Vec::new() };
        let page = Page {
            plan: &plan,
            present: &present,
            disk: "/dev/sdb",
            options: "",
            image: None,
            commands: &[],
            plan_file: None,
            keeps_files: false,
        };
        text(&page, 200)
    }

    #[test]
    fn fields_that_sfdisk_cannot_write_are_named_only_where_a_geometry_is_pretended() {
        let pretended = text_with(Some(Chs { heads: 224, sectors: 56 }));
        for line in [
            "  Its CHS fields are those of 224 heads and 56 sectors a track.",
            "  sfdisk has no option for the CHS fields; --script and apply write them.",
        ] {
            assert!(pretended.lines().any(|other| other == line), "{line}: {pretended}");
        }
        let usual = text_with(None);
        assert!(!usual.contains("CHS"), "{usual}");
    }
}
