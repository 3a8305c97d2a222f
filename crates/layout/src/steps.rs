//! The commands of a plan, and the same as a shell script.

use std::fmt::Write as _;

use crate::filesystem::{self, Command};
use crate::plan::{Partition, Plan, TableKind};

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
    if let Some(id) = &plan.table.id {
        let id = if plan.table.kind == TableKind::Mbr { format!("0x{id}") } else { id.clone() };
        let _ = writeln!(script, "label-id: {id}");
    }
    script.push_str("unit: sectors\n\n");
    for partition in &plan.partitions {
        let Partition { number, placement, type_code, .. } = partition;
        let bootable =
            if partition.is_bootable && plan.table.kind == TableKind::Mbr { ", bootable" } else { "" };
        let _ = writeln!(
            script,
            "{number} : start={}, size={}, type={type_code}{bootable}",
            placement.start / sector,
            placement.size / sector
        );
    }
    script
}

/// The path of a partition of `disk`: a `p` stands between where the disk's name ends with a digit.
#[must_use]
pub fn partition_path(disk: &str, number: u32) -> String {
    let separator = if disk.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
    format!("{disk}{separator}{number}")
}

/// The commands that a person types: the table on the disk, and a filesystem on each partition.
#[must_use]
pub fn commands(plan: &Plan, disk: &str) -> Vec<Command> {
    let mut table = table_command(plan, disk);
    table.arguments = vec!["--quiet".to_owned(), "--wipe".to_owned(), "always".to_owned(), disk.to_owned()];
    let format = |partition: &Partition| {
        let filesystem = filesystem::of_kind(partition.placement.filesystem);
        let device = partition_path(disk, partition.number);
        filesystem.command(&partition.placement, &partition.label, partition.uuid.as_deref(), &device)
    };
    std::iter::once(table).chain(plan.partitions.iter().map(format)).collect()
}

/// The plan as a shell script for the disk that is its first argument. It refuses another serial number or size.
#[must_use]
pub fn script(plan: &Plan) -> String {
    let mut script = String::from(
        "#!/bin/sh\n# Made by flashscope. It erases the disk that is its first argument.\nset -eu\n\n",
    );
    script.push_str("disk=${1:?usage: $0 DISK}\n");
    let _ = writeln!(script, "want_bytes={}", plan.medium.capacity.get());
    let serial = plan.medium.identity.serial.as_deref().unwrap_or_default();
    let _ = writeln!(script, "want_serial={}", quoted(serial));
    script.push_str(GUARDS);
    for command in commands(plan, "$disk") {
        let words: Vec<String> = std::iter::once(&command.program)
            .chain(&command.arguments)
            .map(|word| if word.starts_with("$disk") { format!("\"{word}\"") } else { quoted(word) })
            .collect();
        let line = words.join(" ");
        // A partition's path depends on the disk's name, which only the script knows.
        let line = plan.partitions.iter().fold(line, |line, partition| {
            line.replace(&format!("\"$disk{}\"", partition.number), &format!("\"$part{}\"", partition.number))
        });
        if command.input.is_empty() {
            let _ = writeln!(script, "{line}");
        } else {
            let _ = writeln!(script, "{line} <<'TABLE'\n{}TABLE\nsettle", command.input);
        }
    }
    script.push_str("sync \"$disk\"\n");
    script
}

/// Refuses the wrong disk, names the partitions, and waits for their nodes.
const GUARDS: &str = r#"
if [ -b "$disk" ]; then
    have_bytes=$(blockdev --getsize64 "$disk")
    have_serial=$(lsblk --nodeps --noheadings --output SERIAL "$disk" | tr -d ' ')
else
    have_bytes=$(stat --format=%s "$disk")
    have_serial=$want_serial
fi
[ "$have_bytes" = "$want_bytes" ] || { echo "$disk has $have_bytes bytes, not $want_bytes" >&2; exit 4; }
[ "$have_serial" = "$want_serial" ] || { echo "$disk is $have_serial, not $want_serial" >&2; exit 4; }
case $disk in *[0-9]) p=p ;; *) p= ;; esac
part1=$disk${p}1
part2=$disk${p}2
settle() { blockdev --rereadpt "$disk" 2>/dev/null || true; udevadm settle 2>/dev/null || true; }

"#;

/// A word that a shell takes as it stands.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:+%@^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_of_disks_that_end_with_a_digit_have_a_p() {
        assert_eq!(partition_path("/dev/sdb", 1), "/dev/sdb1");
        assert_eq!(partition_path("/dev/mmcblk0", 2), "/dev/mmcblk0p2");
        assert_eq!(partition_path("/dev/loop7", 1), "/dev/loop7p1");
    }

    #[test]
    fn hostile_words_are_quoted() {
        assert_eq!(quoted("stride=1024,stripe_width=1024"), "stride=1024,stripe_width=1024");
        assert_eq!(quoted("a b; rm -rf $HOME"), "'a b; rm -rf $HOME'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
