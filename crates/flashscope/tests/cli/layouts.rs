//! `plan`, `apply` and `undo`, on virtual sticks, image files and loop devices.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{document, flashscope, image, skip, stderr, stdout};
use crate::served::{Mounted, Served, has, run};
use crate::support::schema;

/// The programs that make a table and an ext4.
const TOOLS: [&str; 2] = ["sfdisk", "mkfs.ext4"];

fn has_tools(tools: &[&str]) -> bool {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    let is_there = |tool: &&&str| folders.iter().any(|folder| Path::new(folder).join(tool).is_file());
    match tools.iter().find(|tool| !is_there(tool)) {
        Some(missing) => {
            skip(&format!("{missing} is not installed"));
            false
        }
        None => true,
    }
}

/// The text of a plan, which must succeed.
fn plan(arguments: &[&str]) -> String {
    let output = flashscope(&[&["plan"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// Exit code and messages of a command that must not succeed.
fn refusal(arguments: &[&str]) -> (i32, String) {
    let output = flashscope(arguments);
    let code = output.status.code().unwrap();
    assert!(code != 0, "{arguments:?}: {}", stdout(&output));
    (code, stderr(&output))
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// A folder with an image full of text, its plan, and the name of an undo file that does not exist yet.
struct Bench {
    folder: tempfile::TempDir,
    image: String,
    plan: String,
    undo: String,
}

impl Bench {
    fn new(mebibytes: u64, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = image(&folder, mebibytes);
        let text = b"\0what the stick held before ".repeat(40_000);
        for offset in (0..mebibytes).step_by(8) {
            write_at(&image, offset << 20, &text);
        }
        let (plan_file, undo) = (path(&folder, "plan.json"), path(&folder, "stick.undo"));
        plan(&[&[image.as_str(), "-o", &plan_file, "-q", "--seed", "7"], arguments].concat());
        Self { folder, image, plan: plan_file, undo }
    }

    fn apply(&self, more: &[&str]) -> std::process::Output {
        flashscope(&[&["apply", self.plan.as_str(), "--yes", "-o", &self.undo], more].concat())
    }

    fn contents(&self) -> Vec<u8> {
        std::fs::read(&self.image).unwrap()
    }

    fn edit(&self, old: &str, new: &str) {
        let text = std::fs::read_to_string(&self.plan).unwrap();
        assert!(text.contains(old), "{old}: {text}");
        std::fs::write(&self.plan, text.replace(old, new)).unwrap();
    }
}

fn write_at(file: &str, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    std::fs::File::options().write(true).open(file).unwrap().write_all_at(bytes, offset).unwrap();
}

const LINUX: [&str; 4] = ["--for", "linux-data", "--erase-block", "4MiB"];

#[test]
fn plans_of_the_transcend_stick() {
    let stick = "sim:transcend-8g";
    let text = plan(&[stick, "--for", "linux-data", "--seed", "1"]);
    assert!(text.contains("Erase block: 4 MiB, measured"), "{text}");
    assert!(text.contains("start: sector 8192 = 1 x 4 MiB"), "{text}");
    assert!(text.contains("stride=1024,stripe_width=1024"), "{text}");
    assert!(text.contains("\nTABLE\nsudo mkfs.ext4 "), "{text}");
    let text = plan(&[stick, "--for", "linux-data", "--erase-block", "6MiB", "--seed", "1"]);
    assert!(text.contains("blocks per group: 32256 = floor(32768 / 1536) x 1536"), "{text}");
    let text = plan(&[stick, "--for", "share", "--erase-block", "24MiB", "--seed", "1"]);
    assert!(text.contains("(vfat") || text.contains("Partition 1: vfat"), "{text}");
    assert!(text.contains("x 24 MiB"), "{text}");
}

#[test]
fn every_purpose_and_filesystem_has_a_plan_that_matches_its_schema() {
    for purpose in ["share", "linux-data", "linux-root", "camera", "board-boot", "backup"] {
        let document = document(&["plan", "sim:transcend-8g", "--for", purpose, "--erase-block", "4MiB"]);
        assert_eq!(document["purpose"], purpose);
        assert_eq!(
            document["partitions"].as_array().unwrap().len(),
            if purpose == "board-boot" { 2 } else { 1 }
        );
    }
    for kind in ["ext4", "vfat", "exfat", "f2fs", "xfs", "btrfs", "ntfs", "nilfs2"] {
        let arguments = ["plan", "sim:transcend-8g", "--fs", kind];
        let document = document(&[&arguments[..], &LINUX].concat());
        assert_eq!(document["partitions"][0]["placement"]["filesystem"], kind);
        assert!(!document["commands"].as_array().unwrap().is_empty());
    }
    let factory = document(&["plan", "sim:transcend-8g", "--restore-factory"]);
    assert_eq!(factory["medium"]["erase_block"]["source"]["kind"], "standard_boundary");
    assert_eq!(factory["partitions"][0]["placement"]["filesystem"], "vfat");
}

#[test]
fn an_image_is_applied_read_back_and_undone_bit_for_bit() {
    if !has_tools(&TOOLS) {
        return;
    }
    let bench = Bench::new(96, &[&LINUX[..], &["--label", "DATA"]].concat());
    let before = bench.contents();
    let output = bench.apply(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let applied: Value = serde_json::from_slice(&output.stdout).unwrap();
    schema::assert_valid("apply", &applied);
    assert!(applied["bytes_written"].as_u64().unwrap() > 1 << 20);
    assert!(bench.contents() != before);
    let undo = document(&["undo", &bench.undo, "--yes"]);
    assert!(undo["ranges_written"].as_u64().unwrap() > 0);
    assert_eq!(undo["ranges_changed_since"], 0);
    assert!(bench.contents() == before);
    let again = document(&["undo", &bench.undo, "--yes"]);
    assert_eq!(again["ranges_written"], 0);
}

#[test]
fn undo_says_what_was_written_since() {
    if !has_tools(&TOOLS) {
        return;
    }
    let bench = Bench::new(96, &LINUX);
    let before = bench.contents();
    assert_eq!(bench.apply(&[]).status.code(), Some(0));
    // In the first group's bitmaps and in an untouched place.
    write_at(&bench.image, (4 << 20) + 5000, b"written since");
    let undone = flashscope(&["undo", &bench.undo, "--yes", "--json"]);
    let document: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert_eq!(document["ranges_changed_since"], 1, "{}", stderr(&undone));
    assert!(bench.contents() == before);
}

#[test]
fn apply_and_undo_refuse_what_is_not_theirs_and_change_nothing() {
    if !has_tools(&TOOLS) {
        return;
    }
    let bench = Bench::new(96, &LINUX);
    let before = bench.contents();
    let other = tempfile::tempdir().unwrap();
    let other = image(&other, 64);
    let refused = |arguments: &[&str], code: i32, words: &str| {
        let (found, message) = refusal(arguments);
        assert!(found == code && message.contains(words), "{arguments:?}: {found} {message}");
        assert!(bench.contents() == before, "{arguments:?}");
    };
    let undo = ["-o", &bench.undo];
    let with =
        |arguments: &[&str], code: i32, words: &str| refused(&[arguments, &undo].concat(), code, words);
    with(&["apply", &bench.plan, "--yes", "--target", &other], 4, "make a new plan");
    with(&["apply", &bench.plan], 4, "needs a confirmation");
    with(&["apply", &bench.image, "--yes"], 2, "is no plan");
    with(&["apply", "/nonexistent.json", "--yes"], 2, "cannot read");
    refused(&["apply", &bench.plan, "--yes", "-o", &bench.plan], 2, "exists");
    refused(&["apply", &bench.plan, "--yes", "-o", "/nonexistent/x.undo"], 2, "(-o)");
    refused(&["undo", &bench.plan, "--yes"], 2, "is a plan; this reads it: flashscope apply");
    refused(&["undo", "/nonexistent.undo", "--yes"], 2, "cannot read");
    assert!(!Path::new(&bench.undo).exists());
    assert_eq!(bench.apply(&[]).status.code(), Some(0));
    let after = bench.contents();
    let (code, message) = refusal(&["undo", &bench.undo, "--yes", "--target", &other]);
    assert!(code == 4 && message.contains("belongs to"), "{code} {message}");
    let file = std::fs::read(&bench.undo).unwrap();
    let cut = path(&bench.folder, "cut.undo");
    std::fs::write(&cut, &file[..file.len() / 2]).unwrap();
    let (code, message) = refusal(&["undo", &cut, "--yes"]);
    assert!(code == 2 && message.contains("damaged or cut short"), "{code} {message}");
    // Another image of the same size.
    let same_size = Bench::new(96, &LINUX);
    for offset in (0..96).step_by(8) {
        write_at(&same_size.image, offset << 20, &b"\0something else ".repeat(80_000));
    }
    let (code, message) = refusal(&["undo", &bench.undo, "--yes", "--target", &same_size.image]);
    assert!(code == 4 && message.contains("another medium"), "{code} {message}");
    assert!(bench.contents() == after);
}

#[test]
fn an_edited_plan_is_refused_with_what_is_wrong() {
    let edits = [
        ("\"format\": 1", "\"format\": 9", "format 9"),
        ("\"start\": 4194304", "\"start\": 0", "does not fit"),
        ("\"nodiscard", "\"../nodiscard=$(reboot)", "is no option"),
        ("\"-b\"", "\"-l/etc/passwd\"", "is no option"),
        ("\"label\": \"\"", "\"label\": \"a label that is far too long\"", "too long"),
        ("\"capacity\": 100663296", "\"capacity\": 200663296", "make a new plan"),
        ("\"type_code\": \"83\"", "\"type_code\": \"83, bootable\"", "is not the partition type"),
        ("\"noatime\"", "\"noatime\\n/dev/sda1 / ext4\"", "is no mount option"),
    ];
    for (old, new, words) in edits {
        let bench = Bench::new(96, &LINUX);
        let before = bench.contents();
        bench.edit(old, new);
        let output = bench.apply(&[]);
        let message = stderr(&output);
        assert!(matches!(output.status.code(), Some(2 | 4)) && message.contains(words), "{new}: {message}");
        assert!(bench.contents() == before && !Path::new(&bench.undo).exists(), "{new}");
    }
}

#[test]
fn impossible_wishes_are_refused_with_what_to_try() {
    let folder = tempfile::tempdir().unwrap();
    let small = image(&folder, 8);
    let cases: [(&[&str], &str); 10] = [
        (&["sim:transcend-8g"], "--for"),
        (&["sim:transcend-8g", "--for", "gaming"], "linux-data"),
        (&["sim:transcend-8g", "--for", "share", "--fs", "udf"], "nilfs2"),
        (
            &["sim:transcend-8g", "--for", "share", "--fs", "vfat", "--label", "much too long a label"],
            "too long",
        ),
        (&["sim:transcend-8g", "--for", "share", "--erase-block", "5000"], "multiple"),
        (&["sim:transcend-8g", "--for", "share", "--chs", "300/63"], "HEADS/SECTORS"),
        (&["sim:transcend-8g", "--for", "share", "--table", "bsd"], "mbr or gpt"),
        (&["sim:transcend-8g", "--for", "share", "-o", "plan.txt"], ".json"),
        (&["sim:transcend-8g", "--for", "share", "--run", "/nonexistent.json"], "cannot read"),
        (&[&small, "--for", "linux-data", "--erase-block", "16MiB"], "erase block"),
    ];
    for (arguments, words) in cases {
        let (code, message) = refusal(&[&["plan"], arguments].concat());
        assert!(code == 2 && message.contains(words), "{arguments:?}: {code} {message}");
    }
}

/// A loop device over a file, detached when dropped.
pub struct Loop(pub String);

impl Loop {
    pub fn over(file: &str) -> Self {
        let output = Command::new("losetup").args(["--find", "--show", "--partscan", file]).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        Self(stdout(&output).trim().to_owned())
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// Whether loop devices can be made here.
pub fn has_loops() -> bool {
    if rustix::process::geteuid().is_root() && Path::new("/dev/loop-control").exists() {
        return true;
    }
    skip("loop devices in tests need root and /dev/loop-control");
    false
}

/// Runs a script with a stand-in for udevadm: without udev, nobody makes the nodes of partitions.
fn run_script(script: &str, disk: &str, folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let (file, stand_in) = (folder.join("script.sh"), folder.join("udevadm"));
    std::fs::write(&file, script).unwrap();
    std::fs::write(&stand_in, "#!/bin/sh\nexec partx --update \"$DISK\"\n").unwrap();
    std::fs::set_permissions(&stand_in, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", folder.display());
    let output =
        Command::new("sh").arg(&file).arg(disk).env("PATH", path).env("DISK", disk).output().unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

/// The bytes of a disk after apply, and after the script of the same plan.
fn applied_and_scripted(kind: &str) -> (Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.img", "b.img"].map(|name| path(&folder, name));
    for name in &names {
        std::fs::File::create(name).unwrap().set_len(320 << 20).unwrap();
    }
    let (first, second) = (Loop::over(&names[0]), Loop::over(&names[1]));
    let wish = [&["--fs", kind, "--seed", "5", "--label", "DATA", "-q"][..], &LINUX].concat();
    let plan_file = path(&folder, "plan.json");
    plan(&[&[first.0.as_str(), "-o", &plan_file], &wish[..]].concat());
    let script = plan(&[&[first.0.as_str(), "--script"], &wish[..]].concat());
    let undo = path(&folder, "x.undo");
    let yes = format!("--yes={}", names[0]);
    let output = flashscope(&["apply", &plan_file, &yes, "-o", &undo]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    run_script(&script, &second.0, folder.path());
    drop((first, second));
    run("sync", &[]);
    (std::fs::read(&names[0]).unwrap(), std::fs::read(&names[1]).unwrap())
}

#[test]
fn the_script_makes_the_same_bytes_as_apply() {
    if !has_loops() || !has_tools(&["sfdisk", "mkfs.ext4", "mkfs.vfat", "mkfs.f2fs"]) {
        return;
    }
    let is_same = |kind| {
        let (applied, scripted) = applied_and_scripted(kind);
        applied == scripted
    };
    assert!(is_same("vfat"));
    // These store the second in which they were made.
    for kind in ["ext4", "f2fs"] {
        assert!((0..20).any(|_| is_same(kind)), "{kind}");
    }
}

#[test]
fn the_script_refuses_a_disk_of_another_size() {
    if !has_loops() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = image(&folder, 64);
    let disk = Loop::over(&file);
    let script = plan(&[&["sim:transcend-8g", "--script", "-q"][..], &LINUX].concat());
    let script_file = path(&folder, "script.sh");
    std::fs::write(&script_file, script).unwrap();
    for target in [disk.0.as_str(), &file] {
        let output = Command::new("sh").args([&script_file, target]).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        assert!(stderr(&output).contains("nothing was written"));
    }
    assert!(std::fs::read(&file).unwrap().iter().all(|byte| *byte == 0));
}

/// A served stick: planned, applied, inspected by the usual tools, mounted, filled, undone.
fn served_stick(kind: &str, inspect: &[&[&str]]) {
    let Some(served) = Served::start(&["generic-2g?capacity=256MiB", "--instant", "--loop"]) else { return };
    let (disk, yes) = (served.block_device().to_owned(), served.yes());
    let folder = tempfile::tempdir().unwrap();
    let (plan_file, undo) = (path(&folder, "plan.json"), path(&folder, "stick.undo"));
    write_at(&disk, 123 << 20, &b"an old file ".repeat(5000));
    write_at(&disk, 0, &b"an old table ".repeat(5000));
    run("sync", &[]);
    let fingerprint = |disk: &str| {
        let output = Command::new("sha256sum").arg(disk).output().unwrap();
        stdout(&output).split_whitespace().next().unwrap().to_owned()
    };
    let before = fingerprint(&disk);
    plan(&[&[disk.as_str(), "--fs", kind, "-o", &plan_file, "-q"][..], &LINUX].concat());
    let applied = flashscope(&["apply", &plan_file, &yes, "-o", &undo]);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    run("partx", &["--update", &disk]);
    let partition = format!("{disk}p1");
    let table = Command::new("fdisk").args(["-l", &disk]).output().unwrap();
    assert!(stdout(&table).contains(&partition), "{}", stdout(&table));
    for command in inspect {
        let arguments: Vec<&str> = command[1..].iter().copied().chain([partition.as_str()]).collect();
        run(command[0], &arguments);
    }
    let undone = flashscope(&["undo", &undo, &yes]);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    run("sync", &[]);
    assert_eq!(fingerprint(&disk), before);
}

#[test]
fn a_served_stick_gets_each_filesystem_and_its_old_contents_back() {
    if !has_loops() || !has("fdisk") || !has_tools(&["sfdisk", "mkfs.ext4", "mkfs.vfat", "mkfs.exfat"]) {
        return;
    }
    served_stick("ext4", &[&["dumpe2fs", "-h"], &["e2fsck", "-f", "-n"]]);
    served_stick("vfat", &[&["fsck.vfat", "-n"]]);
    served_stick("exfat", &[&["dump.exfat"], &["fsck.exfat", "-n"]]);
}

#[test]
fn an_applied_ext4_is_mounted_and_holds_files() {
    if !has_loops() || !has_tools(&TOOLS) {
        return;
    }
    let Some(served) = Served::start(&["generic-2g?capacity=256MiB", "--instant", "--loop"]) else { return };
    let (disk, yes) = (served.block_device().to_owned(), served.yes());
    let folder = tempfile::tempdir().unwrap();
    let (plan_file, undo) = (path(&folder, "plan.json"), path(&folder, "stick.undo"));
    plan(&[&[disk.as_str(), "-o", &plan_file, "-q"][..], &LINUX].concat());
    let applied = flashscope(&["apply", &plan_file, &yes, "-o", &undo]);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    run("partx", &["--update", &disk]);
    let partition = format!("{disk}p1");
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    {
        let mounted = Mounted::from(&partition);
        run("cp", &["--recursive", source.to_str().unwrap(), mounted.path().to_str().unwrap()]);
    }
    {
        let mounted = Mounted::from(&partition);
        let copy = mounted.path().join("src");
        run("diff", &["--recursive", source.to_str().unwrap(), copy.to_str().unwrap()]);
        let again = path(&folder, "again.undo");
        for arguments in [
            &["undo", &undo, &yes][..],
            &["apply", &plan_file, &yes, "--undo-file", &again],
            &["check", "--erase", &yes, &disk],
            &["check", "--scratch", &yes, &disk],
            &["bench", "write", "--erase", &yes, &disk],
            &["bench", "methods", "--erase", &yes, &disk],
            &["verify", "--scratch", &yes, &disk],
            &["verify", "--full", "--erase", &yes, &disk],
        ] {
            let (code, message) = refusal(arguments);
            assert!(code == 4 && message.contains("umount /dev/"), "{arguments:?}: {code} {message}");
        }
        assert!(!Path::new(&again).exists());
    }
    let undone = flashscope(&["undo", &undo, &yes, "--json"]);
    assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    let document: Value = serde_json::from_slice(&undone.stdout).unwrap();
    schema::assert_valid("undo", &document);
    assert!(document["ranges_changed_since"].as_u64().unwrap() > 0);
}

#[test]
fn undo_finds_the_target_that_was_written_and_refuses_another_with_the_same_plan() {
    if !has_tools(&TOOLS) {
        return;
    }
    let (first, second) = (Bench::new(96, &LINUX), Bench::new(96, &LINUX));
    for offset in (0..96).step_by(8) {
        write_at(&second.image, offset << 20, &b"\0other contents ".repeat(80_000));
    }
    let before = [first.contents(), second.contents()];
    let second_undo = path(&second.folder, "second.undo");
    let to_second = ["--target", &second.image, "-o", &second_undo];
    assert_eq!(first.apply(&[]).status.code(), Some(0));
    let applied = flashscope(&[&["apply", first.plan.as_str(), "--yes"][..], &to_second].concat());
    assert_eq!(applied.status.code(), Some(0), "{}", stderr(&applied));
    let (code, message) = refusal(&["undo", &first.undo, "--yes", "--target", &second.image]);
    assert!(code == 4 && message.contains("--force"), "{code} {message}");
    // Each undo file knows its own target.
    for undo in [&second_undo, &first.undo] {
        let undone = flashscope(&["undo", undo, "--yes"]);
        assert_eq!(undone.status.code(), Some(0), "{}", stderr(&undone));
    }
    assert!([first.contents(), second.contents()] == before);
}

#[test]
fn plans_with_options_that_name_files_are_refused() {
    if !has_tools(&["sfdisk", "mkfs.xfs"]) {
        return;
    }
    let bench = Bench::new(600, &[&LINUX[..], &["--fs", "xfs"]].concat());
    let victim = path(&bench.folder, "victim");
    std::fs::write(&victim, "kept").unwrap();
    bench.edit("\"su=32k\"", &format!("\"file=1,name={victim},size=16m\""));
    let output = bench.apply(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("is no option"), "{}", stderr(&output));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
}

#[test]
fn move_prints_commands_only_where_every_volume_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = image(&folder, 64);
    write_at(&file, 512, b"LABELONE");
    let (code, message) = refusal(&["plan", &file, "--for", "share", "--erase-block", "4MiB", "--move"]);
    assert!(code == 2 && message.contains("--move"), "{code} {message}");
    let text = plan(&[&file, "--for", "share", "--erase-block", "4MiB"]);
    assert!(text.contains("(LVM)"), "{text}");
    if !has_loops() {
        return;
    }
    let disk = Loop::over(&file);
    let (code, message) = refusal(&["plan", &disk.0, "--for", "share", "--erase-block", "4MiB", "--move"]);
    assert!(code == 2 && message.contains("by hand"), "{code} {message}");
}

#[test]
fn hostile_labels_and_paths_are_quoted_in_printed_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(&folder, "my stick's image.img");
    std::fs::File::create(&file).unwrap().set_len(64 << 20).unwrap();
    let wish = ["--for", "linux-data", "--erase-block", "4MiB", "--label", "$disk; reboot"];
    let text = plan(&[&[file.as_str()], &wish[..]].concat());
    assert!(text.contains(r"my stick'\''s image.img'"), "{text}");
    assert!(text.contains("-L '$disk; reboot'") && text.contains("\"${disk}p1\""), "{text}");
    let script = plan(&[&[file.as_str(), "--script"], &wish[..]].concat());
    assert!(script.contains("-L '$disk; reboot'") && script.contains("\"$part1\""), "{script}");
}

#[test]
fn disks_with_blocks_of_4_kib_get_sectors_of_4_kib() {
    if !has_loops() || !has_tools(&["sfdisk", "mkfs.xfs", "mkfs.vfat"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = image(&folder, 600);
    let made =
        Command::new("losetup").args(["--find", "--show", "--sector-size", "4096", &file]).output().unwrap();
    let yes = format!("--yes={file}");
    let disk = Loop(stdout(&made).trim().to_owned());
    for (kind, offset, magic) in [("xfs", 102_u64, [0x10, 0x00]), ("vfat", 11, [0x00, 0x10])] {
        let (plan_file, undo) = (path(&folder, "4k.json"), path(&folder, &format!("{kind}.undo")));
        plan(&[&[disk.0.as_str(), "--fs", kind, "-o", &plan_file, "-q"][..], &LINUX].concat());
        let applied = flashscope(&["apply", &plan_file, &yes, "-o", &undo]);
        assert_eq!(applied.status.code(), Some(0), "{kind}: {}", stderr(&applied));
        run("sync", &[]);
        let document: Value = serde_json::from_str(&std::fs::read_to_string(&plan_file).unwrap()).unwrap();
        let start = document["partitions"][0]["placement"]["start"].as_u64().unwrap();
        let mut found = [0; 2];
        std::os::unix::fs::FileExt::read_exact_at(
            &std::fs::File::open(&file).unwrap(),
            &mut found,
            start + offset,
        )
        .unwrap();
        assert_eq!(found, magic, "{kind}");
    }
    let refused = flashscope(&[&["plan", &disk.0, "--table", "gpt"][..], &LINUX].concat());
    assert!(refused.status.code() == Some(2) && stderr(&refused).contains("--table mbr"));
}

#[test]
fn a_gpt_with_small_erase_blocks_is_applied() {
    if !has_tools(&["sfdisk", "mkfs.vfat"]) {
        return;
    }
    let wish = ["--for", "share", "--table", "gpt", "--erase-block", "128KiB"];
    let bench = Bench::new(96, &wish);
    let output = bench.apply(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = plan(&[&[bench.image.as_str()], &wish[..]].concat());
    assert!(text.contains("Partition 1 (vfat)"), "{text}");
}

/// Only the part that stores data is planned, whether the size is given or comes from a check.
#[test]
fn a_plan_for_a_fake_ends_below_its_true_size() {
    let folder = tempfile::tempdir().unwrap();
    let size = 8_053_063_680_u64;
    let target = "sim:counterfeit-64g-wrap";
    let run = path(&folder, "run.json");
    assert_eq!(flashscope(&["check", target, "-o", &run]).status.code(), Some(1));
    for known in [&["--erase-block", "4MiB", "--true-size", "8053063680"][..], &["--run", &run]] {
        let found = document(&[&["plan", target, "--for", "share"], known].concat());
        schema::assert_valid("plan", &found);
        let placement = &found["partitions"][0]["placement"];
        let end = placement["start"].as_u64().unwrap() + placement["size"].as_u64().unwrap();
        assert!((size - (8 << 20)..=size).contains(&end), "{known:?}: {end}");
        assert_eq!(found["table"]["kind"], "mbr");
        assert_eq!(found["medium"]["true_size"], size);
    }
    let text = plan(&[target, "--for", "share", "--erase-block", "4MiB", "--true-size", "8053063680"]);
    assert!(text.contains("It stores only") && text.contains("A GPT keeps a copy at the end"), "{text}");
    let gpt =
        ["plan", target, "--for", "share", "--erase-block", "4MiB", "--true-size", "7GiB", "--table", "gpt"];
    assert!(matches!(refusal(&gpt), (2, text) if text.contains("--table mbr")));
    let more = ["plan", target, "--for", "share", "--erase-block", "4MiB", "--true-size", "1TiB"];
    assert!(matches!(refusal(&more), (2, text) if text.contains("--true-size")));
}

#[test]
fn plan_refuses_two_outputs_and_a_true_size_that_holds_no_partition() {
    let (code, text) = refusal(&[&["plan", "sim:transcend-8g", "--script", "--json"], &LINUX[..]].concat());
    assert!(code == 2 && text.contains("--script") && text.contains("--json"), "{text}");
    for (size, given) in [("7", &LINUX[..]), ("7", &LINUX[..2]), ("6MiB", &LINUX[..])] {
        let tiny = [&["plan", "sim:transcend-8g", "--true-size", size], given].concat();
        let (code, text) = refusal(&tiny);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("--true-size") && !text.contains("(--erase-block)"), "{size}: {text}");
    }
}

/// A virtual stick ends with its command, so that apply refuses it.
#[test]
fn plan_for_a_virtual_stick_says_how_it_is_served() {
    let text = plan(&[&["sim:transcend-8g?seed=3"], &LINUX[..], &["--label", "A B"]].concat());
    assert!(text.contains("sudo flashscope sim serve 'transcend-8g?seed=3' --loop\n"), "{text}");
    assert!(text.contains("loopN --for linux-data --label 'A B' --erase-block 4194304 -o "), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let text = plan(&[&[image(&folder, 64).as_str()], &LINUX[..]].concat());
    assert!(!text.contains("sim serve") && text.contains("sudo flashscope apply PLAN.json"), "{text}");
}
