//! Decides which disks may be erased: sticks and cards that are not in use.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use flashscope_device::Consent;

use crate::disk::{Bus, Disk};
use crate::disk_kind::DiskKind;
use crate::error::{NotErasable, OpenError};
use crate::holder;
use crate::identify::{Identity, identity_of};
use crate::mounts::Mount;
use crate::printable::printable;
use crate::roots::Roots;
use crate::swap::swaps;
use crate::sysfs::{Node, Sysfs};

/// A disk or partition that may be erased, if a person agrees.
#[derive(Debug, Clone, PartialEq)]
pub struct Erasable {
    /// Its identity and contents. The disk is known.
    pub identity: Identity,
    /// The kernel's name, e.g. `sdb` or `sdb1`.
    pub name: String,
    /// Identifies the present medium, against another one with the same name later; see
    /// [`Consent::medium`](flashscope_device::Consent::medium).
    pub medium: String,
    /// The image file, if this is a loop device over one.
    pub backing: Option<PathBuf>,
}

/// The disk or partition at `path`, if it may be erased: a USB stick, USB disk or card that is not mounted,
/// not swap space, not held by device mapper or RAID, and without the running system.
///
/// Or a writable loop device over an image file. `None` for image files and inaccessible paths, whose error
/// is reported when they are opened.
///
/// # Errors
/// [`OpenError`], with the reason and what to try.
pub fn erasable(path: &Path, roots: &Roots) -> Result<Option<Erasable>, OpenError> {
    let is_disk = std::fs::metadata(path).is_ok_and(|found| found.file_type().is_block_device());
    if !is_disk {
        return Ok(None);
    }
    let name = printable(&path.to_string_lossy());
    permit(Sysfs::at(&roots.sysfs).node_at(path).as_ref(), &name, roots).map(Some)
}

/// The loop device at `node`, named `path`, over the file `backing`. Its mark names that file: the next one
/// attached may be another.
fn permit_loop(
    (node, identity): (&Node, Identity),
    path: &str,
    (backing, file): (PathBuf, &Metadata),
    roots: &Roots,
) -> Result<Erasable, OpenError> {
    takes_writes(node, path)?;
    refuse_users(node, &identity, path, roots)?;
    let medium = loop_mark(node, file);
    Ok(Erasable { identity, name: node.name(), medium, backing: Some(backing) })
}

/// Checks that the kernel accepts writes to the disk or partition at `node`, named `path`. Each has its own
/// lock.
fn takes_writes(node: &Node, path: &str) -> Result<(), OpenError> {
    if node.is_set("ro") {
        return Err(OpenError::NotErasable { path: path.to_owned(), reason: NotErasable::ReadOnly });
    }
    Ok(())
}

/// Checks the disk or partition at `node`, named `path`, like [`erasable`].
pub fn permit(node: Option<&Node>, path: &str, roots: &Roots) -> Result<Erasable, OpenError> {
    let unknown = || OpenError::NotErasable { path: path.to_owned(), reason: NotErasable::Unknown };
    let node = node.ok_or_else(unknown)?;
    let identity = identity_of(node, roots).ok_or_else(unknown)?;
    if let (Some(backing), Some(file)) = (node.loop_path(), node.loop_file()) {
        return permit_loop((node, identity), path, (backing, &file), roots);
    }
    let disk = identity.disk.as_ref().ok_or_else(unknown)?;
    examine(disk, path)?;
    takes_writes(node, path)?;
    refuse_users(node, &identity, path, roots)?;
    let whole = if identity.partition.is_some() { node.below("..") } else { None };
    let medium = mark(whole.as_ref().unwrap_or(node), disk);
    let name = node.name();
    Ok(Erasable { identity, name, medium, backing: None })
}

/// Checks that nothing uses the disk or partition at `node`, named `path`.
fn refuse_users(node: &Node, identity: &Identity, path: &str, roots: &Roots) -> Result<(), OpenError> {
    let Some(disk) = &identity.disk else { return Ok(()) };
    let whole = if identity.partition.is_some() { node.below("..") } else { None };
    let parts = if whole.is_some() { Vec::new() } else { node.children() };
    let parts = parts.iter().filter(|part| part.partition_start().is_some());
    // What holds the whole disk holds its partitions.
    let nodes: Vec<&Node> = std::iter::once(node).chain(&whole).chain(parts).collect();
    match user(disk, &nodes, roots) {
        Some(by) => Err(OpenError::DiskInUse { path: path.to_owned(), by }),
        None => Ok(()),
    }
}

