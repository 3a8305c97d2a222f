//! Whether a log is of one device, by what it says of it: registers, `lsusb`, `fdisk`, numbered headings,
//! device nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::parse::device_name;
use crate::parse::log::Entry;
use crate::parse::text::Line;

/// Something that says which device the lines around it are about.
struct Sign {
    kind: SignKind,
    /// What names the device.
    name: String,
    /// How many tables stand before it.
    tables_before: usize,
}

/// What kind of sign: two of one kind are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SignKind {
    /// A line `man:0x000003 oem:0x5344 name:SU04G …`.
    Registers,
    /// A register on a line of its own, by its name.
    Register(&'static str),
    /// A line `device: …`.
    Named,
    /// What `fdisk` says of the size of this device node.
    SizeOf(String),
    /// A heading such as `Card 2: …`.
    Heading,
    /// A line of `lsusb`, which lists whatever is plugged in.
    Listed,
    /// A size by `fdisk`, which lists every disk.
    Size,
}

impl SignKind {
    /// Whether the device is one of several that are listed, so that only lists without a common one are of
    /// two devices.
    const fn is_of_a_list(&self) -> bool {
        matches!(self, Self::Listed | Self::Size)
    }
}

/// The registers that tell one card from another.
const REGISTERS: [&str; 3] = ["cid", "serial", "manfid"];

/// Two devices that the log is about, if there is more than one.
pub(super) fn several(lines: &[Line], entries: &[Entry]) -> Option<[String; 2]> {
    let mut by_kind: BTreeMap<SignKind, Vec<Sign>> = BTreeMap::new();
    for sign in signs(lines, entries) {
        by_kind.entry(sign.kind.clone()).or_default().push(sign);
    }
    by_kind
        .iter()
        .find_map(|(kind, signs)| if kind.is_of_a_list() { two_lists(signs) } else { two_names(signs) })
}

fn two_names(signs: &[Sign]) -> Option<[String; 2]> {
    let first = signs.first()?;
    let other = signs.iter().find(|sign| sign.name != first.name)?;
    Some([first.name.clone(), other.name.clone()])
}

/// One of each of two lists that have nothing in common, with a table between them.
fn two_lists(signs: &[Sign]) -> Option<[String; 2]> {
    let mut lists: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for sign in signs {
        lists.entry(sign.tables_before).or_default().insert(&sign.name);
    }
    let mut lists = lists.values();
    let first = lists.next()?;
    let other = lists.find(|list| list.is_disjoint(first))?;
    Some([(*first.first()?).to_owned(), (*other.first()?).to_owned()])
}

fn signs(lines: &[Line], entries: &[Entry]) -> Vec<Sign> {
    let mut found = Vec::new();
    let mut tables_before = 0;
    for line in lines {
        while entries.get(tables_before).is_some_and(|entry| *entry.lines.start() < line.number) {
            tables_before += 1;
        }
        found.extend(of_line(&line.text).into_iter().map(|(kind, name)| Sign { kind, name, tables_before }));
    }
    found
}

fn of_line(text: &str) -> Vec<(SignKind, String)> {
    let mut found = Vec::new();
    found
        .extend(device_name::card_registers(text).map(|name| (SignKind::Registers, with_serial(text, name))));
    found.extend(REGISTERS.iter().filter_map(|register| {
        let value = text.trim().strip_prefix(register)?.strip_prefix([' ', ':', '='])?.trim();
        let is_value = !value.is_empty() && !value.contains(char::is_whitespace);
        is_value.then(|| (SignKind::Register(register), format!("{register} {value}")))
    }));
    found.extend(device_name::after_device(text).map(|name| (SignKind::Named, name)));
    found.extend(heading(text).map(|name| (SignKind::Heading, name)));
    found.extend(device_name::lsusb(text).map(|name| (SignKind::Listed, name)));
    if let Some((node, size)) = device_name::fdisk(text) {
        found.push((SignKind::SizeOf(node.to_owned()), format!("{node} of {} bytes", size.get())));
        found.push((SignKind::Size, format!("a disk of {} bytes", size.get())));
    }
    found
}

/// A card's name with its serial number or whole identification register: two of one model are two.
fn with_serial(text: &str, name: String) -> String {
    let serial = text.split_whitespace().find(|word| word.starts_with("serial:") || word.starts_with("cid:"));
    serial.map_or_else(|| name.clone(), |serial| format!("{name}, {serial}"))
}

/// `# Card 2: noname`, `== stick #3 ==`: `card 2`.
fn heading(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let mut words = lower.trim_start_matches(['#', '*', '=', ' ']).split_whitespace();
    let what = words.next().filter(|word| ["card", "stick", "device", "drive"].contains(word))?;
    let number = words.next()?.trim_start_matches('#').trim_end_matches([':', '.', '*', '=']);
    let ends = text.contains(':') || words.all(|word| word.trim_matches(['=', '*']).is_empty());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && ends).then(|| format!("{what} {number}"))
}

/// The device nodes that the commands above tables name, if they name several: names of the host, which may
/// give one device another when it is plugged in again.
pub(super) fn nodes(entries: &[Entry]) -> Vec<String> {
    let of_entry = |entry: &Entry| {
        let node = entry.heading.split_whitespace().find(|word| word.starts_with("/dev/"))?;
        Some(node.trim_matches(['"', '\'', '`', '*', ';', ',']).to_owned())
    };
    let nodes: BTreeSet<String> = entries.iter().filter_map(of_entry).collect();
    if nodes.len() > 1 { nodes.into_iter().collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        of_line(text).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn signs_of_a_device_are_found() {
        assert_eq!(
            names("man:0x03 oem:0x5344 name:SU04G serial:0x11"),
            ["SU04G (manfid 0x03, oemid 0x5344), serial:0x11"]
        );
        assert_eq!(names("manfid 0x1b"), ["manfid 0x1b"]);
        assert_eq!(names("# Card 2: noname 4GB"), ["card 2"]);
        assert_eq!(names("=== Stick #3 ==="), ["stick 3"]);
        assert_eq!(names("Disk /dev/sdb: 7.4 GiB, 7902068736 bytes").len(), 2);
        for text in ["card 22 is fine", "device 1 was slow", "manfid", "a card", "cid of the card"] {
            assert!(names(text).is_empty(), "{text}");
        }
    }
}
