//! Reads sysfs, whose attributes may be missing, too long, or malformed.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

use flashscope_device::{Bytes, Lba};

use crate::loop_backing::backing_inode;
use crate::printable::printable;

/// The longest attribute of sysfs: a page.
const ATTRIBUTE_BYTES_MAX: u64 = 4096;

/// The sysfs tree, or a copy of one. Links out of the tree are not followed: their targets belong to
/// another machine.
#[derive(Debug, Clone)]
pub struct Sysfs {
    root: Rc<Path>,
}

impl Default for Sysfs {
    /// This machine's tree.
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

    /// The disks, sorted by name. A disk that vanishes meanwhile is left out.
    pub fn disks(&self) -> std::io::Result<Vec<Node>> {
        self.nodes("block").or_else(|error| {
            let of_class = self.nodes("class/block").map_err(|_| error)?;
            Ok(of_class.into_iter().filter(|node| node.partition_start().is_none()).collect())
        })
    }

    /// The disk of this name. A slash in a name is an exclamation mark in sysfs.
    pub fn disk(&self, name: &str) -> Option<Node> {
        ["block", "class/block"].iter().find_map(|directory| self.node(&self.root.join(directory).join(name)))
    }

    /// The directories in `directory`, also behind links, sorted by name.
    pub fn nodes(&self, directory: &str) -> std::io::Result<Vec<Node>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(self.root.join(directory))? {
            paths.push(entry?.path());
        }
        paths.sort();
        Ok(paths.iter().filter_map(|path| self.node(path)).collect())
    }

    /// The directory at `path`, which must be below the root.
    pub fn node(&self, path: &Path) -> Option<Node> {
        Node::at(path, &self.root)
    }

    /// The disk or partition with this device number.
    pub fn node_of(&self, major: u32, minor: u32) -> Option<Node> {
        self.node(&self.root.join(format!("dev/block/{major}:{minor}")))
    }

    /// The disk or partition of the device file at `path`.
    pub fn node_at(&self, path: &Path) -> Option<Node> {
        let device = fs::metadata(path).ok()?.rdev();
        self.node_of(rustix::fs::major(device), rustix::fs::minor(device))
    }

    /// The disk or partition of an open device file.
    pub fn node_of_file(&self, file: impl AsFd) -> Option<Node> {
        let device = rustix::fs::fstat(file).ok()?.st_rdev;
        self.node_of(rustix::fs::major(device), rustix::fs::minor(device))
    }

    /// The loop device that is attached to the file at `path`, as `/dev/loop3`.
    pub fn loop_over(&self, path: &Path) -> Option<String> {
        let file = fs::metadata(path).ok()?;
        let stands_on_it = |node: &Node| {
            node.loop_path()?;
            let device = format!("/dev/{}", node.name());
            let shown = node.loop_backing().map(|backing| (backing.dev(), backing.ino()));
            // Only where the path is gone: a device that is open is detached later than its user asked for.
            let found = shown.or_else(|| backing_inode(Path::new(&device)));
            (found == Some((file.dev(), file.ino()))).then_some(device)
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
    /// The directory at `path`, with links resolved, so that its parents are the devices it is attached to.
    fn at(path: &Path, root: &Rc<Path>) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        (path.is_dir() && path.starts_with(root)).then(|| Self { path, root: Rc::clone(root) })
    }

    /// The kernel's name, printable.
    pub fn name(&self) -> String {
        printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The path of what a loop device is attached to, as the kernel shows it.
    pub fn loop_path(&self) -> Option<PathBuf> {
        let mut path = self.bytes("loop/backing_file")?;
        if path.last() == Some(&b'\n') {
            path.pop();
        }
        (!path.is_empty()).then(|| PathBuf::from(OsString::from_vec(path)))
    }

    /// The backing file of a loop device, if it is accessible.
    fn loop_backing(&self) -> Option<fs::Metadata> {
        fs::metadata(self.loop_path()?).ok()
    }

    /// The backing file of a loop device, if it is a regular file. `None` for a backing disk, and for an
    /// inaccessible file.
    pub fn loop_file(&self) -> Option<fs::Metadata> {
        self.loop_backing().filter(fs::Metadata::is_file)
    }

    /// Its path relative to the root.
    pub fn relative_path(&self) -> &Path {
        self.path.strip_prefix(&self.root).unwrap_or(&self.path)
    }

    /// Whether it still exists.
    pub fn is_there(&self) -> bool {
        self.path.is_dir()
    }

    /// The directory of this name below it, also behind a link.
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

    /// The directories in its subdirectory `directory`, also behind links.
    pub fn entries(&self, directory: &str) -> Vec<Self> {
        let entries = fs::read_dir(self.path.join(directory)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().filter_map(|path| Self::at(path, &self.root)).collect()
    }

    /// The directory and its parents up to the root, nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let below_root = self.path.ancestors().take_while(|path| path.starts_with(&self.root));
        below_root.map(|path| Self { path: path.to_owned(), root: Rc::clone(&self.root) })
    }

    /// An attribute's bytes, at most a page; `None` if it cannot be read, or is a link out of the tree.
    pub fn bytes(&self, attribute: &str) -> Option<Vec<u8>> {
        self.long(attribute, ATTRIBUTE_BYTES_MAX)
    }

    /// An attribute's file, for reading it often; `None` if it cannot be opened, or links out of the tree.
    pub fn open(&self, attribute: &str) -> Option<fs::File> {
        let path = fs::canonicalize(self.path.join(attribute)).ok()?;
        let options = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).clone();
        path.starts_with(&self.root).then(|| options.open(path).ok())?
    }

    /// The first `most` bytes of a long attribute, such as debugfs has; `None` if it cannot be read.
    pub fn long(&self, attribute: &str, most: u64) -> Option<Vec<u8>> {
        read_within(&self.root, &self.path.join(attribute), most)
    }

    /// An attribute's text, printable; `None` if it is missing or empty.
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

    /// Whether the attribute is `1`.
    pub fn is_set(&self, attribute: &str) -> bool {
        self.number(attribute) == Some(1)
    }

    /// Its size. The kernel counts in sectors of 512 bytes, for any block size.
    pub fn size(&self) -> Bytes {
        Lba(self.number("size").unwrap_or(0)).offset()
    }

    /// The disk of a partition; anything else is its own.
    pub fn whole_disk(&self) -> Self {
        let disk = self.partition_start().and_then(|_| self.below(".."));
        disk.unwrap_or_else(|| self.clone())
    }

    /// The offset of a partition on its disk; `None` if this is no partition.
    pub fn partition_start(&self) -> Option<Bytes> {
        self.text("partition")?;
        Some(Lba(self.number("start")?).offset())
    }
}

