//! The guards of data, and the mutation that removes each.

/// One guard, without it.
pub struct Mutant {
    /// What the program does without the guard.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// Source text that is in the file once.
    pub from: &'static str,
    /// What takes its place.
    pub to: &'static str,
    /// Arguments for `cargo test`, then the filter of the tests that must fail.
    pub test: &'static [&'static str],
}

/// Which disks may be erased, from copies of sysfs.
const LINUX_UNITS: &[&str] = &["--package", "flashscope-linux", "--lib", "erasable"];
/// Which files may be erased.
const IMAGES: &[&str] = &["--package", "flashscope-linux", "--lib", "image_file"];
/// Opening for writing, on images.
const OPENING: &[&str] = &["--package", "flashscope-linux", "--lib", "open::"];
/// Opening for writing, on loop devices.
const LINUX_LOOPS: &[&str] = &["--package", "flashscope-linux", "--test", "linux", "loop_device"];
/// What `bench methods` writes to.
const WRITE_TARGETS: &[&str] = &["--package", "flashscope-linux", "--lib", "write_target"];
/// The layers around every device.
const LAYERS: &[&str] = &["--package", "flashscope-device", "--test", "device", "layers"];
/// Plans and undo files, on devices in memory.
const LAYOUT: &[&str] = &["--package", "flashscope-layout", "--test", "layout", "undo"];
/// Scripts of plans, with stand-ins for all programs.
const SCRIPTS: &[&str] = &["--package", "flashscope-layout", "--test", "layout", "scripts"];
/// What confirms, and where outputs go.
const CONFIRM: &[&str] = &["--package", "flashscope", "--bin", "flashscope", "::tests::"];
/// The whole program, on a pseudo-terminal.
const CLI: &[&str] = &["--package", "flashscope", "--test", "cli", "confirmations"];
/// Ctrl-C at a question.
const INTERRUPTS: &[&str] = &["--package", "flashscope", "--test", "cli", "interrupts::"];
/// Unfinished journals.
const SCRATCH: &[&str] = &["--package", "flashscope", "--test", "cli", "scratch::"];
/// Full capacity tests, on images and mounts.
const FULL: &[&str] = &["--package", "flashscope", "--test", "cli", "full_verifies"];
/// Disks that udisks2 opens.
const UDISKS: &[&str] = &["--package", "flashscope", "--test", "cli", "udisks::"];

const ERASABLE: &str = "crates/linux/src/erasable.rs";
const OPEN: &str = "crates/linux/src/open.rs";
const WRITE_TARGET: &str = "crates/linux/src/write_target.rs";
const SYSFS: &str = "crates/linux/src/sysfs.rs";
const IMAGE_FILE: &str = "crates/linux/src/image_file.rs";
const CLASSIFY: &str = "crates/linux/src/classify.rs";
const CHECK: &str = "crates/layout/src/apply/check.rs";
const UNDO: &str = "crates/layout/src/apply/undo.rs";
const STEPS: &str = "crates/layout/src/steps.rs";
const BENCH_METHODS: &str = "crates/flashscope/src/command/bench/methods.rs";
const CONFIRMING: &str = "crates/flashscope/src/confirm.rs";
const DESTINATION: &str = "crates/flashscope/src/destination.rs";

