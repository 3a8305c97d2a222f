//! Which filesystems this system can mount, and how.

use std::fs;
use std::path::Path;

use flashscope_layout::filesystem::Command;

use crate::scratch_files::{run_tool, tool};

/// The filesystems that the kernel has now (proc_filesystems(5)).
const LOADED: &str = "/proc/filesystems";

/// How a filesystem is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountType {
    /// By the kernel's driver.
    Kernel {
        /// The kernel's name of the filesystem.
        filesystem: &'static str,
        /// The options for the driver, with commas between them.
        data: &'static str,
    },
    /// By a program in user space that the kernel's FUSE driver calls.
    Program {
        /// The program. It takes the device and the directory.
        program: &'static str,
    },
}

/// Whether the kernel has a driver for this filesystem, or a module that can be loaded.
#[must_use]
pub fn has_driver(filesystem: &str) -> bool {
    let loaded = fs::read_to_string(Path::new(LOADED)).unwrap_or_default();
    is_listed(&loaded, filesystem) || {
        // Modules announce the filesystems that they drive (MODULE_ALIAS_FS, linux/fs.h).
        let alias = format!("fs-{filesystem}");
        run_tool(&Command::new("modprobe", ["--dry-run", "--quiet", &alias])).is_ok()
    }
}

/// Whether this program is installed, and the kernel can call it.
#[must_use]
pub fn has_mount_program(program: &str) -> bool {
    tool(program).is_some() && has_driver("fuseblk")
}

/// Whether a list of filesystems has this name: one each line, `nodev` before those without a device.
fn is_listed(list: &str, filesystem: &str) -> bool {
    list.lines().any(|line| line.split_whitespace().last() == Some(filesystem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_name_is_listed() {
        let list = "nodev\tsysfs\n\text4\n\tfuseblk\nnodev\tfuse\n";
        assert!(is_listed(list, "ext4") && is_listed(list, "fuse") && is_listed(list, "sysfs"));
        assert!(!is_listed(list, "ext") && !is_listed(list, "nodev") && !is_listed("", "ext4"));
        assert!(!has_driver("no-such-filesystem") && !has_mount_program("no-such-program"));
    }

    /// Every system on which tests run has proc. No module has it.
    #[test]
    fn filesystem_that_the_kernel_has_needs_no_module() {
        assert!(has_driver("proc"));
    }
}