/// What distinguishes the medium of the disk at `whole` from another one.
fn mark(whole: &Node, disk: &Disk) -> String {
    let count = whole.text("diskseq");
    let marks = [&Some(disk.name.clone()), &count, &disk.vendor, &disk.model, &disk.serial];
    let marks: Vec<&str> = marks.into_iter().flatten().map(String::as_str).collect();
    format!("{} {}", marks.join(" "), disk.capacity.get())
}

/// The mark of the loop device at `node` over `file`.
fn loop_mark(node: &Node, file: &Metadata) -> String {
    let count = node.text("diskseq").unwrap_or_default();
    format!("{} {count} {}:{} {}", node.name(), file.dev(), file.ino(), node.size().get())
}

/// The mark of the medium that is in the disk or partition at `node` now, as in [`Erasable::medium`].
pub fn medium(node: &Node, roots: &Roots) -> Option<String> {
    if let Some(file) = node.loop_file() {
        return Some(loop_mark(node, &file));
    }
    let identity = identity_of(node, roots)?;
    let whole = if identity.partition.is_some() { node.below("..")? } else { node.clone() };
    Some(mark(&whole, identity.disk.as_ref()?))
}

/// Checks the disk or partition at `node` like [`permit`], and that it has the medium which the person agreed
/// to erase.
pub fn permit_agreed(
    node: Option<&Node>,
    path: &str,
    consent: &dyn Consent,
    roots: &Roots,
) -> Result<(), OpenError> {
    let erasable = permit(node, path, roots)?;
    let path = path.to_owned();
    match consent.medium() {
        Some(medium) if medium == erasable.medium => Ok(()),
        Some(_) => Err(OpenError::MediumChanged { path }),
        None => Err(OpenError::NotConsented { path, consented: "an image file".to_owned() }),
    }
}

/// Checks that it is a writable stick or card without the running system.
fn examine(disk: &Disk, path: &str) -> Result<(), OpenError> {
    let is_stick_or_card =
        matches!(disk.bus, Bus::Usb | Bus::Mmc) && disk.is_stick_or_card() && disk.kind != DiskKind::Embedded;
    let reason = if disk.holds_the_system() {
        NotErasable::System
    } else if !is_stick_or_card {
        NotErasable::NoStick { kind: disk.kind, bus: disk.bus }
    } else if disk.is_empty() {
        return Err(OpenError::NoMedium { path: path.to_owned() });
    } else if disk.is_read_only {
        NotErasable::ReadOnly
    } else {
        return Ok(());
    };
    Err(OpenError::NotErasable { path: path.to_owned(), reason })
}

/// What uses one of `nodes`, and how to end that.
fn user(disk: &Disk, nodes: &[&Node], roots: &Roots) -> Option<String> {
    let (swaps, loops) = (swaps(roots), loops(roots));
    nodes.iter().find_map(|node| {
        let name = node.name();
        let holder = node.entries("holders").first().map(|holder| holder::use_and_advice(holder, &name));
        let mount = || {
            let path = &mounts_of(disk, &name).next()?.path;
            Some(format!("{name} is mounted at {path}; unmount it first (umount /dev/{name})"))
        };
        let is_it = |path: &str| is_device_file(path, node, roots);
        let swap = || {
            let path = swaps.iter().find(|path| is_it(path))?;
            Some(format!("{name} is swap space; turn it off first (swapoff {path})"))
        };
        let attached = || {
            let (user, _) = loops.iter().find(|(_, backing)| is_it(backing))?;
            Some(format!(
                "the loop device {user} is attached to {name}; detach that first (losetup -d /dev/{user})"
            ))
        };
        holder.or_else(mount).or_else(swap).or_else(attached)
    })
}

