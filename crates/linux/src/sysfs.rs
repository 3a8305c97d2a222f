//! Reading sysfs: attributes that may be missing, overlong, or full of surprises.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use flashscope_device::{Bytes, Lba};

use crate::printable::printable;

/// No attribute of sysfs is longer than a page.
const ATTRIBUTE_BYTES_MAX: u64 = 4096;

/// The sysfs tree, or a copy of one.
#[derive(Debug, Clone)]
pub struct Sysfs {
    root: PathBuf,
}

impl Default for Sysfs {
    /// The one of this machine.
    fn default() -> Self {
        Self::at("/sys")
    }
}

impl Sysfs {
    /// The tree at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The disks, by name.
    pub fn disks(&self) -> std::io::Result<Vec<Node>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.root.join("block"))? {
            paths.push(entry?.path());
        }
        paths.sort();
        Ok(paths.iter().filter_map(|path| Node::at(path)).collect())
    }

    /// The disk or partition with this device number.
    pub fn node_of(&self, major: u32, minor: u32) -> Option<Node> {
        Node::at(&self.root.join(format!("dev/block/{major}:{minor}")))
    }

    /// The disk or partition that the device file at `path` stands for.
    pub fn node_at(&self, path: &Path) -> Option<Node> {
        let device = fs::metadata(path).ok()?.rdev();
        self.node_of(rustix::fs::major(device), rustix::fs::minor(device))
    }

    /// The disk or partition that an open device file stands for.
    pub fn node_behind(&self, file: impl AsFd) -> Option<Node> {
        let device = rustix::fs::fstat(file).ok()?.st_rdev;
        self.node_of(rustix::fs::major(device), rustix::fs::minor(device))
    }

    /// The loop device that stands on the file at `path`, as `/dev/loop3`.
    pub fn loop_over(&self, path: &Path) -> Option<String> {
        let file = fs::metadata(path).ok()?;
        let stands_on_it = |node: &Node| {
            let backing = node.loop_backing()?;
            ((backing.dev(), backing.ino()) == (file.dev(), file.ino()))
                .then(|| format!("/dev/{}", node.name()))
        };
        self.disks().ok()?.iter().find_map(stands_on_it)
    }
}

/// A directory of sysfs: a disk, a partition, or a device further up the bus.
#[derive(Debug, Clone)]
pub struct Node {
    path: PathBuf,
}

impl Node {
    /// The directory at `path`, with its links followed, so that its parents are the devices it hangs on.
    pub fn at(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().filter(|path| path.is_dir()).map(|path| Self { path })
    }

    /// Its name in the kernel, made printable.
    pub fn name(&self) -> String {
        printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// For a loop device: what it stands on, where that can be looked at.
    fn loop_backing(&self) -> Option<fs::Metadata> {
        let backing = fs::read_to_string(self.path.join("loop/backing_file")).ok()?;
        fs::metadata(backing.trim_end_matches('\n')).ok()
    }

    /// For a loop device that stands on a regular file: that file. Those over disks, and over files that cannot be found,
    /// have none.
    pub fn loop_file(&self) -> Option<fs::Metadata> {
        self.loop_backing().filter(fs::Metadata::is_file)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory below it, or behind a link of this name.
    pub fn below(&self, name: &str) -> Option<Self> {
        Self::at(&self.path.join(name))
    }

    /// The directories below it.
    pub fn children(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
        paths.sort();
        paths.iter().filter_map(|path| Self::at(path)).collect()
    }

    /// It and the directories above it, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        self.path.ancestors().map(|path| Self { path: path.to_owned() })
    }

    /// An attribute's text, made printable; `None` if it is missing or empty.
    pub fn text(&self, attribute: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.path.join(attribute)).ok()?;
        file.take(ATTRIBUTE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(printable(&String::from_utf8_lossy(&bytes))).filter(|text| !text.is_empty())
    }

    /// An attribute's number.
    pub fn number<N: FromStr>(&self, attribute: &str) -> Option<N> {
        self.text(attribute)?.parse().ok()
    }

    /// An attribute's hexadecimal number, with or without `0x`.
    pub fn hexadecimal(&self, attribute: &str) -> Option<u32> {
        u32::from_str_radix(self.text(attribute)?.trim_start_matches("0x"), 16).ok()
    }

    /// True for `1`.
    pub fn is_set(&self, attribute: &str) -> bool {
        self.number(attribute) == Some(1)
    }

    /// Its size. The kernel counts it in sectors of 512 bytes, whatever the disk's blocks are.
    pub fn size(&self) -> Bytes {
        Lba(self.number("size").unwrap_or(0)).offset()
    }

    /// For a partition: where on its disk it starts.
    pub fn partition_start(&self) -> Option<Bytes> {
        self.text("partition")?;
        Some(Lba(self.number("start")?).offset())
    }
}
