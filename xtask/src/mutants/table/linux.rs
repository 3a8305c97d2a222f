//! Guards over what is opened for writing.

use super::Mutant;

/// Which disks may be erased, from copies of sysfs.
const LINUX_UNITS: &[&str] = &["--package", "flashscope-linux", "--lib", "erasable"];
/// Which files may be erased.
const IMAGES: &[&str] = &["--package", "flashscope-linux", "--lib", "image_file"];
/// Opening for writing, on images.
const OPENING: &[&str] = &["--package", "flashscope-linux", "--lib", "open::"];
/// Opening for writing, on loop devices.
const LINUX_LOOPS: &[&str] = &["--package", "flashscope-linux", "--test", "linux", "loop_device"];

const ERASABLE: &str = "crates/linux/src/erasable.rs";
const OPEN: &str = "crates/linux/src/open.rs";
const SYSFS: &str = "crates/linux/src/sysfs.rs";
const IMAGE_FILE: &str = "crates/linux/src/image_file.rs";
const CLASSIFY: &str = "crates/linux/src/classify.rs";

/// What `bench methods` writes to.
const WRITE_TARGETS: &[&str] = &["--package", "flashscope-linux", "--lib", "write_target"];
const WRITE_TARGET: &str = "crates/linux/src/write_target.rs";

/// Mounts for trials.
const TRIAL_MOUNTS: &[&str] = &["--package", "flashscope-linux", "--lib", "trial_mount"];

