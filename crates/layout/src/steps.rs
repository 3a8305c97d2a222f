//! The commands of a plan, and the same as a shell script.

use std::fmt::Write as _;

use flashscope_device::{ByteRange, Bytes};

use crate::chs;
use crate::filesystem::{self, Command, TooOld, Tool};
use crate::plan::{Partition, Plan, TableKind};
use crate::version::Version;

/// The command that writes the partition table of a plan to `disk`.
#[must_use]
pub fn table_command(plan: &Plan, disk: &str) -> Command {
    let arguments = ["--quiet", "--wipe", "never", "--no-reread", "--no-tell-kernel", disk];
    Command {
        program: "sfdisk".to_owned(),
        arguments: arguments.map(str::to_owned).to_vec(),
        input: table_script(plan),
    }
}

/// What sfdisk reads: a header, and a line for each partition.
#[must_use]
pub fn table_script(plan: &Plan) -> String {
    let sector = plan.medium.logical_block;
    let mut script = format!("label: {}\n", plan.table.kind.as_sfdisk());
    let (id, is_mbr) = (&plan.table.id, plan.table.kind == TableKind::Mbr);
    let _ = if is_mbr { writeln!(script, "label-id: 0x{id}") } else { writeln!(script, "label-id: {id}") };
    script.push_str("unit: sectors\n\n");
    for partition in &plan.partitions {
        let Partition { number, placement, type_code, .. } = partition;
        let more = match plan.table.kind {
            TableKind::Mbr if partition.is_bootable => ", bootable".to_owned(),
            TableKind::Mbr => String::new(),
            TableKind::Gpt => format!(", uuid={}", partition.part_uuid),
        };
        let _ = writeln!(
            script,
            "{number} : start={}, size={}, type={type_code}{more}",
            placement.start / sector,
            placement.size / sector
        );
    }
    script
}

/// The path of a partition of `disk`. The persistent names that udev makes end with `-part1`
/// (60-persistent-storage.rules of systemd). In the kernel's names a `p` stands between where the disk's name
/// ends with a digit.
#[must_use]
pub fn partition_path(disk: &str, number: u32) -> String {
    let separator = match disk {
        _ if disk.starts_with("/dev/disk/") => "-part",
        _ if disk.ends_with(|c: char| c.is_ascii_digit()) => "p",
        _ => "",
    };
    format!("{disk}{separator}{number}")
}

/// The version of a tool, as the planner asks for it; `None` if it is not known.
pub type VersionOf<'a> = &'a mut dyn FnMut(&Tool) -> Option<Version>;

/// The commands that a person types: the table on the disk, and a filesystem on each partition.
///
/// # Errors
/// [`TooOld`] if a tool lacks an option that matters.
pub fn commands(plan: &Plan, disk: &str, version_of: VersionOf<'_>) -> Result<Vec<Command>, TooOld> {
    let mut table = table_command(plan, disk);
    table.arguments = ["--quiet", "--wipe", "always", disk].map(str::to_owned).to_vec();
    let format = |partition: &Partition| {
        let filesystem = filesystem::of_kind(partition.placement.filesystem);
        let device = partition_path(disk, partition.number);
        let tool = filesystem.tool();
        let command = filesystem.command(&partition.placement, &partition.label, &partition.uuid, &device);
        tool.adapt(command, version_of(&tool))
    };
    std::iter::once(Ok(table)).chain(plan.partitions.iter().map(format)).collect()
}

/// Stands for the disk until a shell line is made. No path and no label has its first character.
const DISK: &str = "\0disk";

/// How shell lines name the disk and its partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellNames<'a> {
    /// By this path.
    Path(&'a str),
    /// By `$disk`, the loop device of an image.
    Image,
    /// By `$disk` and `$part1`, as a script sets them.
    Script,
}