/// Whether `path` is the device file of `node`: by its name, and on this machine also by its device number,
/// because a device file can have any name.
fn is_device_file(path: &str, node: &Node, roots: &Roots) -> bool {
    let is_same_number = || {
        let found = std::fs::metadata(path).ok().filter(|found| found.file_type().is_block_device())?;
        let (major, minor) = (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
        Some(node.text("dev")? == format!("{major}:{minor}"))
    };
    path == format!("/dev/{}", node.name()) || (roots.are_live() && is_same_number() == Some(true))
}

/// The loop devices and the paths of what they are attached to. The kernel lists no holder for them.
fn loops(roots: &Roots) -> Vec<(String, String)> {
    let disks = Sysfs::at(&roots.sysfs).disks().unwrap_or_default();
    let backing = |disk: Node| Some((disk.name(), disk.text("loop/backing_file")?));
    disks.into_iter().filter_map(backing).collect()
}

/// The mounts of the partition of this name, or of the disk itself.
fn mounts_of<'a>(disk: &'a Disk, name: &str) -> impl Iterator<Item = &'a Mount> {
    let of_partition = disk.partitions.iter().find(|partition| partition.name == name);
    let whole = (disk.name == name).then_some(&disk.mounts).into_iter().flatten();
    let of_partitions =
        |mount: &&Mount| disk.partitions.iter().any(|partition| partition.mounts.contains(mount));
    let of_itself = whole.filter(move |mount| !of_partitions(mount));
    of_partition.into_iter().flat_map(|partition| &partition.mounts).chain(of_itself)
}

/// Where udev keeps persistent names, which are built from a disk's own identity.
const PERSISTENT_NAMES: &str = "disk/by-id";

/// The persistent name of the disk at `path`, e.g. `/dev/disk/by-id/usb-SanDisk_Ultra_4C53-0:0`, if udev
/// gave it one.
#[must_use]
pub fn persistent_name(path: &Path, roots: &Roots) -> Option<PathBuf> {
    let disk = std::fs::canonicalize(path).ok()?;
    let names = std::fs::read_dir(roots.devices.as_ref()?.join(PERSISTENT_NAMES)).ok()?.flatten();
    let mut names: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
    names.sort();
    names.into_iter().find(|name| std::fs::canonicalize(name).is_ok_and(|named| named == disk))
}

