//! A file of flashscope's own that stands for the device under a mounted directory.

use std::cell::Cell;
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::layer::{Budget, Cost, Interrupt, Interruptible, Meter};
use flashscope_device::{ByteRange, Bytes, Device, DeviceError, DeviceExt, FileExtent, Op, Pattern};
use flashscope_linux::{
    BenchDirectory, Disk, FileSize, Identity, LinuxDevice, NonStickStorage, Remark, Rewriting, Roots,
    identify,
};
use flashscope_measure::survey::FilePlace;
use flashscope_measure::{FileWindow, choose_window};
use flashscope_report::files::not_a_stick;

use super::directory::{failure, instead, open_in_directory};
use super::opened::Target;
use super::volumes;
use crate::exit::{Exit, Failure};

/// The size of a write while filling.
const WRITE_SIZE: Bytes = Bytes::mib(1);
/// The space that is reserved where that writes nothing: the best part of it is used.
const RESERVED: Bytes = Bytes::mib(512);

/// A file that stands for the device.
pub struct FileOnDevice {
    /// The file.
    pub target: Target,
    /// The part of it that is used.
    pub in_file: ByteRange,
    /// Where that lies on the device.
    pub place: FilePlace,
}

/// The size of the file that [`open_file_on_device`] makes at most to use `wanted` of it.
///
/// # Errors
/// Exit code 2 where no device is behind the directory `text`.
pub fn file_size_on_device(text: &str, wanted: Bytes) -> Result<Bytes, Failure> {
    let place = BenchDirectory::open(Path::new(text)).map_err(failure)?;
    let ground = place.backing_filesystem();
    refuse_without_device(text, &ground.non_stick)?;
    // A read-only filesystem is refused here.
    place.capacity().map_err(failure)?;
    Ok(file_size(ground.rewriting(), wanted))
}

/// Where space is reserved without writing it, more is reserved than used.
fn file_size(rewriting: Rewriting, wanted: Bytes) -> Bytes {
    if rewriting == Rewriting::InPlaceReserved { RESERVED.max(wanted) } else { wanted }
}

/// Creates a file of about `size` in the directory `text`, and writes it once: the first write to a new block
/// of a file changes the filesystem's tables as well.
///
/// # Errors
/// As [`open_in_directory`]. Exit code 2 where no device is behind the directory, 130 if it is interrupted.
pub fn open_file_on_device(text: &str, size: FileSize, budget: Budget) -> Result<FileOnDevice, Failure> {
    let place = BenchDirectory::open(Path::new(text)).map_err(failure)?;
    let ground = place.backing_filesystem();
    refuse_without_device(text, &ground.non_stick)?;
    let (rewriting, filesystem) = (ground.rewriting(), ground.filesystem.clone());
    let identity = identify(Path::new(&ground.source), &Roots::default());
    let base = base(&identity);
    let wanted = file_size(rewriting, size.wanted);
    let window: Cell<Option<FileWindow>> = Cell::new(None);
    let used = Cell::new(ByteRange::new(Bytes::ZERO, Bytes::ZERO));
    let fill = |device: &mut LinuxDevice, interrupt: &Interrupt| {
        let is_usable = rewriting != Rewriting::Elsewhere && !device.remarks().contains(&Remark::Buffered);
        let chosen = |device: &LinuxDevice| {
            let base = base.filter(|_| is_usable)?;
            choose_window(&on_device(device.places().ok()?, base), size.wanted)
        };
        // Reserved space has its place before it is written.
        let reserved = chosen(device).filter(|_| rewriting == Rewriting::InPlaceReserved);
        let whole = ByteRange::new(Bytes::ZERO, size.wanted.min(device.capabilities().capacity));
        let range = reserved.map_or(whole, |window| ByteRange::new(window.in_file, window.on_device.length));
        let cost = write_once(text, device, interrupt, budget, range)?;
        let inside =
            |window: &FileWindow| range.contains(ByteRange::new(window.in_file, window.on_device.length));
        let written = match reserved {
            Some(reserved) => chosen(device).filter(|written| *written == reserved),
            None => chosen(device).filter(inside),
        };
        window.set(written);
        if written.is_some() {
            device.notice_other_writes();
        }
        used.set(written.map_or(range, |window| ByteRange::new(window.in_file, window.on_device.length)));
        Ok(cost)
    };
    let size = FileSize { wanted, ..size };
    let mut target = open_in_directory(text, |_| size, budget, 1, Some(&fill))?;
    let window = window.get();
    if let (Some(disk), Some(_)) = (&identity.disk, base) {
        target.attachment.volumes = volumes::of_disk(disk);
    }
    target.remarks.push(match window {
        Some(window) => format!(
            "the experiments run where the file lies on the device: {} from {}, a multiple of {}",
            window.on_device.length, window.on_device.offset, window.alignment
        ),
        None => without_place(&filesystem, rewriting, target.is_buffered, base.is_some()),
    });
    let place = FilePlace {
        capacity: identity
            .disk
            .map_or_else(|| target.filesystem_capacity.unwrap_or_default(), |disk| disk.capacity),
        region: window.map(|window| window.on_device),
        is_buffered: target.is_buffered,
    };
    Ok(FileOnDevice { target, in_file: used.get(), place })
}

