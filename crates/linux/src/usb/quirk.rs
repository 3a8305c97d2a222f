//! Quirks of usb-storage that were set on this machine: which device, which flags, and where they come from.
//!
//! The kernel's own table of quirks (`unusual_devs.h`, `unusual_uas.h`) is not in sysfs.

use std::path::PathBuf;

use crate::printable::printable;
use crate::roots::Roots;
use crate::sysfs::read_within;

/// The most bytes of a file with quirks. Guess: kernel command lines have at most 4 KiB, files of modprobe
/// few lines.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// A quirk that is in force for a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirk {
    /// Its flags, one letter each (`usb-storage.quirks` in the kernel's list of parameters): `u` ignores UAS.
    pub flags: String,
    /// Where it was set.
    pub source: QuirkSource,
}

/// Where a quirk was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuirkSource {
    /// The kernel's command line.
    CommandLine,
    /// A file of modprobe, by its name.
    File(PathBuf),
    /// The parameter alone: somebody wrote it into /sys, or the setting was removed since.
    Parameter,
}

impl Quirk {
    /// The quirk in force for this device, if there is one.
    pub(super) fn of(vendor: u32, product: u32, roots: &Roots) -> Option<Self> {
        let sysfs = |attribute: &str| {
            text(&roots.sysfs, &roots.sysfs.join("module/usb_storage/parameters").join(attribute))
        };
        let flags = flags_for(vendor, product, &sysfs("quirks")?)?;
        let is_set_in = |line: &str| flags_for(vendor, product, line).as_ref() == Some(&flags);
        let command_line = text(&roots.proc, &roots.proc.join("cmdline")).unwrap_or_default();
        let of_command_line = command_line.split_whitespace().find_map(of_parameter);
        let source = if of_command_line.is_some_and(is_set_in) {
            QuirkSource::CommandLine
        } else {
            let file = roots
                .modprobe
                .iter()
                .flat_map(configurations)
                .find(|(_, text)| text.lines().filter_map(of_options).any(is_set_in));
            file.map_or(QuirkSource::Parameter, |(path, _)| QuirkSource::File(path))
        };
        Some(Self { flags, source })
    }

    /// Whether it keeps the device from UAS.
    #[must_use]
    pub fn ignores_uas(&self) -> bool {
        self.flags.contains('u')
    }
}

fn text(root: &std::path::Path, path: &std::path::Path) -> Option<String> {
    Some(String::from_utf8_lossy(&read_within(root, path, FILE_BYTES_MAX)?).into_owned())
}

/// The files of a directory of modprobe, by their names in order.
fn configurations(directory: &PathBuf) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "conf"));
    paths.sort();
    paths.into_iter().filter_map(|path| Some((path.clone(), text(directory, &path)?))).collect()
}

/// The quirks in a parameter of the kernel's command line. It takes a hyphen for an underscore.
fn of_parameter(parameter: &str) -> Option<&str> {
    let (name, value) = parameter.split_once('=')?;
    (name.replace('-', "_") == "usb_storage.quirks").then_some(value)
}

/// The quirks in a line such as `options usb-storage quirks=0bc2:2312:u`.
fn of_options(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let is_of_module = words.next() == Some("options")
        && words.next().is_some_and(|name| name.replace('-', "_") == "usb_storage");
    words.find_map(|word| word.strip_prefix("quirks=")).filter(|_| is_of_module)
}

/// The flags for a device in a list such as `0bc2:2312:u,152d:0578:f`.
fn flags_for(vendor: u32, product: u32, list: &str) -> Option<String> {
    let hexadecimal = |text: &str| u32::from_str_radix(text.trim(), 16).ok();
    list.trim().trim_matches('"').split(',').find_map(|entry| {
        let mut parts = entry.splitn(3, ':');
        let ids = (hexadecimal(parts.next()?)?, hexadecimal(parts.next()?)?);
        let flags: String =
            printable(parts.next()?).chars().filter(char::is_ascii_lowercase).take(32).collect();
        (ids == (vendor, product)).then_some(flags)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_by_ids() {
        let list = "0bc2:2312:u,152d:0578:fu\n";
        assert_eq!(flags_for(0x152d, 0x578, list).as_deref(), Some("fu"));
        assert_eq!(flags_for(0x152d, 0x579, list), None);
        for broken in ["", ":", "152d", "152d:0578", "x:y:z", ",,,"] {
            assert_eq!(flags_for(0x152d, 0x578, broken), None, "{broken}");
        }
    }

    #[test]
    fn settings_are_found_in_both_spellings() {
        assert_eq!(of_parameter("usb-storage.quirks=1:2:u"), Some("1:2:u"));
        assert_eq!(of_parameter("usb_storage.quirks=1:2:u"), Some("1:2:u"));
        assert_eq!(of_options("options usb-storage delay_use=1 quirks=1:2:u"), Some("1:2:u"));
        for other in ["options uas quirks=1:2:u", "# options usb-storage quirks=1:2:u", "blacklist uas"] {
            assert_eq!(of_options(other), None, "{other}");
        }
    }
}