/// The guards.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "files of a trial are written to another medium",
        file: "crates/linux/src/trial_mount/mod.rs",
        from: "medium.is_some() && medium.as_deref() == consent.medium()",
        to: "medium.is_some() || consent.medium().is_some()",
        test: TRIAL_MOUNTS,
    },
    Mutant {
        name: "O_EXCL dropped for disks",
        file: OPEN,
        from: "{ OFlags::EXCL } else",
        to: "{ OFlags::empty() } else",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "a loop device over a disk counts as one over a file",
        file: SYSFS,
        from: "self.loop_backing().filter(fs::Metadata::is_file)",
        to: "self.loop_backing()",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "the mark of a loop device does not name its file",
        file: ERASABLE,
        from: r#"format!("{} {count} {}:{} {}", node.name(), file.dev(), file.ino(), node.size().get())"#,
        to: r#"format!("{} {}", node.name(), node.size().get())"#,
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "an image under a loop device is written",
        file: OPEN,
        from: "Some(user) => Err(OpenError::InUse { path, user: Some(user) }),",
        to: "Some(_) => Ok(()),",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "a swap file is written",
        file: IMAGE_FILE,
        from: "if is_swap(&file, roots) {",
        to: "if false && is_swap(&file, roots) {",
        test: IMAGES,
    },
    Mutant {
        name: "a text file is written",
        file: IMAGE_FILE,
        from: "start.starts_with(b\"#!\") || (",
        to: "start.starts_with(b\"#!\") && (",
        test: IMAGES,
    },
    Mutant {
        name: "a file of odd size is written",
        file: IMAGE_FILE,
        from: "} else if !size.is_multiple_of(SECTOR.get()) {",
        to: "} else if false && !size.is_multiple_of(SECTOR.get()) {",
        test: IMAGES,
    },
    Mutant {
        name: "a file that is no image is opened for writing without force",
        file: OPEN,
        from: "        examine_image(self.path, consent.includes_other_files(), &Roots::default())?;\n",
        to: "",
        test: OPENING,
    },
    Mutant {
        name: "consent for another path is enough",
        file: OPEN,
        from: "if self.path.to_str() != Some(consent.target()) {",
        to: "if false {",
        test: OPENING,
    },
    Mutant {
        name: "the kind of what was opened is not examined",
        file: OPEN,
        from: "if self.kind_of(&stat)? != kind {",
        to: "if false {",
        test: OPENING,
    },
    Mutant {
        name: "the disk that was opened is not permitted again",
        file: OPEN,
        from: "                self.permit_disk(Sysfs::default().node_of_file(&file), consent)?;\n",
        to: "",
        test: OPENING,
    },
    Mutant {
        name: "a locked image is written",
        file: OPEN,
        from: "            self.lock(&file, kind)?;\n",
        to: "",
        test: OPENING,
    },
    Mutant {
        name: "a full test removes files that are not its own",
        file: "crates/linux/src/files/free_space.rs",
        from: "if is_file && entry.file_name().to_str().is_some_and(is_own) {",
        to: "if is_file {",
        test: &["--package", "flashscope-linux", "--lib", "free_space"],
    },
    Mutant {
        name: "removable disks on any bus are erased",
        file: ERASABLE,
        from: "matches!(disk.bus, Bus::Usb | Bus::Mmc) && disk.is_stick_or_card()",
        to: "disk.is_stick_or_card()",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "any kind of disk on USB and MMC is erased",
        file: ERASABLE,
        from: " && disk.is_stick_or_card() && disk.kind",
        to: " && disk.kind",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "parts of eMMC chips count as cards",
        file: CLASSIFY,
        from: r#"["boot", "rpmb", "gp"]"#,
        to: r#"["gp"]"#,
        test: LINUX_UNITS,
    },
    Mutant {
        name: "eMMC chips count as cards",
        file: CLASSIFY,
        from: "Bus::Mmc if is_soldered(disk) => DiskKind::Embedded,",
        to: "Bus::Mmc if is_soldered(disk) => DiskKind::Card,",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "optical drives count as sticks",
        file: CLASSIFY,
        from: "_ if is_optical => DiskKind::Optical,",
        to: "_ if is_optical && disk.bus != Bus::Usb => DiskKind::Optical,",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "the system disk is erased",
        file: ERASABLE,
        from: "if disk.holds_the_system() {",
        to: "if false {",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "only / and /boot count as the system",
        file: "crates/linux/src/disk.rs",
        from: r#"["/", "/usr", "/var", "/home", "/nix", "/boot", "/boot/efi", "/boot/firmware", "/efi"]"#,
        to: r#"["/", "/", "/", "/", "/", "/boot", "/boot", "/boot", "/boot"]"#,
        test: LINUX_UNITS,
    },
    Mutant {
        name: "disks that take no writes are erased",
        file: ERASABLE,
        from: r#"if node.is_set("ro") {"#,
        to: "if false {",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "holders do not count",
        file: ERASABLE,
        from: "holder.or_else(mount)",
        to: "holder.filter(|_| false).or_else(mount)",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "mounts do not count",
        file: ERASABLE,
        from: ".or_else(mount).or_else(swap)",
        to: ".or_else(swap)",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "swap space does not count",
        file: ERASABLE,
        from: ".or_else(swap).or_else(attached)",
        to: ".or_else(attached)",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "loop devices over a disk do not count",
        file: ERASABLE,
        from: ".or_else(swap).or_else(attached)",
        to: ".or_else(swap)",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "users of the whole disk do not count for a partition",
        file: ERASABLE,
        from: ".chain(&whole).chain(parts)",
        to: ".chain(parts)",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "consent without a medium erases a disk",
        file: ERASABLE,
        from: r#"None => Err(OpenError::NotConsented { path, consented: "an image file".to_owned() }),"#,
        to: "None => Ok(()),",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "consent for another medium is enough",
        file: ERASABLE,
        from: "Some(medium) if medium == erasable.medium => Ok(()),",
        to: "Some(medium) if !medium.is_empty() => Ok(()),",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "the serial number is not in the medium's mark",
        file: ERASABLE,
        from: "&count, &disk.vendor, &disk.model, &disk.serial]",
        to: "&count, &disk.vendor, &disk.model]",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "the model is not in the medium's mark",
        file: ERASABLE,
        from: "&count, &disk.vendor, &disk.model, &disk.serial]",
        to: "&count, &disk.serial]",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "an image is free if its loop device shows a removed path",
        file: SYSFS,
        from: "shown.or_else(|| backing_inode(Path::new(&device)))",
        to: "shown",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "the medium is not compared before the first write",
        file: "crates/linux/src/device.rs",
        from: "self.check_medium()?;",
        to: "",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "the kernel's disk counter is not in the medium's mark",
        file: ERASABLE,
        from: "&count, &disk.vendor, &disk.model, &disk.serial]",
        to: "&disk.vendor, &disk.model, &disk.serial]",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "the size is not in the medium's mark",
        file: ERASABLE,
        from: r#"format!("{} {}", marks.join(" "), disk.capacity.get())"#,
        to: r#"marks.join(" ")"#,
        test: LINUX_UNITS,
    },
    Mutant {
        name: "any path counts as a persistent name",
        file: ERASABLE,
        from: "directory.is_some() && path.parent() == directory.as_deref()",
        to: "directory.is_some() || path.parent() == directory.as_deref()",
        test: LINUX_UNITS,
    },
    Mutant {
        name: "the journal lies on the disk that it saves",
        file: "crates/linux/src/journal.rs",
        from: "if lies_on(folder, target) {",
        to: "if false && lies_on(folder, target) {",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "a mounted loop device is not looked at",
        file: ERASABLE,
        from: "    refuse_users(node, &identity, path, roots)?;\n    let medium = loop_mark",
        to: "    let _ = (&identity, roots);\n    let medium = loop_mark",
        test: LINUX_LOOPS,
    },
    Mutant {
        name: "bench methods writes to another medium",
        file: WRITE_TARGET,
        from: "        device.check_medium().map_err(|error| WriteTargetError::Device { path: self.path.clone(), error })",
        to: "        Ok(())",
        test: WRITE_TARGETS,
    },
];
