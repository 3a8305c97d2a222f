//! Reading sysfs: attributes that may be missing, overlong, or full of surprises.

use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

use flashscope_device::{Bytes, Lba};

use crate::printable::printable;

/// No attribute of sysfs is longer than a page.
const ATTRIBUTE_BYTES_MAX: u64 = 4096;

/// The sysfs tree, or a copy of one. Links that lead out of it are not followed: what is behind them belongs to another
/// machine.
#[derive(Debug, Clone)]
pub struct Sysfs {
    root: Rc<Path>,
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
        let root = root.into();
        Self { root: fs::canonicalize(&root).unwrap_or(root).into() }
    }

    /// The disks, by name. One that vanishes meanwhile is left out.
    pub fn disks(&self) -> std::io::Result<Vec<Node>> {
        self.nodes("block").or_else(|error| {
            let of_class = self.nodes("class/block").map_err(|_| error)?;
            Ok(of_class.into_iter().filter(|node| node.partition_start().is_none()).collect())
        })
    }

    /// The disk of this name; those with a slash in it are written with an exclamation mark here.
    pub fn disk(&self, name: &str) -> Option<Node> {
        ["block", "class/block"].iter().find_map(|folder| self.node(&self.root.join(folder).join(name)))
    }

    /// The directories below, and behind the links in, the directory of this name, by name.
    pub fn nodes(&self, directory: &str) -> std::io::Result<Vec<Node>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.root.join(directory))? {
            paths.push(entry?.path());
        }
        paths.sort();
        Ok(paths.iter().filter_map(|path| self.node(path)).collect())
    }

    /// The directory at `path`, below the root.
    pub fn node(&self, path: &Path) -> Option<Node> {
        Node::at(path, &self.root)
    }

    /// The disk or partition with this device number.
    pub fn node_of(&self, major: u32, minor: u32) -> Option<Node> {
        self.node(&self.root.join(format!("dev/block/{major}:{minor}")))
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
    root: Rc<Path>,
}

impl Node {
    /// The directory at `path`, with its links followed, so that its parents are the devices it hangs on.
    fn at(path: &Path, root: &Rc<Path>) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        (path.is_dir() && path.starts_with(root)).then(|| Self { path, root: Rc::clone(root) })
    }

    /// Its name in the kernel, made printable.
    pub fn name(&self) -> String {
        printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// For a loop device: what it stands on, where that can be looked at.
    fn loop_backing(&self) -> Option<fs::Metadata> {
        let backing = String::from_utf8(self.bytes("loop/backing_file")?).ok()?;
        fs::metadata(backing.trim_end_matches('\n')).ok()
    }

    /// For a loop device that stands on a regular file: that file. Those over disks, and over files that cannot be found,
    /// have none.
    pub fn loop_file(&self) -> Option<fs::Metadata> {
        self.loop_backing().filter(fs::Metadata::is_file)
    }

    /// Where it is below the root.
    pub fn place(&self) -> &Path {
        self.path.strip_prefix(&self.root).unwrap_or(&self.path)
    }

    /// Whether it is still there.
    pub fn is_there(&self) -> bool {
        self.path.is_dir()
    }

    /// The directory below it, or behind a link of this name.
    pub fn below(&self, name: &str) -> Option<Self> {
        Self::at(&self.path.join(name), &self.root)
    }

    /// The directories below it.
    pub fn children(&self) -> Vec<Self> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
        paths.sort();
        paths.iter().filter_map(|path| Self::at(path, &self.root)).collect()
    }

    /// The directories below, and behind the links in, the directory of this name below it.
    pub fn entries(&self, directory: &str) -> Vec<Self> {
        let entries = fs::read_dir(self.path.join(directory)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().filter_map(|path| Self::at(path, &self.root)).collect()
    }

    /// It and the directories above it, up to the root, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let below_root = self.path.ancestors().take_while(|path| path.starts_with(&self.root));
        below_root.map(|path| Self { path: path.to_owned(), root: Rc::clone(&self.root) })
    }

    /// An attribute's bytes, a page of them at most; `None` if it cannot be read, or is a link out of the tree.
    pub fn bytes(&self, attribute: &str) -> Option<Vec<u8>> {
        self.long(attribute, ATTRIBUTE_BYTES_MAX)
    }

    /// The first `most` bytes of a long attribute, such as debugfs has; `None` if it cannot be read.
    pub fn long(&self, attribute: &str, most: u64) -> Option<Vec<u8>> {
        read_within(&self.root, &self.path.join(attribute), most)
    }

    /// An attribute's text, made printable; `None` if it is missing or empty.
    pub fn text(&self, attribute: &str) -> Option<String> {
        Some(printable(&String::from_utf8_lossy(&self.bytes(attribute)?))).filter(|text| !text.is_empty())
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

/// The first `most` bytes of the file at `path`. A pipe in its place, as a hostile copy may have, is not waited for.
pub fn read_start(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same of a file that lies below the directory `root` once its links are followed; `None` if it does not, or cannot be read.
pub fn read_within(root: &Path, path: &Path, most: u64) -> Option<Vec<u8>> {
    let (root, path) = (fs::canonicalize(root).ok()?, fs::canonicalize(path).ok()?);
    if !path.starts_with(root) {
        return None;
    }
    read_start(&path, most).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn attributes_that_lead_out_of_a_copy_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("sys/block/sdb");
        fs::create_dir_all(disk.join("device")).unwrap();
        fs::write(folder.path().join("secret"), "a secret").unwrap();
        fs::write(disk.join("device/model"), "Stick").unwrap();
        symlink(folder.path().join("secret"), disk.join("serial")).unwrap();
        symlink("device/model", disk.join("model")).unwrap();
        let node = Sysfs::at(folder.path().join("sys")).disk("sdb").unwrap();
        assert_eq!((node.text("serial"), node.text("model")), (None, Some("Stick".to_owned())));
        let [inside, outside] = ["sys/block/sdb/device/model", "secret"].map(|name| folder.path().join(name));
        assert_eq!(read_within(&disk, &inside, 3), Some(b"Sti".to_vec()));
        assert_eq!(read_within(&disk, &outside, 3), None);
    }
}
