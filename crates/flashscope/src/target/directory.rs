//! A directory on a mounted stick as a target: a file of its own in it.

use std::path::Path;

use flashscope_device::Device;
use flashscope_device::layer::{Budget, Cost, Fence, Interrupt, Interruptible, Meter};
use flashscope_linux::{
    BackingFilesystem, BenchDirectory, FileSize, FilesError, LinuxDevice, NonStickStorage, Remark, Roots,
    host_disk, identify,
};
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::Instead;
use flashscope_report::files::not_a_stick;

use super::attachment;
use super::base::Base;
use super::link::link;
use super::opened::Target;
use crate::document::Identity;
use crate::exit::{Exit, Failure};
use crate::interrupt;

/// Fills the file before it is measured, and returns the cost.
pub type Filling<'a> = &'a dyn Fn(&mut LinuxDevice, &Interrupt) -> Result<Cost, Failure>;

/// Opens a file of its own in the directory `text`. `size` chooses its size from the backing filesystem. No
/// other file is touched, so no permission is needed. The cost of `filling` counts towards `budget`.
///
/// # Errors
/// Exit code 2 if the directory cannot be used, 3 if the system fails; those of `filling`.
pub fn open_in_directory(
    text: &str,
    size: impl FnOnce(&BackingFilesystem) -> FileSize,
    budget: Budget,
    queue_depth: u32,
    filling: Option<Filling<'_>>,
) -> Result<Target, Failure> {
    let interrupt = interrupt::on_interrupt()?;
    let place = BenchDirectory::open(Path::new(text)).map_err(failure)?;
    let mut device = place.temporary_file(size(place.backing_filesystem()), queue_depth).map_err(failure)?;
    let spent = filling.map_or_else(|| Ok(Cost::default()), |fill| fill(&mut device, &interrupt))?;
    let capacity = place.capacity().map_err(failure)?;
    let ground = place.backing_filesystem();
    let source = Path::new(&ground.source);
    let identity = ground.source.starts_with("/dev/").then(|| identify(source, &Roots::default()));
    let mut remarks: Vec<String> =
        ground.non_stick.iter().map(|no_stick| not_a_stick(instead(*no_stick)).to_owned()).collect();
    remarks.extend(device.remarks().iter().map(ToString::to_string));
    let is_buffered = device.remarks().contains(&Remark::Buffered);
    let whole = device.capabilities().whole();
    Ok(Target {
        text: text.to_owned(),
        name: name(ground, identity.as_ref().map(|identity| identity.name.as_str())),
        identity: describe(ground, whole.length.get()),
        link: identity.as_ref().and_then(link),
        filesystem_capacity: Some(capacity),
        is_buffered,
        // Only the link of the disk counts: its volumes say nothing about the file.
        attachment: Attachment {
            volumes: Vec::new(),
            in_memory: ground.non_stick.contains(&NonStickStorage::Memory),
            host_disk: identity.as_ref().and_then(|_| host_disk(source, &Roots::default())),
            ..identity.as_ref().map_or_else(Attachment::default, attachment::of_real)
        },
        remarks,
        writable: true,
        is_erased: false,
        is_virtual: false,
        failed_requests: 0,
        device: Meter::after(
            spent,
            Interruptible::new(Base::watched(Fence::new(device, whole)), interrupt.clone()),
            budget,
        ),
        interrupt,
    })
}

fn name(ground: &BackingFilesystem, disk: Option<&str>) -> String {
    let filesystem = if ground.filesystem.is_empty() { "an unknown filesystem" } else { &ground.filesystem };
    match disk {
        Some(disk) => format!("directory on {filesystem}, {disk}"),
        None if ground.source.is_empty() => format!("directory on {filesystem}"),
        None => format!("directory on {filesystem} ({})", ground.source),
    }
}

fn describe(ground: &BackingFilesystem, capacity_bytes: u64) -> Identity {
    Identity::Directory {
        filesystem: ground.filesystem.clone(),
        source: ground.source.clone(),
        options: ground.options.clone(),
        capacity_bytes,
    }
}

/// What a directory is on instead of a stick.
pub const fn instead(no_stick: NonStickStorage) -> Instead {
    match no_stick {
        NonStickStorage::Memory => Instead::Memory,
        NonStickStorage::Network => Instead::Network,
        NonStickStorage::Overlay => Instead::Overlay,
        NonStickStorage::UserSpace => Instead::UserSpace,
        NonStickStorage::SystemDisk => Instead::SystemDisk,
    }
}

/// What to say of directories in a folder that could not be read; `None` without any.
pub fn unreadable_remark(directories: u32) -> Option<String> {
    let noun = if directories == 1 { "directory" } else { "directories" };
    (directories > 0).then(|| format!("note: {directories} {noun} in it could not be read"))
}

/// The failure for an error in a directory.
pub fn failure(error: FilesError) -> Failure {
    let exit = match &error {
        FilesError::System { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;

    fn ground(filesystem: &str, source: &str) -> BackingFilesystem {
        BackingFilesystem {
            filesystem: filesystem.to_owned(),
            source: source.to_owned(),
            options: "rw".to_owned(),
            cluster: Bytes::kib(4),
            non_stick: Vec::new(),
        }
    }

    #[test]
    fn directory_is_named_by_its_filesystem_and_by_what_that_lies_on() {
        for (filesystem, source, disk, expected) in [
            ("vfat", "/dev/sdb1", Some("SanDisk Ultra"), "directory on vfat, SanDisk Ultra"),
            ("", "/dev/sdb1", Some("SanDisk Ultra"), "directory on an unknown filesystem, SanDisk Ultra"),
            ("nfs4", "server:/files", None, "directory on nfs4 (server:/files)"),
            ("ext4", "", None, "directory on ext4"),
            ("", "", None, "directory on an unknown filesystem"),
        ] {
            assert_eq!(name(&ground(filesystem, source), disk), expected);
        }
    }

    #[test]
    fn directories_that_could_not_be_read_are_counted_and_none_is_no_remark() {
        assert_eq!(unreadable_remark(0), None);
        assert_eq!(unreadable_remark(1).unwrap(), "note: 1 directory in it could not be read");
        assert_eq!(unreadable_remark(2).unwrap(), "note: 2 directories in it could not be read");
    }
}
