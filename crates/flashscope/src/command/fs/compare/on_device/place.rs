//! Where filesystems are made: a disk, or a partition of one.

use std::path::PathBuf;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_layout::Medium;
use flashscope_linux::{Roots, identify};

use crate::args::FsCompare;
use crate::command::plan;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::target::Target;

/// The medium, and the partition in it if the target is one.
pub struct Place {
    /// The whole medium; for a partition the disk around it.
    pub medium: Medium,
    /// The start and the size of the partition, if the target is one.
    pub partition: Option<(Bytes, Bytes)>,
    /// Where every filesystem starts, if the user asks for it.
    pub start: Option<Bytes>,
    /// The node of the disk.
    pub disk: PathBuf,
}

impl Place {
    /// The place of an opened target.
    ///
    /// # Errors
    /// Exit code 2 if the path is gone, or for a start in a partition.
    pub fn of(target: &mut Target, arguments: &FsCompare, printer: &Printer) -> Result<Self, Failure> {
        let path = std::fs::canonicalize(&arguments.target).or_exit_bare(Exit::Usage)?;
        let identity = identify(&path, &Roots::default());
        let medium = plan::medium_of(target, arguments.erase_block, printer);
        let Some(partition) = identity.partition else {
            return Ok(Self { medium, partition: None, start: arguments.partition_start, disk: path });
        };
        if arguments.partition_start.is_some() {
            let error = anyhow!(
                "{} is a partition, which starts where it starts; leave out --partition-start, or name the disk",
                arguments.target
            );
            return Err(Failure { exit: Exit::Usage, error });
        }
        let disk = identity.disk.map(|disk| (disk.path, disk.capacity));
        let (disk, capacity) = disk.unwrap_or_else(|| (path, partition.start + partition.length));
        let medium = Medium { capacity, ..medium };
        let partition = Some((partition.start, partition.length));
        Ok(Self { medium, partition, start: partition.map(|(start, _)| start), disk })
    }
}
