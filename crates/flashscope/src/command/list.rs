//! `flashscope list`: the disks of this machine, plainly.

use std::fmt::Write as _;

use flashscope_linux::{Disk, Roots, list};
use serde_json::json;

use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 3 if the system has no list of disks.
pub fn run(printer: &Printer) -> Result<Exit, Failure> {
    let disks = list(&Roots::default()).or_exit_bare(Exit::Failed)?;
    if printer.json {
        let disks: Vec<_> = disks.iter().map(json::disk).collect();
        printer.document(&json::document(json!({ "disks": disks })))?;
        return Ok(Exit::Fine);
    }
    let mut text = String::new();
    for disk in &disks {
        let _infallible = writeln!(text, "{}", line(disk));
    }
    printer.result(&text)?;
    if disks.is_empty() {
        printer
            .remark("no disks; plug a stick in, or try a virtual one: flashscope check sim:patriot-xt-16g");
    }
    Ok(Exit::Fine)
}

fn line(disk: &Disk) -> String {
    let names: Vec<&str> = [&disk.vendor, &disk.model].into_iter().flatten().map(String::as_str).collect();
    let link = disk.usb.as_ref().and_then(|usb| usb.link_mbit_per_s).map(|mbit| format!(" {mbit} Mbit/s"));
    let mounts: Vec<&str> = disk.mounts.iter().map(|mount| mount.path.as_str()).collect();
    let mounts = if mounts.is_empty() { String::new() } else { format!("  mounted: {}", mounts.join(", ")) };
    let capacity = if disk.capacity.is_zero() { "no medium".to_owned() } else { disk.capacity.to_string() };
    format!(
        "{:14} {capacity:>10}  {}{}  {}{mounts}",
        disk.path.display().to_string(),
        disk.bus.as_str(),
        link.unwrap_or_default(),
        names.join(" ")
    )
    .trim_end()
    .to_owned()
}