impl ShellNames<'_> {
    /// A word of a command.
    fn word(self, word: &str) -> String {
        let Some(number) = word.strip_prefix(DISK) else { return quoted(word) };
        match (self, number) {
            (Self::Path(path), "") => quoted(path),
            (Self::Path(path), _) => {
                number.parse().map_or_else(|_| quoted(word), |number| quoted(&partition_path(path, number)))
            }
            (_, "") => "\"$disk\"".to_owned(),
            (Self::Image, _) => format!("\"${{disk}}p{number}\""),
            (Self::Script, _) => format!("\"$part{number}\""),
        }
    }

    /// A command on one line; its input follows as a here-document.
    fn line(self, command: &Command, with: &str) -> String {
        let words = std::iter::once(&command.program).chain(&command.arguments);
        let line = words.map(|word| self.word(word)).collect::<Vec<_>>().join(" ");
        if command.input.is_empty() {
            format!("{with}{line}")
        } else {
            format!("{with}{line} <<'TABLE'\n{}TABLE", command.input)
        }
    }
}

/// The commands as lines to paste into a shell, with sudo.
///
/// # Errors
/// As [`commands`].
pub fn shell_lines(
    plan: &Plan,
    names: ShellNames<'_>,
    version_of: VersionOf<'_>,
) -> Result<Vec<String>, TooOld> {
    let commands = commands(plan, DISK, version_of)?;
    Ok(commands.iter().map(|command| names.line(command, "sudo ")).collect())
}

/// Old signatures lie at the start and the end of partitions and disks: as much is overwritten with zeros
/// there. libblkid looks at most 1 MiB from either end for all but few (util-linux,
/// libblkid/src/superblocks).
const WIPE: Bytes = Bytes::mib(1);

/// The ends of a partition that are zeroed where its filesystem writes nothing, by offset in the partition.
#[must_use]
pub fn partition_ends(partition: &Partition) -> [ByteRange; 2] {
    let size = partition.placement.size;
    let length = WIPE.min(size);
    [ByteRange::new(Bytes::ZERO, length), ByteRange::new(size - length, length)]
}

/// The ranges around the partitions that hold the table, and zeros, by offset on the disk.
#[must_use]
pub fn table_ranges(plan: &Plan) -> Vec<ByteRange> {
    // Beyond the true size nothing is written: where addresses wrap around, it would land in a partition.
    let (capacity, block) = (plan.medium.usable(), plan.medium.logical_block);
    let first = plan.partitions.iter().map(|partition| partition.placement.start).min().unwrap_or(WIPE);
    let last = plan.partitions.iter().map(Partition::end).max().unwrap_or(WIPE);
    let end = capacity.saturating_sub(WIPE).max(last).round_up(block);
    let after = ByteRange::new(end, capacity.round_down(block).saturating_sub(end));
    let before = ByteRange::new(Bytes::ZERO, WIPE.min(first));
    [before, after].into_iter().filter(|range| !range.length.is_zero()).collect()
}

/// The first entry of an MBR, and the size of each (UEFI 2.10, 5.2.1).
const ENTRIES: u64 = 446;
const ENTRY_BYTES: u64 = 16;
/// The fields of the first and the last sector in an entry (same source).
const FIRST: u64 = 1;
const LAST: u64 = 5;

/// The CHS fields of a plan: offset on the disk, and bytes. Empty without a pretended geometry.
#[must_use]
pub fn chs_fields(plan: &Plan) -> Vec<(Bytes, [u8; 3])> {
    let Some(chs) = plan.table.chs else { return Vec::new() };
    let sector = plan.medium.logical_block;
    let of_partition = |partition: &Partition| {
        let at = ENTRIES + ENTRY_BYTES * u64::from(partition.number.saturating_sub(1));
        let first = partition.placement.start / sector;
        let last = (partition.end() / sector).saturating_sub(1);
        [(Bytes::new(at + FIRST), chs::field(first, chs)), (Bytes::new(at + LAST), chs::field(last, chs))]
    };
    plan.partitions.iter().flat_map(of_partition).collect()
}

