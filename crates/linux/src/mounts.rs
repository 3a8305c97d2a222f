//! Where disks are mounted, from `/proc/self/mountinfo`.

use std::path::Path;
use std::{fs, io};

use crate::printable::printable;

/// A mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number as `major:minor`; some filesystems (btrfs) have one of their own here.
    pub device: String,
    /// The device as it was named when it was mounted, e.g. `/dev/sdb1`.
    pub source: String,
    /// Where it is mounted, printable.
    pub path: String,
    /// The filesystem, e.g. `vfat`.
    pub filesystem: String,
}

/// Every mount that the file at `mountinfo` tells of. Lines it cannot read are left out.
pub fn read(mountinfo: &Path) -> io::Result<Vec<Mount>> {
    Ok(String::from_utf8_lossy(&fs::read(mountinfo)?).lines().filter_map(parse).collect())
}

/// One line, e.g. `36 35 8:17 / /media/stick rw,noatime shared:1 - vfat /dev/sdb1 rw` (proc_pid_mountinfo(5)): optional
/// fields stand before the hyphen.
fn parse(line: &str) -> Option<Mount> {
    let (place, source) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(2);
    let mut source = source.split(' ');
    Some(Mount {
        device: place.next()?.to_owned(),
        path: printable(&unescape(place.nth(1)?)),
        filesystem: printable(source.next()?),
        source: printable(&unescape(source.next()?)),
    })
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_and_without_optional_fields() {
        for optional in ["", "shared:1 master:2 "] {
            let line = format!("36 35 8:17 / /media/my\\040stick rw,noatime {optional}- vfat /dev/sdb1 rw");
            let mount = parse(&line).unwrap();
            assert_eq!((mount.device.as_str(), mount.path.as_str()), ("8:17", "/media/my stick"));
            assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("vfat", "/dev/sdb1"));
        }
    }

    #[test]
    fn a_broken_line_is_no_mount() {
        for line in ["", "36 35", "36 35 8:17 / /media rw", "36 35 8:17 - vfat", " - "] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
