//! What the kernel and udev report about a device: descriptors and registers come from the device itself.

use std::path::Path;
use std::process::Command;

use flashscope_linux::{Roots, list};

use super::testdata;
use crate::target::Target;

/// Files of a copied machine: the machine, the file, the target's name.
const FILES: [(&str, &str, &str); 8] = [
    ("desktop", "sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/descriptors", "usb descriptors"),
    ("desktop", "sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/bos_descriptors", "usb bos descriptors"),
    ("raspberry-pi", CID, "card register cid"),
    ("raspberry-pi", CSD, "card register csd"),
    ("raspberry-pi", SCR, "card register scr"),
    ("raspberry-pi", SSR, "card register ssr"),
    ("desktop", "proc/self/mountinfo", "list of mounts"),
    ("desktop", "run/udev/data/b8:17", "udev database"),
];
const CID: &str = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/cid";
const CSD: &str = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/csd";
const SCR: &str = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/scr";
const SSR: &str = "sys/devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/ssr";

pub fn targets() -> std::io::Result<Vec<Target>> {
    FILES.iter().map(|(machine, file, name)| target(machine, file, name)).collect()
}

/// Lists the disks of a copy of `machine` whose `file` holds the input.
fn target(machine: &str, file: &str, name: &'static str) -> std::io::Result<Target> {
    let directory = tempfile::tempdir()?;
    let from = testdata("sysfs").join(machine).join(".");
    let copied = Command::new("cp").arg("-a").arg(from).arg(directory.path()).status()?;
    if !copied.success() {
        return Err(std::io::Error::other("cp cannot copy the test data"));
    }
    let path = directory.path().join(file);
    let sample = std::fs::read(&path)?;
    let roots = Roots::copy(directory.path());
    Ok(Target::new(name, vec![sample], move |input| {
        let _keep: &Path = directory.path();
        std::fs::write(&path, input).is_ok() && list(&roots).is_ok()
    }))
}
