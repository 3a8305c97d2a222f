//! The only step that makes an [`Agreed`]: a person permits erasing a target.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::Consent;
use flashscope_layout::steps::quoted;
use flashscope_linux::{
    Disk, Erasable, Filesystem, Partition, Roots, erasable, examine_image, is_persistent_name,
    persistent_name, twin,
};
use flashscope_report::printable;

use crate::args::{Erase, Yes};
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// The permission that a person gave. Its fields are private, so no other module can make one.
#[derive(Debug, PartialEq, Eq)]
pub struct Agreed {
    target: String,
    medium: Option<String>,
    includes_other_files: bool,
    loses_data: bool,
}

impl Consent for Agreed {
    fn target(&self) -> &str {
        &self.target
    }

    fn medium(&self) -> Option<&str> {
        self.medium.as_deref()
    }

    fn includes_other_files(&self) -> bool {
        self.includes_other_files
    }

    fn loses_data(&self) -> bool {
        self.loses_data
    }
}

/// Asks whether `target` may be erased or, with `--scratch`, written and restored, unless `--yes` says so.
/// `None` without either, and for a virtual stick, which holds nobody's data.
///
/// First prints what is on the stick or card; the person then types its name. `--yes` needs a persistent
/// name, which no other disk gets, or the path of the file that a loop device is attached to.
///
/// # Errors
/// Exit code 4 for a disk or file that must not be erased or is in use, if the answer is no, or without a
/// terminal; 130 after Ctrl-C.
pub fn erase(target: &str, erase: &Erase, printer: &Printer) -> Result<Option<Agreed>, Failure> {
    let loss = match (erase.erase, erase.scratch) {
        _ if target.starts_with("sim:") => return Ok(None),
        (true, _) => "All data on it will be lost.",
        (false, true) => {
            "It is written, and all data is put back at the end. It must stay plugged in until then."
        }
        (false, false) => return Ok(None),
    };
    let given = Given { yes: erase.yes.as_ref(), takes_other_files: erase.force_image };
    let consent = overwrite(target, loss, given, printer)?;
    Ok(Some(Agreed { loses_data: !erase.scratch, ..consent }))
}

/// What the options say beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The answer.
    pub yes: Option<&'a Yes>,
    /// Whether the target may be a file that looks like no image.
    pub takes_other_files: bool,
}

/// Asks whether `target` may be overwritten, unless the answer is given. `lost` says what that costs.
///
/// # Errors
/// As [`erase`].
pub fn overwrite(target: &str, lost: &str, given: Given<'_>, printer: &Printer) -> Result<Agreed, Failure> {
    let roots = Roots::default();
    examine_image(Path::new(target), given.takes_other_files, &roots)
        .map_err(|error| refused(error.into()))?;
    let disk = erasable(Path::new(target), &roots).map_err(|error| refused(error.into()))?;
    let question = Question { target, disk: disk.as_ref(), lost, roots: &roots };
    let consent = match given.yes {
        Some(yes) => question.agreed_already(yes, |line| printer.remark(line)),
        None => question.ask(|text| printer.ask(text)),
    }?;
    Ok(Agreed { includes_other_files: given.takes_other_files, ..consent })
}

/// What a person is asked before a target is overwritten.
struct Question<'a> {
    target: &'a str,
    /// `None` for an image file.
    disk: Option<&'a Erasable>,
    lost: &'a str,
    roots: &'a Roots,
}

