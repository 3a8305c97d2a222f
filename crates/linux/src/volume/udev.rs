//! udev's database of partitions: one world-readable file each, named after the device number.

use std::path::Path;

use super::Filesystem;
use crate::printable::printable;
use crate::sysfs::read_within;

/// The limit for reading a file of udev's database, which has some KiB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The filesystem on the device with this number (`8:17`), from the database in `directory`.
pub fn filesystem(directory: &Path, device: &str) -> Option<Filesystem> {
    let is_number = device.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let bytes = read_within(directory, &directory.join(format!("b{device}")), FILE_BYTES_MAX)
        .filter(|_| is_number)?;
    parse(&String::from_utf8_lossy(&bytes))
}

/// Parses lines such as `E:ID_FS_TYPE=vfat`.
fn parse(text: &str) -> Option<Filesystem> {
    let property = |name: &str| {
        let value =
            text.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(name)?.strip_prefix('='));
        value.map(printable).filter(|value| !value.is_empty())
    };
    Some(Filesystem {
        kind: property("ID_FS_TYPE")?,
        label: property("ID_FS_LABEL"),
        ..Filesystem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_label_are_parsed() {
        let found =
            parse("S:disk/by-id/x\nE:ID_FS_LABEL=MY_STICK\nE:ID_FS_TYPE=vfat\nE:ID_FS_TYPES=no\n").unwrap();
        assert_eq!((found.kind.as_str(), found.label.as_deref()), ("vfat", Some("MY_STICK")));
        assert_eq!(parse("E:ID_FS_LABEL=x\n"), None);
        assert_eq!(filesystem(Path::new("/"), "../etc/passwd"), None);
    }
}
