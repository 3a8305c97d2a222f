//! A folder on a mounted stick as a target: a file of our own in it.

use std::path::Path;

use flashscope_device::Device;
use flashscope_device::layer::{Budget, Cost, Fence, Interrupt, Interruptible, Meter};
use flashscope_linux::{
    BackingFilesystem, BenchDirectory, FileSize, FilesError, LinuxDevice, NonStickStorage, Remark, Roots,
    identify,
};
use flashscope_record::attachment::Attachment;
use flashscope_record::observation::Instead;
use serde_json::{Value, json};

use super::{Target, attachment, link};
use crate::exit::{Exit, Failure};
use crate::interrupt;

/// What is done with a file of our own before it is measured, with what that may cost, and what it did cost.
pub type Filling<'a> = &'a dyn Fn(&mut LinuxDevice, &Interrupt) -> Result<Cost, Failure>;

/// Opens a file of our own in the folder that `text` names, as large as `size` says of what the folder lies on. Nothing else in it is
/// touched, so no permission is asked for. `filling` is counted along.
///
/// # Errors
/// Exit code 2 for a folder that cannot be used so, 3 if the system fails; as `filling`.
pub fn open_in_folder(
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
    let around = place.capacity().map_err(failure)?;
    let ground = place.backing_filesystem();
    let identity = ground.source.starts_with("/dev/").then(|| {
        let source = Path::new(&ground.source);
        identify(source, &Roots::default())
    });
    let mut remarks: Vec<String> =
        ground.non_stick.iter().map(|no_stick| instead(*no_stick).text().to_owned()).collect();
    remarks.extend(device.remarks().iter().map(ToString::to_string));
    let is_buffered = device.remarks().contains(&Remark::Buffered);
    let whole = device.capabilities().whole();
    Ok(Target {
        text: text.to_owned(),
        name: name(ground, identity.as_ref().map(|identity| identity.name.as_str())),
        identity: describe(ground, whole.length.get()),
        link: identity.as_ref().and_then(link),
        around: Some(around),
        is_buffered,
        // Of the disk below, nothing but the link: what lies on it is not where the file was measured.
        attachment: Attachment {
            volumes: Vec::new(),
            in_memory: ground.non_stick.contains(&NonStickStorage::Memory),
            ..identity.as_ref().map_or_else(Attachment::default, attachment::of_real)
        },
        remarks,
        writable: true,
        is_virtual: false,
        failed_requests: 0,
        device: Meter::after(
            spent,
            Interruptible::new(Box::new(Fence::new(device, whole)), interrupt.clone()),
            budget,
        ),
        interrupt,
    })
}

fn name(ground: &BackingFilesystem, disk: Option<&str>) -> String {
    let filesystem = if ground.filesystem.is_empty() { "an unknown filesystem" } else { &ground.filesystem };
    match disk {
        Some(disk) => format!("folder on {filesystem}, {disk}"),
        None if ground.source.is_empty() => format!("folder on {filesystem}"),
        None => format!("folder on {filesystem} ({})", ground.source),
    }
}

fn describe(ground: &BackingFilesystem, capacity_bytes: u64) -> Value {
    json!({
        "kind": "folder",
        "filesystem": ground.filesystem,
        "source": ground.source,
        "options": ground.options,
        "capacity_bytes": capacity_bytes,
    })
}

/// What a folder lies on instead of a stick.
pub const fn instead(no_stick: NonStickStorage) -> Instead {
    match no_stick {
        NonStickStorage::Memory => Instead::Memory,
        NonStickStorage::Network => Instead::Network,
        NonStickStorage::Overlay => Instead::Overlay,
        NonStickStorage::UserSpace => Instead::UserSpace,
        NonStickStorage::SystemDisk => Instead::SystemDisk,
    }
}

/// What an error in a folder leads to.
pub fn failure(error: FilesError) -> Failure {
    let exit = match &error {
        FilesError::System { .. } => Exit::Failed,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}
