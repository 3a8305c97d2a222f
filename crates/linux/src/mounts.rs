//! The list of mounts, from `/proc/self/mountinfo` or `/proc/mounts`.

use std::io;
use std::path::Path;

use crate::printable::printable;
use crate::sysfs::read_start;

/// The limit for reading the list. Machines with thousands of containers have several MiB.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// A mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number as `major:minor`; some filesystems (btrfs) have a number of their own. Empty if
    /// the list has none.
    pub device: String,
    /// The mounted device, e.g. `/dev/sdb1`.
    pub source: String,
    /// The mount point, printable.
    pub path: String,
    /// The filesystem type, e.g. `vfat`.
    pub filesystem: String,
    /// The options, e.g. `rw,noatime`: those of the mount, then those of the filesystem.
    pub options: String,
}

impl Mount {
    /// Whether it has this option, e.g. `ro`.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|has| has == option)
    }
}

/// Reads the list of mounts, in the form of `/proc/self/mountinfo` or `/proc/mounts`. Malformed lines are
/// left out.
pub fn read(list: &Path) -> io::Result<Vec<Mount>> {
    let bytes = read_start(list, LIST_BYTES_MAX)?;
    Ok(String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(|line| detailed(line).or_else(|| plain(line)))
        .collect())
}

/// A line of mountinfo, e.g. `36 35 8:17 / /media/stick rw,noatime shared:1 - vfat /dev/sdb1 rw`
/// (proc_pid_mountinfo(5)). Optional fields stand before the hyphen.
fn detailed(line: &str) -> Option<Mount> {
    let (mount_fields, source) = line.split_once(" - ")?;
    let mut fields = mount_fields.split(' ').skip(2);
    let mut source = source.split(' ');
    let (device, path, of_mount) = (fields.next()?, fields.nth(1)?, fields.next().unwrap_or_default());
    Some(Mount {
        device: device.to_owned(),
        path: printable(&unescape(path)),
        filesystem: printable(source.next()?),
        source: printable(&unescape(source.next()?)),
        options: together(of_mount, source.next().unwrap_or_default()),
    })
}

/// A line of `/proc/mounts`, e.g. `/dev/sdb1 /media/stick vfat rw,noatime 0 0` (fstab(5)).
fn plain(line: &str) -> Option<Mount> {
    let [source, path, filesystem, options, dump, pass] = line.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    [dump, pass].into_iter().all(|number| number.parse::<u32>().is_ok()).then_some(())?;
    Some(Mount {
        device: String::new(),
        path: printable(&unescape(path)),
        filesystem: printable(filesystem),
        source: printable(&unescape(source)),
        options: printable(options),
    })
}

/// Both lists of options without duplicates.
fn together(of_mount: &str, of_filesystem: &str) -> String {
    let said = |option: &&str| !option.is_empty() && !of_mount.split(',').any(|has| has == *option);
    let options = of_mount.split(',').filter(|option| !option.is_empty());
    printable(&options.chain(of_filesystem.split(',').filter(said)).collect::<Vec<_>>().join(","))
}

/// Decodes the kernel's octal escapes of space, tab, newline and backslash.
pub fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_line_is_parsed_with_and_without_optional_fields() {
        for optional in ["", "shared:1 master:2 "] {
            let line = format!("36 35 8:17 / /media/my\\040stick rw,noatime {optional}- vfat /dev/sdb1 rw");
            let mount = detailed(&line).unwrap();
            assert_eq!((mount.device.as_str(), mount.path.as_str()), ("8:17", "/media/my stick"));
            assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("vfat", "/dev/sdb1"));
            assert_eq!(mount.options, "rw,noatime");
        }
    }

    #[test]
    fn plain_line_is_parsed_without_device_number() {
        let mount = plain("/dev/sdb1 /media/my\\040stick vfat ro,sync 0 0").unwrap();
        assert_eq!((mount.device.as_str(), mount.path.as_str()), ("", "/media/my stick"));
        assert!(mount.has("ro") && mount.has("sync") && !mount.has("rw"));
        assert_eq!(together("rw,noatime", "rw,flush"), "rw,noatime,flush");
    }

    #[test]
    fn malformed_lines_are_rejected() {
        for line in ["", "36 35", "36 35 8:17 / /media rw", "36 35 8:17 - vfat", " - "] {
            assert_eq!((detailed(line), plain(line)), (None, None), "{line}");
        }
    }
}
