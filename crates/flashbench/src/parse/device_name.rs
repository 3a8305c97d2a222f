//! What a log calls its device, and how large it says it is.

use flashscope_device::Bytes;

use crate::parse::text::Line;

/// Names longer than this are shortened.
const LONGEST_NAME: usize = 100;

/// The device's name, by the first that the log has: a line `device: …`, the card's own registers, `lsusb`.
pub(super) fn find(lines: &[Line]) -> String {
    let by = |read: fn(&str) -> Option<String>| lines.iter().find_map(|line| read(&line.text));
    let name = by(after_device)
        .or_else(|| by(card_registers))
        .or_else(|| listed_registers(lines))
        .or_else(|| by(lsusb));
    printable(&name.unwrap_or_default())
}

/// `text` without control characters and not longer than a line.
pub(super) fn printable(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_NAME + 1).collect();
    match clean.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", &clean[..at]),
        None => clean,
    }
}

/// `# device: PQI class 10 32 GB microSD`
pub(super) fn after_device(text: &str) -> Option<String> {
    let name = text.trim_start_matches(['#', ' ']).strip_prefix("device:")?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// `man:0x000003 oem:0x5344 name:SU04G hwrev:0x8 …`
pub(super) fn card_registers(text: &str) -> Option<String> {
    let value = |key: &str| text.split_whitespace().find_map(|word| word.strip_prefix(key));
    let (manufacturer, name) = (value("man:")?, value("name:")?);
    Some(format!("{name} (manfid {manufacturer}, oemid {})", value("oem:").unwrap_or("unknown")))
}

/// `name 00000`, `oemid 0x534d` and `manfid 0x00001b`, each on a line of its own; or as `head` and `grep`
/// print the files of /sys/block/…/device.
fn listed_registers(lines: &[Line]) -> Option<String> {
    let value = |key: &str| own_line(lines, key).or_else(|| line_after(lines, &format!("/device/{key} <==")));
    Some(format!("{} (manfid {}, oemid {})", value("name")?, value("manfid")?, value("oemid")?))
}

fn own_line(lines: &[Line], key: &str) -> Option<String> {
    let mut values = lines.iter().filter_map(|line| line.text.trim().strip_prefix(key));
    let value = values.find(|rest| rest.starts_with(' ') && rest.split_whitespace().count() == 1)?;
    Some(value.trim().to_owned())
}

fn line_after(lines: &[Line], title: &str) -> Option<String> {
    let at = lines.iter().position(|line| line.text.ends_with(title))?;
    lines.get(at + 1).map(|line| line.text.trim().to_owned())
}

/// `Bus 001 Device 023: ID 13fe:3100 Kingston Technology Company Inc. 2 GB USB stick`
pub(super) fn lsusb(text: &str) -> Option<String> {
    let (bus, name) = text.split_once(": ID ")?;
    (bus.trim_start().starts_with("Bus ") && !name.contains("root hub")).then(|| name.trim().to_owned())
}

/// The capacity that `fdisk -l` printed, in any language (`Disk /dev/sdb: 7902 MB, 7902068736 bytes`), or
/// that a header line says (`capacity=3965190144 bytes`).
pub(super) fn capacity(lines: &[Line]) -> Option<Bytes> {
    lines
        .iter()
        .find_map(|line| fdisk(&line.text).map(|(_, size)| size))
        .or_else(|| lines.iter().find_map(|line| stated(&line.text)))
}

/// The device node and its size in a line of `fdisk -l`.
pub(super) fn fdisk(text: &str) -> Option<(&str, Bytes)> {
    let (node, sizes) = text.split_once("/dev/")?.1.split_once(": ")?;
    let bytes = sizes.split(", ").nth(1)?.split_whitespace().next()?;
    whole_sectors(bytes).map(|size| (node, size))
}

fn stated(text: &str) -> Option<Bytes> {
    whole_sectors(text.split_once("capacity=")?.1.split_whitespace().next()?)
}

/// A capacity is a multiple of the sector and more than a floppy's.
fn whole_sectors(text: &str) -> Option<Bytes> {
    let bytes = Bytes::new(text.parse().ok()?);
    (bytes > Bytes::mib(2) && bytes.is_multiple_of(flashscope_device::SECTOR)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().enumerate().map(|(at, text)| Line { number: at + 1, text: text.to_owned() }).collect()
    }

    #[test]
    fn names_are_found_where_logs_have_them() {
        assert_eq!(find(&lines("x\n# device: PQI class 10\n")), "PQI class 10");
        assert_eq!(
            find(&lines("man:0x03 oem:0x5344 name:SU04G date:11/2013")),
            "SU04G (manfid 0x03, oemid 0x5344)"
        );
        assert_eq!(
            find(&lines("name 00000\noemid 0x534d\nmanfid 0x1b")),
            "00000 (manfid 0x1b, oemid 0x534d)"
        );
        let head = "==> /sys/block/mmcblk1/device/manfid <==\n0x02\n==> /sys/block/mmcblk1/device/name <==\nSA04G\n\
                    ==> /sys/block/mmcblk1/device/oemid <==\n0x544d";
        assert_eq!(find(&lines(head)), "SA04G (manfid 0x02, oemid 0x544d)");
        assert_eq!(find(&lines("Bus 001 Device 023: ID 13fe:3100 Kingston 2 GB")), "13fe:3100 Kingston 2 GB");
        assert_eq!(find(&lines("nothing here")), "");
    }

    #[test]
    fn capacities_are_found_in_any_language() {
        for text in [
            "Диск /dev/mmcblk0: 7902 МБ, 7902068736 байт",
            "Disk /dev/sdb: 7.4 GiB, 7902068736 bytes, 15433728 sectors",
        ] {
            assert_eq!(capacity(&lines(text)), Some(Bytes::new(7_902_068_736)), "{text}");
        }
        assert_eq!(capacity(&lines("capacity=3965190144 bytes;")), Some(Bytes::new(3_965_190_144)));
        assert_eq!(capacity(&lines("/dev/sdb: 12, 13 14")), None);
    }

    #[test]
    fn long_names_and_escapes_are_tamed() {
        let name = printable(&format!("\u{1b}[2J{}", "é".repeat(500)));
        assert!(name.chars().count() == 101 && !name.contains('\u{1b}'));
    }
}