/// The plan as a shell script for the disk that is its first argument. It refuses another serial number or
/// size.
///
/// # Errors
/// As [`commands`].
pub fn script(plan: &Plan, version_of: VersionOf<'_>) -> Result<String, TooOld> {
    let mut script = String::from(
        "#!/bin/sh\n# Made by flashscope. It erases the disk that is its first argument.\nset -eu\n\n",
    );
    script.push_str("disk=${1:?usage: $0 DISK}\n");
    let _ = writeln!(script, "want_bytes={}", plan.medium.capacity.get());
    let serial = plan.medium.identity.serial.as_deref().unwrap_or_default();
    let _ = writeln!(script, "want_serial={}", quoted(serial.trim()));
    let _ = writeln!(script, "block={}", plan.medium.logical_block.get());
    script.push_str(GUARDS);
    for partition in &plan.partitions {
        let number = partition.number;
        let _ = writeln!(script, "part{number}=$disk${{p}}{number}");
    }
    script.push_str("\n# Old signatures go.\n");
    let offset = |partition: &Partition, range: ByteRange| {
        ByteRange::new(partition.placement.start + range.offset, range.length)
    };
    let ends = plan.partitions.iter().flat_map(|part| partition_ends(part).map(|range| offset(part, range)));
    for range in table_ranges(plan).into_iter().chain(ends) {
        let block = plan.medium.logical_block;
        let _ = writeln!(script, "zero {} {}", range.offset / block, range.length / block);
    }
    script.push('\n');
    let names = ShellNames::Script;
    let _ = writeln!(script, "{}", names.line(&table_command(plan, DISK), ""));
    for (offset, bytes) in chs_fields(plan) {
        let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let _ = writeln!(
            script,
            "printf '{octal}' | dd of=\"$disk\" bs=1 seek={} conv=notrunc status=none",
            offset.get()
        );
    }
    script.push_str("settle\n\n");
    for command in commands(plan, DISK, version_of)?.iter().skip(1) {
        let _ = writeln!(script, "{}", names.line(command, ""));
    }
    script.push_str("sync\n");
    Ok(script)
}

/// Refuses the wrong disk, and one in use; names the partitions, and waits for their nodes.
const GUARDS: &str = r#"
# As in 'flashscope apply': messages in English, and zeros written by mkfs itself.
export LC_ALL=C.UTF-8 UNIX_IO_NOZEROOUT=1
fail() { echo "$disk: $1; nothing was written" >&2; exit 4; }
[ -b "$disk" ] || fail "this is no disk; attach an image with 'losetup --partscan'"
have_bytes=$(blockdev --getsize64 "$disk") || fail "blockdev cannot tell its size"
have_serial=$(lsblk --nodeps --noheadings --output SERIAL "$disk") || fail "lsblk cannot tell its serial number"
mounts=$(lsblk --noheadings --output MOUNTPOINT "$disk") || fail "lsblk cannot tell whether it is mounted"
types=$(lsblk --list --noheadings --output TYPE "$disk") || fail "lsblk cannot tell what uses it"
have_serial=$(printf '%s\n' "$have_serial" | sed 's/^ *//; s/ *$//')
[ "$have_bytes" = "$want_bytes" ] || fail "it has $have_bytes bytes, not $want_bytes"
[ "$have_serial" = "$want_serial" ] || fail "its serial number is '$have_serial', not '$want_serial'"
case $mounts in *[![:space:]]*) fail "it is mounted" ;; esac
[ -n "$types" ] || fail "lsblk cannot tell what uses it"
for type in $types; do
    case $type in disk | part | loop) ;; *) fail "LVM, RAID or encryption uses it" ;; esac