impl Question<'_> {
    /// With `--yes`: a disk needs a persistent name, a loop device the path of its file. `remark` prints a
    /// line of what will be lost.
    fn agreed_already(&self, yes: &Yes, remark: impl Fn(&str)) -> Result<Agreed, Failure> {
        match (self.backing(), yes) {
            (Some(backing), yes) => permit_loop(self.target, backing, yes)?,
            (None, Yes::Backing(_)) => return Err(refused(no_loop_device(self.target))),
            (None, Yes::Plain) => match self.disk {
                Some(disk) => permit_without_asking(self.target, disk, self.roots)?,
                None => return Ok(self.consent()),
            },
        }
        self.loss().lines().for_each(remark);
        Ok(self.consent())
    }

    /// Asks with `ask`, which returns what the person typed. `None` without a terminal.
    fn ask(&self, ask: impl Fn(&str) -> Result<Option<String>, Failure>) -> Result<Agreed, Failure> {
        let (target, answers) = (self.target, self.answers());
        match ask(&format!("{} Type {} to continue: ", self.loss(), answers.join(" or ")))? {
            Some(typed) if answers.contains(&typed) => Ok(self.consent()),
            Some(_) => Err(refused(anyhow!("not confirmed; {target} is unchanged"))),
            None => {
                let yes = self.backing().map_or_else(|| "--yes".to_owned(), yes_with);
                Err(refused(anyhow!(
                    "writing to {target} needs a confirmation, and standard input is not a terminal; add {yes} if you are sure"
                )))
            }
        }
    }

    /// What the person may type: the kernel's name of the disk. For a loop device, the path or the name of
    /// its file.
    fn answers(&self) -> Vec<String> {
        let printable = |text: &OsStr| printable(&text.to_string_lossy());
        match (self.backing(), self.disk) {
            (Some(backing), _) => {
                std::iter::once(backing.as_os_str()).chain(backing.file_name()).map(printable).collect()
            }
            (None, Some(disk)) => vec![disk.name.clone()],
            (None, None) => vec!["yes".to_owned()],
        }
    }

    fn backing(&self) -> Option<&Path> {
        self.disk?.backing.as_deref()
    }

    fn loss(&self) -> String {
        let (target, lost) = (self.target, self.lost);
        match self.disk {
            Some(disk) => loss(target, disk, lost),
            None => format!("{} is an image file.\n{lost}", printable(target)),
        }
    }

    fn consent(&self) -> Agreed {
        Agreed {
            target: self.target.to_owned(),
            medium: self.disk.map(|disk| disk.medium.clone()),
            includes_other_files: false,
            loses_data: true,
        }
    }
}

const fn refused(error: anyhow::Error) -> Failure {
    Failure { exit: Exit::Refused, error }
}

/// The option that confirms a loop device over `backing`.
fn yes_with(backing: &Path) -> String {
    printable(&format!("--yes={}", quoted(&backing.to_string_lossy())))
}

fn no_loop_device(target: &str) -> anyhow::Error {
    anyhow!("{target} is not a loop device over an image file; use --yes without a path")
}

/// `--yes` refuses `/dev/loop0` alone, which may be attached to another file tomorrow.
fn permit_loop(target: &str, backing: &Path, yes: &Yes) -> Result<(), Failure> {
    let option = yes_with(backing);
    let error = match yes {
        Yes::Backing(path) if is_same_file(path, backing) => return Ok(()),
        Yes::Backing(path) => {
            let path = printable(&path.to_string_lossy());
            anyhow!("{target} is not attached to {path}; its file needs {option}")
        }
        Yes::Plain => anyhow!(
            "{target} may be attached to another file tomorrow, so --yes needs the path of its file: use {option}, or leave \
             out --yes and answer the question"
        ),
    };
    Err(refused(error))
}

/// Whether both paths lead to one file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    id(one).is_some() && id(one) == id(other)
}

/// `--yes` refuses names such as `/dev/sdb`, which may be another disk tomorrow, and the name of two sticks
/// with one serial number.
fn permit_without_asking(target: &str, disk: &Erasable, roots: &Roots) -> Result<(), Failure> {
    let path = Path::new(target);
    if is_persistent_name(path, roots) {
        let Some(twin) = disk.identity.disk.as_ref().and_then(|disk| twin(disk, roots)) else {
            return Ok(());
        };
        return Err(refused(anyhow!(
            "{target} may be either of two sticks: {} and {} have the same model and serial number; unplug the other one, or \
             leave out --yes and answer the question",
            disk.name,
            twin.display()
        )));
    }
    let instead = match persistent_name(path, roots) {
        Some(name) => format!("use {}", printable(&name.to_string_lossy())),
        None => "it has no persistent name here (/dev/disk/by-id)".to_owned(),
    };
    Err(refused(anyhow!(
        "{target} may be another disk tomorrow, so --yes needs a persistent name: {instead}, or leave out --yes and answer the \
         question"
    )))
}

/// What will be lost: one line for the disk and one for each partition.
fn loss(target: &str, erasable: &Erasable, lost: &str) -> String {
    let identity = &erasable.identity;
    let disk = identity.disk.as_ref();
    let serial = disk.and_then(|disk| disk.serial.as_ref());
    let serial = serial.map_or_else(String::new, |serial| format!(", serial number {serial}"));
    let contents: Vec<String> = match (&identity.partition, disk) {
        (Some(partition), _) => vec![partition_line(partition)],
        (None, Some(disk)) => disk_lines(disk),
        (None, None) => Vec::new(),
    };
    let backing = erasable.backing.as_ref();
    let backing = backing.map_or_else(String::new, |file| format!(", attached to {}", file.display()));
    let contents: String = contents.iter().map(|line| format!("\n  {line}")).collect();
    format!("{} is {}{serial}{}{contents}\n{lost}", printable(target), identity.name, printable(&backing))
}

