//! Archives whose bytes depend on nothing but their entries: sorted, owned by root, of one time.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

/// A regular file in an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Where it is installed, without a leading slash.
    pub path: String,
    /// The permission bits.
    pub mode: u32,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Entry {
    /// A file that everybody may read.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    /// A file that everybody may run.
    pub fn program(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), mode: 0o755, bytes }
    }
}

/// A tar archive of the files and the directories above them. Every path starts with `prefix`; `seconds` is
/// the time of all entries, since 1970.
pub fn tar(prefix: &str, entries: &[Entry], seconds: u64) -> anyhow::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort();
    let mut directories = BTreeSet::from([Path::new("")]);
    directories.extend(sorted.iter().flat_map(|entry| Path::new(&entry.path).ancestors().skip(1)));
    for directory in directories {
        let path = match directory.to_string_lossy() {
            root if root.is_empty() => format!("{prefix}/"),
            path => format!("{prefix}/{path}/"),
        };
        archive.append(&header(&path, EntryType::Directory, 0o755, 0, seconds)?, &[][..])?;
    }
    for entry in sorted {
        let path = format!("{prefix}/{}", entry.path);
        let header = header(&path, EntryType::Regular, entry.mode, entry.bytes.len(), seconds)?;
        archive.append(&header, entry.bytes.as_slice())?;
    }
    Ok(archive.into_inner()?)
}

fn header(path: &str, kind: EntryType, mode: u32, size: usize, seconds: u64) -> anyhow::Result<Header> {
    let mut header = Header::new_gnu();
    // Not set_path, which drops the `./` that names in Debian packages start with.
    let name = header.as_old_mut().name.get_mut(..path.len()).context("a path is too long for tar")?;
    name.copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size as u64);
    header.set_mtime(seconds);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_cksum();
    Ok(header)
}

/// The bytes as `gzip -9n` writes them: the best compression, neither name nor time.
pub fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut compressed = GzBuilder::new().write(Vec::new(), Compression::best());
    compressed.write_all(bytes)?;
    Ok(compressed.finish()?)
}

/// An archive in the form of `ar`, which a Debian package is. Source: deb(5) and ar(5).
pub fn ar(members: &[(&str, Vec<u8>)], seconds: u64) -> anyhow::Result<Vec<u8>> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        // Name, time, owner, group, mode, size.
        writeln!(archive, "{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 100_644, bytes.len())?;
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    Ok(archive)
}
