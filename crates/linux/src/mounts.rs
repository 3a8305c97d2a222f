//! Where disks are mounted, from `/proc/self/mountinfo` or `/proc/mounts`.

use std::io;
use std::path::Path;

use crate::printable::printable;
use crate::sysfs::read_start;

/// Machines with thousands of containers have lists of some megabytes.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// A mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number as `major:minor`; some filesystems (btrfs) have one of their own here. Empty if the list does not
    /// tell.
    pub device: String,
    /// The device as it was named when it was mounted, e.g. `/dev/sdb1`.
    pub source: String,
    /// Where it is mounted, printable.
    pub path: String,
    /// The filesystem, e.g. `vfat`.
    pub filesystem: String,
    /// Its options, e.g. `rw,noatime`, those of the mount before those of the filesystem.
    pub options: String,
}

impl Mount {
    /// Whether it has this option, e.g. `ro`.
    #[must_use]
    pub fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|has| has == option)
    }
}

/// Every mount that the file at `list` tells of, in the form of `/proc/self/mountinfo` or `/proc/mounts`. Lines it cannot
/// read are left out.
pub fn read(list: &Path) -> io::Result<Vec<Mount>> {
    let bytes = read_start(list, LIST_BYTES_MAX)?;
    Ok(String::from_utf8_lossy(&bytes)
        .lines()
        .filter_map(|line| detailed(line).or_else(|| plain(line)))
        .collect())
}

/// A line of mountinfo, e.g. `36 35 8:17 / /media/stick rw,noatime shared:1 - vfat /dev/sdb1 rw` (proc_pid_mountinfo(5)):
/// optional fields stand before the hyphen.
fn detailed(line: &str) -> Option<Mount> {
    let (place, source) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(2);
    let mut source = source.split(' ');
    let (device, path, of_mount) = (place.next()?, place.nth(1)?, place.next().unwrap_or_default());
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

/// Both lists of options; what both say is said once.
fn together(of_mount: &str, of_filesystem: &str) -> String {
    let said = |option: &&str| !option.is_empty() && !of_mount.split(',').any(|has| has == *option);
    let options = of_mount.split(',').filter(|option| !option.is_empty());
    printable(&options.chain(of_filesystem.split(',').filter(said)).collect::<Vec<_>>().join(","))
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
            let mount = detailed(&line).unwrap();
            assert_eq!((mount.device.as_str(), mount.path.as_str()), ("8:17", "/media/my stick"));
            assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("vfat", "/dev/sdb1"));
            assert_eq!(mount.options, "rw,noatime");
        }
    }

    #[test]
    fn the_plain_list_says_the_same_but_the_device_number() {
        let mount = plain("/dev/sdb1 /media/my\\040stick vfat ro,sync 0 0").unwrap();
        assert_eq!((mount.device.as_str(), mount.path.as_str()), ("", "/media/my stick"));
        assert!(mount.has("ro") && mount.has("sync") && !mount.has("rw"));
        assert_eq!(together("rw,noatime", "rw,flush"), "rw,noatime,flush");
    }

    #[test]
    fn a_broken_line_is_no_mount() {
        for line in ["", "36 35", "36 35 8:17 / /media rw", "36 35 8:17 - vfat", " - "] {
            assert_eq!((detailed(line), plain(line)), (None, None), "{line}");
        }
    }
}