fn disk_lines(disk: &Disk) -> Vec<String> {
    if disk.partitions.is_empty() {
        return vec![disk.filesystem.as_ref().map_or_else(|| "no partitions".to_owned(), filesystem)];
    }
    disk.partitions.iter().map(partition_line).collect()
}

fn partition_line(partition: &Partition) -> String {
    let found = partition.filesystem.as_ref().map_or_else(|| "no known filesystem".to_owned(), filesystem);
    format!("{}: {}, {found}", partition.name, partition.length)
}

fn filesystem(found: &Filesystem) -> String {
    let label = found.label.as_ref().map_or_else(String::new, |label| format!(" \"{label}\""));
    format!("{}{label}", found.kind)
}

#[cfg(test)]
mod tests {
    use flashscope_linux::{Identity, list};

    use super::*;

    fn stick() -> Erasable {
        let identity = Identity { name: "a stick".to_owned(), disk: None, partition: None };
        Erasable { identity, name: "sda".to_owned(), medium: "sda 4C53 1000".to_owned(), backing: None }
    }

    /// `/dev/loop0` over this file.
    fn loop_over(backing: &Path) -> Erasable {
        let identity = Identity { name: "loop0".to_owned(), disk: None, partition: None };
        let (name, medium, backing) = ("loop0".to_owned(), "loop0 7:1".to_owned(), Some(backing.to_owned()));
        Erasable { identity, name, medium, backing }
    }

    /// A machine with the stick `/dev/sda` and its persistent name.
    fn machine() -> (tempfile::TempDir, Roots, String) {
        let folder = tempfile::tempdir().unwrap();
        let names = folder.path().join("dev/disk/by-id");
        std::fs::create_dir_all(&names).unwrap();
        std::fs::create_dir_all(folder.path().join("sys")).unwrap();
        std::fs::write(folder.path().join("dev/sda"), "").unwrap();
        std::os::unix::fs::symlink("../../sda", names.join("usb-Stick_1-0:0")).unwrap();
        let roots = Roots::copy(folder.path());
        let name = roots.devices.as_ref().unwrap().join("disk/by-id/usb-Stick_1-0:0");
        (folder, roots, name.to_str().unwrap().to_owned())
    }

    fn answered(disk: Option<&Erasable>, typed: Option<&str>) -> Result<Agreed, Failure> {
        let roots = Roots::default();
        let question = Question { target: "/dev/it", disk, lost: "All of it.", roots: &roots };
        question.ask(|text| {
            assert!(text.contains("All of it."), "{text}");
            Ok(typed.map(str::to_owned))
        })
    }

    #[test]
    fn only_the_whole_name_of_the_disk_confirms() {
        let stick = stick();
        for typed in ["", "s", "sd", "sdaa", "sda1", "SDA", "sdb", "yes", "y", "/dev/sda"] {
            let refused = answered(Some(&stick), Some(typed)).unwrap_err();
            assert_eq!(refused.exit, Exit::Refused, "{typed}");
            assert!(refused.error.to_string().contains("is unchanged"), "{typed}");
        }
        let consent = answered(Some(&stick), Some("sda")).unwrap();
        assert_eq!((consent.target(), consent.medium()), ("/dev/it", Some("sda 4C53 1000")));
        for typed in ["", "y", "ye", "yess", "no", "Yes"] {
            assert!(answered(None, Some(typed)).is_err(), "{typed}");
        }
        assert_eq!(answered(None, Some("yes")).unwrap().medium(), None);
    }

    #[test]
    fn path_or_name_of_its_file_confirms_a_loop_device() {
        let disk = loop_over(Path::new("/images/stick.img"));
        for typed in
            ["", "yes", "loop0", "/dev/loop0", "/images", "stick", "/images/stick.im", "/other/stick.img"]
        {
            assert!(answered(Some(&disk), Some(typed)).is_err(), "{typed}");
        }
        for typed in ["/images/stick.img", "stick.img"] {
            assert_eq!(answered(Some(&disk), Some(typed)).unwrap().medium(), Some("loop0 7:1"), "{typed}");
        }
        let roots = Roots::default();
        let question =
            Question { target: "/dev/loop0", disk: Some(&disk), lost: "All of it.", roots: &roots };
        let refused = question.ask(|text| {
            assert!(text.contains("attached to /images/stick.img"), "{text}");
            assert!(text.ends_with("Type /images/stick.img or stick.img to continue: "), "{text}");
            Ok(None)
        });
        assert!(refused.unwrap_err().error.to_string().contains("add --yes=/images/stick.img"));
    }