/// The first `most` bytes of the file at `path`. Never blocks, also if a hostile copy has a pipe there.
pub fn read_start(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first `most` bytes of a file below the directory `root`; `None` if its links lead elsewhere, or it
/// cannot be read.
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
    fn links_out_of_a_copy_are_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path().join("sys/block/sdb");
        fs::create_dir_all(disk.join("device")).unwrap();
        fs::write(directory.path().join("secret"), "a secret").unwrap();
        fs::write(disk.join("device/model"), "Stick").unwrap();
        symlink(directory.path().join("secret"), disk.join("serial")).unwrap();
        symlink("device/model", disk.join("model")).unwrap();
        let node = Sysfs::at(directory.path().join("sys")).disk("sdb").unwrap();
        assert_eq!((node.text("serial"), node.text("model")), (None, Some("Stick".to_owned())));
        let [inside, outside] =
            ["sys/block/sdb/device/model", "secret"].map(|name| directory.path().join(name));
        assert_eq!(read_within(&disk, &inside, 3), Some(b"Sti".to_vec()));
        assert_eq!(read_within(&disk, &outside, 3), None);
    }

    /// The kernel ends the path with a newline. The name of a file may end with one, too.
    #[test]
    fn path_under_a_loop_device_is_read_without_the_newline_of_the_kernel() {
        let directory = tempfile::tempdir().unwrap();
        let shown = directory.path().join("sys/block/loop0/loop/backing_file");
        fs::create_dir_all(shown.parent().unwrap()).unwrap();
        let node = Sysfs::at(directory.path().join("sys")).disk("loop0").unwrap();
        for (text, path) in [
            ("/images/a stick\n", Some("/images/a stick")),
            ("/images/a\n\n", Some("/images/a\n")),
            ("/images/a", Some("/images/a")),
            ("\n", None),
            ("", None),
        ] {
            fs::write(&shown, text).unwrap();
            assert_eq!(node.loop_path(), path.map(PathBuf::from), "{text:?}");
        }
    }
}
