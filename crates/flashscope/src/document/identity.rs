//! What a target is.

use flashscope_linux::Disk;
use schemars::JsonSchema;
use serde::Serialize;

use super::disk::DiskDocument;

/// What a target is, by `kind`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Identity {
    /// A virtual stick.
    #[serde(rename = "virtual stick")]
    VirtualStick {
        /// The name of its profile.
        name: String,
        /// What the profile describes.
        description: String,
        /// Its capacity.
        capacity_bytes: u64,
        /// Its random seed.
        seed: u64,
        /// Its faults, as in `?fault=`.
        faults: Vec<String>,
    },
    /// A whole disk.
    #[serde(rename = "disk")]
    Disk(Box<DiskIdentity>),
    /// A partition. The other fields describe the disk it is on; `capacity_bytes` is the partition's.
    #[serde(rename = "partition")]
    Partition(Box<DiskIdentity>),
    /// A file that is treated as a disk.
    #[serde(rename = "image file")]
    ImageFile {
        /// One line for people.
        name: String,
        /// Its size.
        capacity_bytes: u64,
    },
    /// A file of flashscope's own in a mounted directory.
    #[serde(rename = "folder")]
    Directory {
        /// The backing filesystem, for example `vfat`; empty if unknown.
        filesystem: String,
        /// The device it is mounted from; empty if unknown.
        source: String,
        /// Its mount options.
        options: String,
        /// The size of the file.
        capacity_bytes: u64,
    },
    /// A log that was imported.
    #[serde(rename = "published log")]
    PublishedLog {
        /// The device that the log names; empty if it names none.
        name: String,
    },
}

/// A disk, or a partition of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiskIdentity {
    /// One line for people.
    pub name: String,
    /// The disk.
    #[serde(flatten)]
    pub disk: DiskDocument,
}

impl DiskIdentity {
    /// The disk, or the part of it that holds `capacity_bytes`.
    pub fn new(name: &str, disk: &Disk, capacity_bytes: u64) -> Box<Self> {
        let disk = DiskDocument { capacity_bytes, ..DiskDocument::from(disk) };
        Box::new(Self { name: name.to_owned(), disk })
    }
}
