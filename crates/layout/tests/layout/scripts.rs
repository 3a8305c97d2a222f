//! The script of a plan, run by sh where every other program is a stand-in: no disk is written.

use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flashscope_device::Bytes;
use flashscope_layout::{EraseBlock, EraseBlockSource, Identity, Medium, Purpose, Wish, steps};

use crate::tool_host::skip_because;

/// The bytes of the disk, as planned and as blockdev tells them.
const CAPACITY: Bytes = Bytes::gib(1);

/// A disk without a serial number, like most cards.
fn script() -> String {
    let medium = Medium {
        target: "/dev/sdb".to_owned(),
        capacity: CAPACITY,
        true_size: None,
        logical_block: Bytes::new(512),
        erase_block: EraseBlock { size: Bytes::mib(4), source: EraseBlockSource::Given },
        fat_area: None,
        identity: Identity { capacity: CAPACITY, ..Identity::default() },
    };
    let plan = flashscope_layout::plan(&medium, &Wish::new(Purpose::LinuxData, 7)).unwrap();
    steps::script(&plan, &mut |_| None).unwrap()
}

/// A folder with the script and the stand-ins that it finds on its path.
struct Machine {
    folder: tempfile::TempDir,
    /// Any disk: the stand-ins do not touch it.
    disk: PathBuf,
}

impl Machine {
    /// `None`, with a message, where no disk has a device file.
    fn new() -> Option<Self> {
        let is_disk = |path: &PathBuf| path.metadata().is_ok_and(|found| found.file_type().is_block_device());
        let Some(disk) = std::fs::read_dir("/dev").unwrap().flatten().map(|entry| entry.path()).find(is_disk)
        else {
            skip_because("there is no block device here");
            return None;
        };
        let machine = Self { folder: tempfile::tempdir().unwrap(), disk };
        std::fs::create_dir(machine.programs()).unwrap();
        std::fs::write(machine.folder.path().join("script.sh"), script()).unwrap();
        let sed = ["/usr/bin/sed", "/bin/sed"].into_iter().map(Path::new).find(|path| path.exists()).unwrap();
        symlink(sed, machine.programs().join("sed")).unwrap();
        machine.stand_in("blockdev", &format!("echo {}", CAPACITY.get()));
        // The first program that would write ends the script.
        machine.stand_in("dd", "echo \"written: $*\"; exit 9");
        Some(machine)
    }

    fn programs(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn stand_in(&self, program: &str, body: &str) {
        let file = self.programs().join(program);
        std::fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// An lsblk that prints this serial number, these mount points and these types.
    fn lsblk(&self, serial: &str, mounts: &str, types: &str) {
        self.stand_in(
            "lsblk",
            &format!(
                "case $* in *SERIAL*) printf '{serial}' ;; *MOUNTPOINT*) printf '{mounts}' ;; *) printf '{types}' ;; esac"
            ),
        );
    }

    fn run(&self) -> Output {
        Command::new("/bin/sh")
            .arg(self.folder.path().join("script.sh"))
            .arg(&self.disk)
            .env("PATH", self.programs())
            .output()
            .unwrap()
    }

    fn assert_refused(&self, because: &str) {
        let output = self.run();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (written, messages) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(written, "", "{because}: {messages}");
        assert_eq!(output.status.code(), Some(4), "{because}: {messages}");
        assert!(messages.contains(because) && messages.contains("nothing was written"), "{messages}");
    }
}

#[test]
fn script_without_an_lsblk_that_works_writes_nothing() {
    let Some(machine) = Machine::new() else { return };
    machine.assert_refused("lsblk cannot tell its serial number");
    machine.stand_in("lsblk", "exit 1");
    machine.assert_refused("lsblk cannot tell its serial number");
    machine.stand_in("lsblk", "case $* in *SERIAL*) echo ;; *) exit 1 ;; esac");
    machine.assert_refused("lsblk cannot tell whether it is mounted");
    machine.stand_in("lsblk", "case $* in *TYPE*) exit 1 ;; *) echo ;; esac");
    machine.assert_refused("lsblk cannot tell what uses it");
    machine.lsblk("", "", "");
    machine.assert_refused("lsblk cannot tell what uses it");
    machine.stand_in("blockdev", "exit 1");
    machine.assert_refused("blockdev cannot tell its size");
}

#[test]
fn script_writes_only_to_a_free_disk_with_the_planned_serial_number() {
    let Some(machine) = Machine::new() else { return };
    for (serial, mounts, types, because) in [
        ("4C53\\n", "\\n", "disk\\n", "its serial number is '4C53', not ''"),
        ("\\n", "\\n\\n/media/a stick\\n", "disk\\npart\\n", "it is mounted"),
        ("\\n", "[SWAP]\\n", "disk\\n", "it is mounted"),
        ("\\n", "\\n\\n", "disk\\npart\\ncrypt\\n", "LVM, RAID or encryption uses it"),
    ] {
        machine.lsblk(serial, mounts, types);
        machine.assert_refused(because);
    }
    for types in ["disk\\n", "disk\\npart\\npart\\n", "loop \\npart\\n"] {
        machine.lsblk(" \\n", "\\n\\n", types);
        let output = machine.run();
        let written = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            written.starts_with("written: if=/dev/zero of="),
            "{types}: {written}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn script_names_partitions_as_udev_and_the_kernel_do() {
    let script = script();
    let line = script.lines().find(|line| line.starts_with("case $disk in /dev/disk/")).unwrap();
    for (disk, partition) in [
        ("/dev/disk/by-id/usb-Stick_1-0:0", "/dev/disk/by-id/usb-Stick_1-0:0-part1"),
        ("/dev/mmcblk0", "/dev/mmcblk0p1"),
        ("/dev/sdb", "/dev/sdb1"),
    ] {
        let shell = format!("disk={disk}; {line}\necho \"$disk${{p}}1\"");
        let output = Command::new("/bin/sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), partition);
        assert_eq!(steps::partition_path(disk, 1), partition);
    }
}