/// Every guard over what may write, erase, confirm, restore or replace.
/// Sorted by crate, so that each is built as seldom as possible.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "O_EXCL dropped for disks",
        file: OPEN,
        from: "{ OFlags::EXCL } else",
        to: "{ OFlags::empty() } else",
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
        name: "the layer for reading passes writes",
        file: "crates/device/src/layer/read_only.rs",
        from: "if !op.modifies() {",
        to: "if true || !op.modifies() {",
        test: LAYERS,
    },
    Mutant {
        name: "the fence passes every request",
        file: "crates/device/src/layer/fence.rs",
        from: "op.range().is_none_or(|range| self.fence.contains(range))",
        to: "op.range().is_none_or(|range| self.fence.overlaps(range))",
        test: LAYERS,
    },
    Mutant {
        name: "a plan for another size is applied",
        file: CHECK,
        from: "if capabilities.capacity != plan.medium.capacity {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "a plan for other logical blocks is applied",
        file: CHECK,
        from: "if block != plan.medium.logical_block {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may overlap and lie on the table",
        file: CHECK,
        from: "placement.start >= end && ",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may lie beyond the end",
        file: CHECK,
        from: "if fits && is_whole",
        to: "if is_whole",
        test: LAYOUT,
    },
    Mutant {
        name: "partitions may lie between blocks",
        file: CHECK,
        from: "if fits && is_whole &&",
        to: "if fits &&",
        test: LAYOUT,
    },
    Mutant {
        name: "options of an edited plan reach the tools",
        file: CHECK,
        from: "option::unknown(&placement.options, filesystem.options())",
        to: "option::unknown(&[], filesystem.options())",
        test: LAYOUT,
    },
    Mutant {
        name: "mount options of an edited plan are printed",
        file: CHECK,
        from: "!filesystem.mount_options().contains(&word.as_str())",
        to: "filesystem.mount_options().is_empty() && word.is_empty()",
        test: LAYOUT,
    },
    Mutant {
        name: "the partition type of an edited plan reaches sfdisk",
        file: CHECK,
        from: "if partition.type_code != filesystem.type_code(placement, table) {",
        to: "if partition.type_code.is_empty() {",
        test: LAYOUT,
    },
    Mutant {
        name: "identifiers of an edited plan reach the tools",
        file: CHECK,
        from: "if !is_identifier(text) {",
        to: "if false && !is_identifier(text) {",
        test: LAYOUT,
    },
    Mutant {
        name: "the table's identifier of an edited plan reaches the tools",
        file: CHECK,
        from: "if !is_identifier(&plan.table.id) {",
        to: "if false && !is_identifier(&plan.table.id) {",
        test: LAYOUT,
    },
    Mutant {
        name: "labels of an edited plan reach the tools",
        file: CHECK,
        from: "    filesystem.check_label(&partition.label).map_err(|error| impossible(error.to_string()))?;\n",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "apply writes before the undo file is durable",
        file: "crates/layout/src/apply/run.rs",
        from: "    undo.make_durable().map_err(UndoError::from)?;\n",
        to: "",
        test: LAYOUT,
    },
    Mutant {
        name: "a damaged undo file is restored",
        file: UNDO,
        from: "if read_number(file, &saved.range().to_string())? != sum.get().checksum {",
        to: r#"if false && read_number(file, "")? != sum.get().checksum {"#,
        test: LAYOUT,
    },
    Mutant {
        name: "undo of a medium of another size",
        file: UNDO,
        from: "if capacity != header.identity.capacity {",
        to: "if false {",
        test: LAYOUT,
    },
    Mutant {
        name: "undo of a medium on which nothing is recognised",
        file: UNDO,
        from: "self.recognised > 0 || (self.was_blank && self.fingerprint_changed == 0)",
        to: "self.recognised > 0 || self.was_blank || self.fingerprint_changed > 0",
        test: LAYOUT,
    },
    Mutant {
        name: "identities always match",
        file: "crates/layout/src/medium.rs",
        from: "        self == other\n",
        to: "        self.capacity == other.capacity\n",
        test: CONFIRM,
    },
    Mutant {
        name: "undo of another stick",
        file: "crates/flashscope/src/command/undo.rs",
        from: "if header.identity.matches(found) {",
        to: "if header.identity.matches(found) || true {",
        test: CONFIRM,
    },
    Mutant {
        name: "a plan for another stick is applied",
        file: "crates/flashscope/src/command/apply.rs",
        from: "if expected.matches(found) {",
        to: "if expected.matches(found) || true {",
        test: CONFIRM,
    },
    Mutant {
        name: "a script writes where lsblk fails",
        file: STEPS,
        from: r#" || fail "lsblk cannot tell whether it is mounted""#,
        to: " || true",
        test: SCRIPTS,
    },
    Mutant {
        name: "bench methods writes to a stick whose data is not back",
        file: BENCH_METHODS,
        from: "drop(target::open(name, Some(&consent), Budget::UNLIMITED)?);",
        to: "let _ = Budget::UNLIMITED;",
        test: SCRATCH,
    },
    Mutant {
        name: "--yes alone erases what a loop device is attached to",
        file: CONFIRMING,
        from: "        Yes::Plain => anyhow!(\n            \"{target} may be attached",
        to: "        Yes::Plain if !option.is_empty() => return Ok(()),\n        Yes::Plain => anyhow!(\n            \"{target} may be attached",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes=PATH takes any path for a loop device",
        file: CONFIRMING,
        from: "id(one).is_some() && id(one) == id(other)",
        to: "id(one).is_some()",
        test: CONFIRM,
    },
    Mutant {
        name: "the beginning of the name confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(typed) if answers.iter().any(|answer| answer.starts_with(&typed)) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "a name that begins like the disk's confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(typed) if answers.iter().any(|answer| typed.starts_with(answer)) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "any answer confirms",
        file: CONFIRMING,
        from: "Some(typed) if answers.contains(&typed) =>",
        to: "Some(_) =>",
        test: CONFIRM,
    },
    Mutant {
        name: "--yes takes any name of a disk",
        file: CONFIRMING,
        from: "permit_without_asking(self.target, self.roots)?",
        to: "()",
        test: CONFIRM,
    },
    Mutant {
        name: "consent does not name the medium",
        file: CONFIRMING,
        from: "Some(disk) => consent.of_medium(&disk.medium),",
        to: "Some(_) => consent,",
        test: CONFIRM,
    },
    Mutant {
        name: "an output replaces a disk",
        file: DESTINATION,
        from: "Ok(metadata) if metadata.is_file() => fs::canonicalize",
        to: "Ok(metadata) if !metadata.is_dir() => fs::canonicalize",
        test: CONFIRM,
    },
    Mutant {
        name: "an output goes to a character device with data",
        file: DESTINATION,
        from: "1 => NULL_ZERO_FULL.contains(&minor(device)),",
        to: "1 => true,",
        test: CONFIRM,
    },
    Mutant {
        name: "a stream that became a file is written",
        file: DESTINATION,
        from: "if !is_stream(&stream.metadata()?) {",
        to: "if false && !is_stream(&stream.metadata()?) {",
        test: CONFIRM,
    },
    Mutant {
        name: "an undo file replaces another one",
        file: "crates/flashscope/src/undo_file.rs",
        from: "partial.persist_noclobber(&self.path)",
        to: "partial.persist(&self.path)",
        test: CONFIRM,
    },
    Mutant {
        name: "an answer from a pipe confirms",
        file: "crates/flashscope/src/printer.rs",
        from: "if !io::stdin().is_terminal() {\n            return Ok(None);",
        to: "if false {\n            return Ok(None);",
        test: CLI,
    },
    Mutant {
        name: "an interrupt at a question is not noticed",
        file: "crates/flashscope/src/interrupt.rs",
        from: "Ok((!interrupt.is_requested()).then(",
        to: "Ok(true.then(",
        test: INTERRUPTS,
    },
    Mutant {
        name: "a journal that cannot be read is ignored",
        file: "crates/flashscope/src/scratch/unfinished.rs",
        from: "header(&path).map_err(refused)?;",
        to: "header(&path).unwrap_or_default();",
        test: SCRATCH,
    },
    Mutant {
        name: "an unfinished journal is ignored",
        file: "crates/flashscope/src/scratch/unfinished.rs",
        from: "if header.is_some_and(|header| is_of(&header, target)) {",
        to: "if header.is_some_and(|header| is_of(&header, target)) && false {",
        test: SCRATCH,
    },
    Mutant {
        name: "only the own folder of journals is searched",
        file: "crates/flashscope/src/scratch/folder.rs",
        from: "[self.named.clone(), self.own(), self.other()]",
        to: "[self.named.clone(), self.own(), None]",
        test: SCRATCH,
    },
    Mutant {
        name: "a full test continues on a medium that was used since",
        file: "crates/flashscope/src/full_state.rs",
        from: "            if holds_stamps(device, &state.stored.progress).or_exit_bare(Exit::Failed)? {\n                return",
        to: "            if true {\n                return",
        test: FULL,
    },
    Mutant {
        name: "a directory that lies on no stick is filled",
        file: "crates/flashscope/src/command/verify_free_space.rs",
        from: "ground.non_stick.first() {",
        to: "ground.non_stick.first().filter(|_| false) {",
        test: FULL,
    },
    Mutant {
        name: "what udisks2 opened is not compared with the disk",
        file: "crates/linux/src/udisks/mod.rs",
        from: "if !is_as_requested(&file, device, flags).map_err(failed)? {",
        to: "if false {",
        test: UDISKS,
    },
];