    #[test]
    fn yes_needs_the_path_of_the_file_of_a_loop_device() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other, link] =
            ["a stick.img", "other.img", "link.img"].map(|name| folder.path().join(name));
        std::fs::write(&file, "").unwrap();
        std::fs::write(&other, "").unwrap();
        std::fs::hard_link(&file, &link).unwrap();
        let (disk, roots) = (loop_over(&file), Roots::default());
        let agreed = |disk, yes: &Yes| {
            Question { target: "/dev/loop0", disk, lost: "All of it.", roots: &roots }
                .agreed_already(yes, |_| ())
        };
        let refused = agreed(Some(&disk), &Yes::Plain).unwrap_err();
        let option = format!("--yes='{}'", file.display());
        assert!(refused.error.to_string().contains(&format!("use {option}")), "{}", refused.error);
        for wrong in [other.as_path(), Path::new("/dev/loop0"), Path::new("/nowhere"), folder.path()] {
            let refused = agreed(Some(&disk), &Yes::Backing(wrong.to_owned())).unwrap_err();
            assert_eq!(refused.exit, Exit::Refused, "{}", wrong.display());
            assert!(refused.error.to_string().contains(&option), "{}", refused.error);
        }
        for right in [&file, &link] {
            let consent = agreed(Some(&disk), &Yes::Backing(right.clone())).unwrap();
            assert_eq!(consent.medium(), Some("loop0 7:1"), "{}", right.display());
        }
        for disk in [None, Some(&stick())] {
            let refused = agreed(disk, &Yes::Backing(file.clone())).unwrap_err();
            assert!(refused.error.to_string().contains("without a path"), "{}", refused.error);
        }
    }

    #[test]
    fn without_a_terminal_nothing_is_confirmed() {
        for disk in [None, Some(&stick())] {
            let refused = answered(disk, None).unwrap_err();
            assert!(refused.exit == Exit::Refused && refused.error.to_string().contains("--yes"));
        }
    }

    #[test]
    fn yes_needs_the_persistent_name_of_a_disk() {
        let (folder, roots, name) = machine();
        let stick = stick();
        let agreed = |target: &str, disk| {
            Question { target, disk, lost: "All of it.", roots: &roots }.agreed_already(&Yes::Plain, |_| ())
        };
        let plain = folder.path().join("dev/sda").to_str().unwrap().to_owned();
        let refused = agreed(&plain, Some(&stick)).unwrap_err();
        assert!(refused.exit == Exit::Refused && refused.error.to_string().contains("usb-Stick_1-0:0"));
        let consent = agreed(&name, Some(&stick)).unwrap();
        assert_eq!(consent.medium(), Some("sda 4C53 1000"), "it holds for the medium that is there now");
        assert!(agreed(&plain, None).is_ok(), "an image file needs none");
    }

    #[test]
    fn name_of_two_sticks_with_one_serial_number_is_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs/desktop");
        let copied =
            std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(folder.path()).status();
        assert!(copied.unwrap().success());
        let names = folder.path().join("dev/disk/by-id");
        std::fs::create_dir_all(&names).unwrap();
        std::fs::write(folder.path().join("dev/sdb"), "").unwrap();
        std::os::unix::fs::symlink("../../sdb", names.join("usb-Stick_1-0:0")).unwrap();
        let roots = Roots::copy(folder.path());
        let agreed = || {
            let mut disks = list(&roots).unwrap().disks.into_iter();
            let disk = disks.find(|disk| disk.name == "sdb");
            let identity = Identity { name: "a stick".to_owned(), disk, partition: None };
            let stick = Erasable { identity, ..stick() };
            permit_without_asking(names.join("usb-Stick_1-0:0").to_str().unwrap(), &stick, &roots)
        };
        assert!(agreed().is_ok());
        let usb = folder.path().join("sys/devices/pci0000:00/0000:00:14.0/usb1");
        for name in ["serial", "manufacturer", "product"] {
            std::fs::copy(usb.join("1-2").join(name), usb.join("1-3").join(name)).unwrap();
        }
        let scsi = ["1-2/1-2:1.0/host6/target6:0:0/6:0:0:0", "1-3/1-3:1.0/host9/target9:0:0/9:0:0:0"];
        for name in ["vendor", "model"] {
            std::fs::copy(usb.join(scsi[0]).join(name), usb.join(scsi[1]).join(name)).unwrap();
        }
        let refused = agreed().unwrap_err();
        assert!(
            refused.exit == Exit::Refused && refused.error.to_string().contains("and /dev/sde have the same")
        );
    }
}
