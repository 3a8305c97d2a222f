//! Tells the kernel that a disk has another partition table.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use flashscope_layout::filesystem::Command;
use flashscope_linux::{rescan, run_tool};

use crate::printer::Printer;

/// Has the kernel read the partition table of `disk` again. Image files have none that it knows.
pub fn read_again(disk: &str, printer: &Printer) {
    let is_disk = std::fs::metadata(disk).is_ok_and(|found| found.file_type().is_block_device());
    let by_kernel = || run_tool(&Command::new("blockdev", ["--rereadpt", disk])).is_ok();
    // Only root may ask the kernel.
    let by_udisks = || !rustix::process::geteuid().is_root() && rescan(Path::new(disk)).is_ok();
    if is_disk && !by_kernel() && !by_udisks() {
        printer.remark(format!(
            "the kernel still uses the old partition table of {disk}: unplug it, and plug it in again"
        ));
    }
}