fn refuse_without_device(text: &str, non_stick: &[NonStickStorage]) -> Result<(), Failure> {
    let is_none = |storage: &&NonStickStorage| {
        matches!(storage, NonStickStorage::Memory | NonStickStorage::Network | NonStickStorage::Overlay)
    };
    let Some(storage) = non_stick.iter().find(is_none) else { return Ok(()) };
    let error = anyhow!(
        "{text}: no stick can be checked there: {}; name a directory on the mounted stick (`flashscope list` shows where)",
        not_a_stick(instead(*storage))
    );
    Err(Failure { exit: Exit::Usage, error })
}

/// Where the filesystem's device begins on its disk. Unknown for a device that the kernel puts together from
/// others.
fn base(identity: &Identity) -> Option<Bytes> {
    let is_mapped = |disk: &Disk| disk.name.starts_with("dm-") || disk.name.starts_with("md");
    identity.disk.as_ref().filter(|disk| !is_mapped(disk))?;
    Some(identity.partition.as_ref().map_or(Bytes::ZERO, |partition| partition.start))
}

fn on_device(extents: Vec<FileExtent>, base: Bytes) -> Vec<FileExtent> {
    extents.into_iter().map(|extent| FileExtent { on_device: extent.on_device + base, ..extent }).collect()
}

fn without_place(filesystem: &str, rewriting: Rewriting, is_buffered: bool, is_plain: bool) -> String {
    let why = if rewriting == Rewriting::Elsewhere {
        format!(
            "{filesystem} does not overwrite data where it lies, so random writes are the filesystem's as well"
        )
    } else if is_buffered {
        "the page cache answers reads, for the filesystem refuses direct I/O or is a program".to_owned()
    } else if !is_plain {
        "the device under the filesystem is put together from others".to_owned()
    } else if rewriting == Rewriting::InPlace && !rustix::process::geteuid().is_root() {
        format!("{filesystem} tells only root where a file lies, or it lies in too many pieces (try sudo)")
    } else {
        "the file is too small, or lies in too many pieces; free some space, or allow more writes (--write-budget)".to_owned()
    };
    format!("only speeds are measured: {why}")
}

/// Writes `range` once.
fn write_once(
    text: &str,
    device: &mut LinuxDevice,
    interrupt: &Interrupt,
    budget: Budget,
    range: ByteRange,
) -> Result<Cost, Failure> {
    let failed = |exit: Exit, error: anyhow::Error| Failure {
        exit,
        error: error.context(format!("cannot fill a file in {text}; the file is removed")),
    };
    let exit_of = |error: &DeviceError| match error {
        DeviceError::Interrupted => Exit::Interrupted,
        DeviceError::BudgetSpent { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    let mut metered = Meter::new(Interruptible::new(device, interrupt.clone()), budget);
    let mut offset = range.offset;
    let run = |metered: &mut Meter<_>, op| {
        let done = metered.run(op).map_err(|error| failed(exit_of(&error), error.into()))?;
        done.outcome.map(|_| ()).map_err(|error| failed(Exit::Failed, error.into()))
    };
    while offset < range.end() {
        let piece = ByteRange::new(offset, WRITE_SIZE.min(range.end() - offset));
        run(&mut metered, Op::write(piece, Pattern::new(0)))?;
        offset = piece.end();
    }
    run(&mut metered, Op::Flush)?;
    Ok(metered.cost())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_why_only_speeds_are_measured_is_the_one_that_holds() {
        let elsewhere = "f2fs does not overwrite data where it lies";
        let cached = "the page cache answers reads";
        let mapped = "the device under the filesystem is put together from others";
        let pieces = "the file is too small, or lies in too many pieces";
        let hidden = "f2fs tells only root where a file lies";
        let in_place = if rustix::process::geteuid().is_root() { pieces } else { hidden };
        for (rewriting, is_buffered, is_plain, why) in [
            (Rewriting::Elsewhere, false, true, elsewhere),
            (Rewriting::Elsewhere, true, false, elsewhere),
            (Rewriting::InPlace, true, true, cached),
            (Rewriting::InPlaceReserved, true, false, cached),
            (Rewriting::InPlace, false, false, mapped),
            (Rewriting::InPlaceReserved, false, false, mapped),
            (Rewriting::InPlace, false, true, in_place),
            (Rewriting::InPlaceReserved, false, true, pieces),
        ] {
            let text = without_place("f2fs", rewriting, is_buffered, is_plain);
            assert!(text.starts_with(&format!("only speeds are measured: {why}")), "{rewriting:?}: {text}");
        }
    }
}
