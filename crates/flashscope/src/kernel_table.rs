//! Tells the kernel that a disk has another partition table.

use std::fmt::Display;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use flashscope_device::layer::Interrupt;
use flashscope_layout::filesystem::Command;
use flashscope_linux::{rescan, run_tool};

use crate::printer::Printer;

/// Has the kernel read the partition table of `disk` again. Image files have none that it knows. An interrupt
/// ends the wait for udisks2.
pub fn read_again(disk: &str, interrupt: &Interrupt, printer: &Printer) {
    let is_disk = std::fs::metadata(disk).is_ok_and(|found| found.file_type().is_block_device());
    if !is_disk {
        return;
    }
    let by_kernel = run_tool(&Command::new("blockdev", ["--rereadpt", disk]));
    // Only root may ask the kernel.
    let failed = match by_kernel {
        Ok(_) => return,
        Err(error) if rustix::process::geteuid().is_root() => Some(error.to_string()),
        Err(_) => rescan(Path::new(disk), interrupt).err().map(|error| error.to_string()),
    };
    if let Some(reason) = failed {
        printer.remark(still_old(disk, reason));
    }
}

fn still_old(disk: &str, reason: impl Display) -> String {
    format!(
        "the kernel still uses the old partition table of {disk}: {reason}; unplug it, and plug it in again"
    )
}