/// Whether `path` is a persistent name.
#[must_use]
pub fn is_persistent_name(path: &Path, roots: &Roots) -> bool {
    let directory = roots.devices.as_ref().map(|devices| devices.join(PERSISTENT_NAMES));
    directory.is_some() && path.parent() == directory.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreed::Agreed;
    use crate::trial_mount::has_agreed_medium;

    /// A copy of a machine's trees, with changes.
    struct Machine {
        directory: tempfile::TempDir,
    }

    impl Machine {
        fn new(name: &str) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(name);
            let copied =
                std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(directory.path()).status();
            assert!(copied.unwrap().success());
            Self { directory }
        }

        fn with(self, file: &str, contents: &str) -> Self {
            let path = self.directory.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, contents).unwrap();
            self
        }

        fn linked(self, link: &str, target: &str) -> Self {
            let link = self.directory.path().join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.directory.path().join(target), link).unwrap();
            self
        }

        /// A further disk of 8 GiB in the device directory `device`, with nothing mounted.
        fn with_disk(self, device: &str, disk: &str, removable: &str) -> Self {
            let block = format!("sys/devices/{device}/block/{disk}");
            self.with("proc/self/mountinfo", NOTHING_MOUNTED)
                .with(&format!("{block}/size"), "16777216\n")
                .with(&format!("{block}/removable"), removable)
                .with(&format!("{block}/ro"), "0\n")
                .linked(&format!("{block}/device"), &format!("sys/devices/{device}"))
                .linked(&format!("sys/block/{disk}"), &block)
        }

        /// The result for the disk `sdb` with this consent.
        fn permit_agreed(&self, consent: &dyn Consent) -> Result<(), OpenError> {
            let roots = Roots::copy(self.directory.path());
            permit_agreed(Sysfs::at(&roots.sysfs).disk("sdb").as_ref(), "/dev/sdb", consent, &roots)
        }

        /// The result for the disk, or the partition of a disk, of this name.
        fn permit(&self, disk: &str, partition: Option<&str>) -> Result<Erasable, String> {
            let roots = Roots::copy(self.directory.path());
            let node = Sysfs::at(&roots.sysfs).disk(disk).unwrap();
            let node = partition.map_or_else(|| Some(node.clone()), |partition| node.below(partition));
            permit(node.as_ref(), "/dev/it", &roots).map_err(|error| error.to_string())
        }
    }

    const NOTHING_MOUNTED: &str = "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n";

    #[test]
    fn system_disk_and_its_free_partitions_are_never_erased() {
        let desktop = Machine::new("desktop");
        for partition in [None, Some("nvme0n1p1"), Some("nvme0n1p2")] {
            let text = desktop.permit("nvme0n1", partition).unwrap_err();
            assert!(text.contains("the running system lies on it"), "{text}");
        }
        let pi = Machine::new("raspberry-pi");
        let text = pi.permit("mmcblk0", None).unwrap_err();
        assert!(text.contains("the running system lies on it"), "{text}");
        let spare = Machine::new("desktop").with("proc/self/mountinfo", "");
        let text = spare.permit("nvme0n1", None).unwrap_err();
        assert!(text.contains("disk on nvme") && text.contains("sticks and cards"), "{text}");
    }

    #[test]
    fn mounted_disk_error_names_the_mount_and_the_command() {
        let desktop = Machine::new("desktop");
        for partition in [None, Some("sdb1")] {
            let text = desktop.permit("sdb", partition).unwrap_err();
            assert!(text.contains("sdb1 is mounted at /media/ada/ULTRA FIT"), "{text}");
            assert!(text.contains("umount /dev/sdb1"), "{text}");
        }
    }

    #[test]
    fn unused_stick_may_be_erased_and_is_identified() {
        let desktop = Machine::new("desktop").with("proc/self/mountinfo", NOTHING_MOUNTED);
        let whole = desktop.permit("sdb", None).unwrap();
        assert_eq!((whole.name.as_str(), whole.identity.partition.is_none()), ("sdb", true));
        let part = desktop.permit("sdb", Some("sdb1")).unwrap();
        assert_eq!((part.name.as_str(), part.identity.partition.is_some()), ("sdb1", true));
        assert_eq!(part.medium, whole.medium);
        let later = desktop.with("sys/block/sdb/diskseq", "12\n").permit("sdb", None).unwrap();
        assert_ne!(later.medium, whole.medium, "another stick may have the same serial number");
    }

    #[test]
    fn swap_space_and_device_mapper_prevent_erasing() {
        let swap = "Filename\tType\tSize\tUsed\tPriority\n/dev/sdb1  partition\t100\t0\t-2\n";
        let desktop = Machine::new("desktop")
            .with("proc/self/mountinfo", NOTHING_MOUNTED)
            .with("proc/swaps", swap)
            .with("sys/block/sdc/sdc1/holders/dm-0/dev", "253:0\n");
        let text = desktop.permit("sdb", None).unwrap_err();
        assert!(text.contains("swapoff /dev/sdb1"), "{text}");
        let text = desktop.permit("sdc", None).unwrap_err();
        assert!(text.contains("dm-0 is using sdc1"), "{text}");
    }

    const ATA: &str = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
    const USB: &str = "pci0000:00/0000:00:14.0/usb1/1-9/1-9:1.0/host9/target9:0:0/9:0:0:0";
    const EMMC: &str = "platform/sdhci.1/mmc_host/mmc1/mmc1:0001";

    /// A hot-swap frame or a CompactFlash adapter: the kernel calls the disk removable.
    #[test]
    fn removable_disks_on_other_buses_than_usb_and_mmc_are_refused() {
        let ata = Machine::new("desktop").with_disk(ATA, "sdx", "1\n");
        let text = ata.permit("sdx", None).unwrap_err();
        assert!(text.contains("on ata") && text.contains("sticks and cards"), "{text}");
        let scsi = ATA.replace("ata1/", "");
        let text = Machine::new("desktop").with_disk(&scsi, "sdx", "1\n").permit("sdx", None).unwrap_err();
        assert!(text.contains("on scsi"), "{text}");
        let usb = Machine::new("desktop").with_disk(USB, "sdx", "1\n");
        assert!(usb.permit("sdx", None).is_ok(), "the same disk on USB is a stick");
    }

    #[test]
    fn emmc_chips_their_boot_partitions_and_optical_drives_are_refused() {
        for (name, kind) in [
            ("mmcblk1", "an eMMC chip"),
            ("mmcblk1boot0", "a part of an eMMC chip"),
            ("mmcblk1boot1", "a part of an eMMC chip"),
            ("mmcblk1rpmb", "a part of an eMMC chip"),
            ("mmcblk1gp0", "a part of an eMMC chip"),
        ] {
            let machine = Machine::new("desktop").with_disk(EMMC, name, "0\n");
            let text = machine.with(&format!("sys/devices/{EMMC}/type"), "MMC\n").permit(name, None);
            let text = text.unwrap_err();
            assert!(text.contains(&format!("it is {kind} on mmc")), "{name}: {text}");
        }
        let card = Machine::new("desktop").with_disk(EMMC, "mmcblk1", "0\n");
        let card = card.with(&format!("sys/devices/{EMMC}/type"), "SD\n");
        assert!(card.permit("mmcblk1", None).is_ok(), "a card in the same slot may be erased");
        let optical = Machine::new("desktop").with_disk(USB, "sr0", "1\n");
        let text = optical.with(&format!("sys/devices/{USB}/type"), "5\n").permit("sr0", None).unwrap_err();
        assert!(text.contains("it is an optical drive on usb"), "{text}");
    }

    #[test]
    fn consent_is_valid_for_one_medium_only() {
        let desktop = Machine::new("desktop").with("proc/self/mountinfo", NOTHING_MOUNTED);
        let medium = desktop.permit("sdb", None).unwrap().medium;
        let consent = || Agreed::to_erase("/dev/sdb");
        assert_eq!(desktop.permit_agreed(&consent().of_medium(&medium)), Ok(()));
        let changed = desktop.permit_agreed(&consent().of_medium("sdb 9 1")).unwrap_err();
        assert!(matches!(changed, OpenError::MediumChanged { .. }), "{changed}");
        // The person agreed to an image file, and a disk took its path since.
        let image = desktop.permit_agreed(&consent()).unwrap_err();
        assert!(matches!(image, OpenError::NotConsented { .. }), "{image}");
    }

    /// Kernels before 5.15 count no disks: serial number and size tell one stick from another.
    #[test]
    fn medium_is_known_by_serial_number_size_and_disk_counter() {
        const STICK: &str = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-2";
        let medium = |file: &str, contents: &str| {
            let desktop = Machine::new("desktop").with("proc/self/mountinfo", NOTHING_MOUNTED);
            std::fs::remove_file(desktop.directory.path().join("sys/block/sdb/diskseq")).ok();
            desktop.with(file, contents).permit("sdb", None).unwrap().medium
        };
        let mediums = [
            medium("unrelated", ""),
            medium(&format!("{STICK}/serial"), "another\n"),
            medium(&format!("{STICK}/product"), "Another\n"),
            medium("sys/block/sdb/size", "16777216\n"),
            medium("sys/block/sdb/diskseq", "77\n"),
        ];
        for (index, medium) in mediums.iter().enumerate() {
            assert!(!mediums[index + 1..].contains(medium), "{mediums:?}");
        }
    }

    #[test]
    fn users_of_the_whole_disk_and_of_other_partitions_prevent_erasing() {
        let unmounted = || Machine::new("desktop").with("proc/self/mountinfo", NOTHING_MOUNTED);
        // A volume group or an array on the whole disk, behind an old partition table.
        for holder in ["dm-3", "md0", "bcache0"] {
            let held = unmounted().with(&format!("sys/block/sdb/holders/{holder}/dev"), "253:0\n");
            for partition in [None, Some("sdb1")] {
                let text = held.permit("sdb", partition).unwrap_err();
                assert!(text.contains(&format!("{holder} is using sdb")), "{text}");
            }
        }
        for backing in ["/dev/sdb", "/dev/sdb1"] {
            let text = unmounted().with("sys/block/loop0/loop/backing_file", &format!("{backing}\n"));
            let text = text.permit("sdb", None).unwrap_err();
            assert!(text.contains("losetup -d /dev/loop0"), "{text}");
        }
        for (place, stick_is_refused) in
            [("/home", true), ("/boot/efi", true), ("/var", true), ("/efi", true), ("/media/x", false)]
        {
            let root = "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n";
            let mounts = format!("{root}36 35 8:17 / {place} rw - ext4 /dev/sdb1 rw\n");
            let desktop = Machine::new("desktop").with("proc/self/mountinfo", &mounts);
            let text = desktop.permit("sdb", None).unwrap_err();
            assert_eq!(text.contains("the running system"), stick_is_refused, "{place}: {text}");
        }
    }

    /// A device file of this machine and its number; `None`, with a message, where no disk has one.
    fn device_file() -> Option<(PathBuf, String)> {
        let numbered = |path: PathBuf| {
            let found = std::fs::metadata(&path).ok().filter(|found| found.file_type().is_block_device())?;
            let (major, minor) = (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev()));
            Some((path, format!("{major}:{minor}")))
        };
        let found = std::fs::read_dir("/dev").unwrap().flatten().find_map(|entry| numbered(entry.path()));
        if found.is_none() {
            crate::testing::skip("there is no block device here");
        }
        found
    }

    /// Swap space and loop devices name a disk by any of its device files, e.g. one of device mapper.
    #[test]
    fn user_of_a_disk_is_found_by_any_name_and_is_not_taken_for_one_of_another_disk() {
        let Some((file, number)) = device_file() else { return };
        let is_it = |number: &str| {
            let machine = Machine::new("desktop").with("sys/block/sdb/dev", &format!("{number}\n"));
            let machine = machine.linked("names/another", file.to_str().unwrap());
            let another = machine.directory.path().join("names/another");
            let (copy, live) = (Roots::copy(machine.directory.path()), Roots::default());
            let node = Sysfs::at(&copy.sysfs).disk("sdb").unwrap();
            assert!(is_device_file("/dev/sdb", &node, &copy));
            [&live, &copy].map(|roots| is_device_file(another.to_str().unwrap(), &node, roots))
        };
        // Numbers of a copy are those of another machine.
        assert_eq!((is_it(&number), is_it("0:0")), ([true, false], [false, false]));
    }

    #[test]
    fn path_has_the_agreed_medium_only_while_that_medium_is_there() {
        let Some((file, number)) = device_file() else { return };
        let machine = Machine::new("desktop").with("proc/self/mountinfo", NOTHING_MOUNTED);
        let link = format!("sys/dev/block/{number}");
        std::fs::remove_file(machine.directory.path().join(&link)).ok();
        let machine = machine.linked(&link, "sys/block/sdb");
        let medium = machine.permit("sdb", None).unwrap().medium;
        let has =
            |consent: &dyn Consent| has_agreed_medium(&file, consent, &Roots::copy(machine.directory.path()));
        let consent = || Agreed::to_erase("/dev/sdb");
        assert!(has(&consent().of_medium(&medium)));
        assert!(!has(&consent().of_medium("sdb 9 1")));
        assert!(!has(&consent()), "agreed to for an image file");
        let machine = machine.with("sys/block/sdb/diskseq", "12\n");
        let later = Roots::copy(machine.directory.path());
        assert!(!has_agreed_medium(&file, &consent().of_medium(&medium), &later), "another stick since");
    }

    #[test]
    fn empty_reader_and_write_protected_card_are_refused() {
        let readers = Machine::new("card-readers");
        let text = readers.permit("sdb", None).unwrap_err();
        assert!(text.contains("no card"), "{text}");
        let locked = Machine::new("desktop")
            .with("proc/self/mountinfo", NOTHING_MOUNTED)
            .with("sys/block/sdb/ro", "1\n");
        let text = locked.permit("sdb", None).unwrap_err();
        assert!(text.contains("lock switch"), "{text}");
        let part = Machine::new("desktop")
            .with("proc/self/mountinfo", NOTHING_MOUNTED)
            .with("sys/block/sdb/sdb1/ro", "1\n");
        let text = part.permit("sdb", Some("sdb1")).unwrap_err();
        assert!(text.contains("takes no writes"), "{text}");
    }

    #[test]
    fn disk_unknown_to_sysfs_is_refused() {
        let text = permit(None, "/dev/it", &Roots::default()).unwrap_err().to_string();
        assert!(text.contains("what it is"), "{text}");
    }

    #[test]
    fn image_file_is_not_an_erasable_disk() {
        let image = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(erasable(image.path(), &Roots::default()), Ok(None));
        assert_eq!(erasable(Path::new("/nowhere"), &Roots::default()), Ok(None));
    }

    #[test]
    fn persistent_name_resolves_to_the_disk_and_lies_in_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let names = directory.path().join("dev/disk/by-id");
        for needed in [&names, &directory.path().join("sys")] {
            std::fs::create_dir_all(needed).unwrap();
        }
        let [disk, other] = ["dev/sdb", "dev/sdc"].map(|name| directory.path().join(name));
        for path in [&disk, &other] {
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("../../sdb", names.join("usb-Stick_1-0:0")).unwrap();
        let roots = Roots::copy(directory.path());
        let name = persistent_name(&disk, &roots).unwrap();
        assert!(name.ends_with("usb-Stick_1-0:0"), "{}", name.display());
        assert_eq!(persistent_name(&other, &roots), None);
        let is_persistent = |path: &Path| is_persistent_name(path, &roots);
        assert!(is_persistent(&roots.devices.clone().unwrap().join("disk/by-id/usb-Stick_1-0:0")));
        assert!(
            !is_persistent(&disk)
                && !is_persistent(&roots.devices.clone().unwrap().join("disk/by-id/../../sdb"))
        );
    }
}
