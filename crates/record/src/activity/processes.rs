//! The processes with files open on a disk.

/// A process with files open on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process id.
    pub pid: u32,
    /// Its name, printable.
    pub name: String,
    /// The number of files it has open there.
    pub files: u32,
    /// How many of them are writable.
    pub files_to_write: u32,
    /// Bytes written so far, to any disk; `None` where only root or the owner may read it.
    pub written_bytes: Option<u64>,
}

/// All processes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Processes {
    /// Those with files open on the disk, by process id.
    pub seen: Vec<Process>,
    /// The number of processes of other users that may not be inspected.
    pub hidden: u32,
}