done
zero() { dd if=/dev/zero of="$disk" bs="$block" seek="$1" count="$2" conv=notrunc status=none; }
settle() { sync; blockdev --rereadpt "$disk"; udevadm settle 2>/dev/null || sleep 1; }
case $disk in /dev/disk/*) p=-part ;; *[0-9]) p=p ;; *) p= ;; esac
"#;

/// A word as a shell takes it: quoted where that is needed.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A path that no program takes for an option: `./-stick.img`.
#[must_use]
pub fn plain_path(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}

/// A path as a shell takes it, and no program takes for an option.
#[must_use]
pub fn quoted_path(path: &str) -> String {
    quoted(&plain_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chs::Chs;
    use crate::medium::Medium;
    use crate::planner::{Wish, plan};
    use crate::purpose::Purpose;

    /// Partitions from 4 MiB to 512 MiB and from there to 1 GiB, with cylinders of 224 x 56 sectors.
    fn with_geometry() -> Plan {
        let chs = Some(Chs { heads: 224, sectors: 56 });
        let mut planned = plan(&Medium::stick(), &Wish { chs, ..Wish::new(Purpose::LinuxData, 1) }).unwrap();
        planned.partitions[0].placement.size = Bytes::mib(508);
        let mut second = Partition { number: 2, ..planned.partitions[0].clone() };
        (second.placement.start, second.placement.size) = (Bytes::mib(512), Bytes::mib(512));
        planned.partitions.push(second);
        planned
    }

    /// An entry of 16 bytes holds its first sector at its byte 1, and its last one at its byte 5.
    #[test]
    fn pretended_geometry_is_in_both_fields_of_each_entry_and_in_the_script() {
        let planned = with_geometry();
        // Sectors 8192, 1048575, 1048576 and 2097151: head, sector counted from 1, and cylinder.
        let fields: [(u64, [u8; 3]); 4] =
            [(447, [146, 17, 0]), (451, [132, 32, 83]), (463, [132, 33, 83]), (467, [41, 8, 167])];
        assert_eq!(chs_fields(&planned), fields.map(|(at, bytes)| (Bytes::new(at), bytes)));
        let script = script(&planned, &mut |_| None).unwrap();
        let first = r#"printf '\222\021\000' | dd of="$disk" bs=1 seek=447 conv=notrunc status=none"#;
        assert!(script.lines().any(|line| line == first), "{script}");
    }

    /// Old firmware starts a system only from a marked partition.
    #[test]
    fn only_the_partition_to_boot_from_is_marked_as_bootable_in_an_mbr() {
        let planned = |purpose: Purpose, table: Option<TableKind>| {
            plan(&Medium::stick(), &Wish { table, ..Wish::new(purpose, 1) }).unwrap()
        };
        let root = planned(Purpose::LinuxRoot, None);
        let header = format!("label: dos\nlabel-id: 0x{}\nunit: sectors\n\n", root.table.id);
        let entry = "1 : start=8192, size=16769024, type=83, bootable\n";
        assert_eq!(table_script(&root), format!("{header}{entry}"));
        let are_marked = |purpose: Purpose, table: Option<TableKind>| -> Vec<bool> {
            let script = table_script(&planned(purpose, table));
            script.lines().skip(4).map(|line| line.ends_with(", bootable")).collect()
        };
        assert_eq!(are_marked(Purpose::LinuxData, None), [false]);
        assert_eq!(are_marked(Purpose::BoardBoot, None), [true, false]);
        assert_eq!(are_marked(Purpose::LinuxRoot, Some(TableKind::Gpt)), [false]);
    }

    #[test]
    fn partitions_of_disks_that_end_with_a_digit_have_a_p() {
        assert_eq!(partition_path("/dev/sdb", 1), "/dev/sdb1");
        assert_eq!(partition_path("/dev/mmcblk0", 2), "/dev/mmcblk0p2");
        assert_eq!(partition_path("/dev/loop7", 1), "/dev/loop7p1");
    }

    #[test]
    fn partitions_of_persistent_names_have_a_part() {
        let name = "/dev/disk/by-id/usb-SanDisk_Ultra_4C530001-0:0";
        assert_eq!(partition_path(name, 1), format!("{name}-part1"));
        assert_eq!(partition_path("/dev/disk/by-id/usb-Stick", 2), "/dev/disk/by-id/usb-Stick-part2");
    }

    #[test]
    fn a_label_like_a_variable_stays_a_label() {
        let command = Command::new("mkfs", ["-L", "$disk", DISK, "\0disk2"]);
        assert_eq!(ShellNames::Script.line(&command, ""), "mkfs -L '$disk' \"$disk\" \"$part2\"");
        assert_eq!(ShellNames::Image.line(&command, ""), "mkfs -L '$disk' \"$disk\" \"${disk}p2\"");
        assert_eq!(ShellNames::Path("/dev/sdb").line(&command, ""), "mkfs -L '$disk' /dev/sdb /dev/sdb2");
    }

    #[test]
    fn hostile_words_are_quoted() {
        assert_eq!(quoted("stride=1024,stripe_width=1024"), "stride=1024,stripe_width=1024");
        assert_eq!(quoted("a b; rm -rf $HOME"), "'a b; rm -rf $HOME'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted_path("-a b.img"), "'./-a b.img'");
        assert_eq!(quoted_path("sim:generic-2g"), "sim:generic-2g");
    }
}
