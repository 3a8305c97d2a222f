//! Loop devices: real block devices over image files. Needs root and `losetup`.

use std::path::{Path, PathBuf};
use std::process::Command;

use flashscope_device::{Bytes, Consent, Device, DeviceError, FailureCause, Op, Success, Tag};
use flashscope_linux::{
    Access, Engine, JournalFile, JournalFileError, LinuxDevice, OpenError, OpenOptions, Remark, Roots,
    erasable, examine_image, identify, journals, list, open,
};

use crate::agreed::Agreed;
use crate::support::{ENGINES, Image, PATTERN, check, range, run, skip};

/// A loop device over an image, detached when dropped.
struct Loop {
    path: PathBuf,
    image: Image,
}

impl Loop {
    /// `None`, with a message, where loop devices are not available.
    fn over(image: Image, options: &[&str]) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip("loop devices need root");
            return None;
        }
        let attached =
            Command::new("losetup").args(["--find", "--show"]).args(options).arg(&image.path).output();
        match attached.ok().filter(|output| output.status.success()) {
            Some(output) => {
                let path = String::from_utf8(output.stdout).unwrap().trim().into();
                Some(Self { path, image })
            }
            None => {
                skip("losetup cannot attach a loop device here");
                None
            }
        }
    }

    fn device(&self, engine: Engine, queue_depth: u32) -> impl Device {
        open(&self.path, &OpenOptions { engine, queue_depth, ..OpenOptions::default() }).unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.path).status();
        assert!(detached.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

fn written_image() -> Image {
    let image = Image::of(Bytes::mib(4));
    run(&mut image.erasable(Engine::Sync, 1), Op::write(range(0, 4096), PATTERN));
    image
}

#[test]
fn read_only_loop_device_is_not_erased() {
    let Some(locked) = Loop::over(written_image(), &["--read-only"]) else { return };
    let refused = erasable(&locked.path, &Roots::default()).unwrap_err().to_string();
    assert!(refused.contains("takes no writes"), "{refused}");
    let Some(open) = Loop::over(written_image(), &[]) else { return };
    let erasable = erasable(&open.path, &Roots::default()).unwrap().unwrap();
    assert_eq!(erasable.backing, Some(open.image.path.clone()));
}

/// The person agreed to erase one file, and another was attached meanwhile.
#[test]
fn loop_device_over_another_file_is_not_opened_for_writing() {
    let (first, second) = (written_image(), Image::of(Bytes::mib(4)));
    let Some(disk) = Loop::over(first, &[]) else { return };
    let consent = consent_for(&disk.path);
    let detached = Command::new("losetup").arg("--detach").arg(&disk.path).status();
    let attached = Command::new("losetup").arg(&disk.path).arg(&second.path).status();
    assert!(detached.unwrap().success() && attached.unwrap().success());
    let open_with = |consent: &dyn Consent| {
        open(&disk.path, &OpenOptions { access: Access::Erase(consent), ..OpenOptions::default() })
    };
    let refused = open_with(&consent).unwrap_err();
    assert!(matches!(refused, OpenError::MediumChanged { .. }), "{refused}");
    let of_no_file = Agreed::to_erase(disk.path.to_str().unwrap());
    let refused = open_with(&of_no_file).unwrap_err();
    assert!(matches!(refused, OpenError::NotConsented { .. }), "{refused}");
    assert!(open_with(&consent_for(&disk.path)).is_ok());
}

/// Permission to erase what is at this path now.
fn consent_for(path: &Path) -> Agreed {
    let consent = Agreed::to_erase(path.to_str().unwrap());
    match erasable(path, &Roots::default()) {
        Ok(Some(disk)) => consent.of_medium(disk.medium),
        _ => consent,
    }
}

#[test]
fn block_device_reads_its_image_and_refuses_writes() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    for (engine, queue_depth) in ENGINES {
        let mut device = disk.device(engine, queue_depth);
        assert_eq!(device.capabilities().capacity, Bytes::mib(4));
        assert_eq!(run(&mut device, check(range(0, 4096))).outcome, Ok(Success::AllRight));
        assert_eq!(run(&mut device, check(range(512, 4))).outcome, Ok(Success::AllRight));
        let refused = run(&mut device, Op::write(range(0, 4), PATTERN)).outcome.unwrap_err();
        assert_eq!(refused.cause, FailureCause::ReadOnly);
    }
}

#[test]
fn sector_size_comes_from_the_disk() {
    let Some(disk) = Loop::over(written_image(), &["--sector-size", "4096"]) else { return };
    let mut device = disk.device(Engine::Sync, 1);
    assert_eq!(device.capabilities().logical_block, Bytes::kib(4));
    let half = flashscope_device::ByteRange::new(Bytes::kib(4), Bytes::kib(2));
    let refused = run(&mut device, Op::read(half)).outcome.unwrap_err();
    assert_eq!(refused.cause, FailureCause::Misaligned { logical_block: Bytes::kib(4) });
}

#[test]
fn image_under_a_loop_device_is_not_opened_for_writing() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let refused = |path: &Path| open_for_writing(path).unwrap_err();
    let user = Some(disk.path.to_str().unwrap().to_owned());
    let path = disk.image.path.to_str().unwrap().to_owned();
    assert_eq!(refused(&disk.image.path), OpenError::InUse { path, user });
    assert!(open(&disk.image.path, &OpenOptions::default()).is_ok());
}

/// The path that the kernel shows for the loop device need not be the one of the target.
#[test]
fn image_under_a_loop_device_is_recognised_by_any_path() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let path = |name: &str| disk.image.directory.path().join(name);
    let [hard, soft, folder] = ["hard.img", "soft.img", "bound"].map(path);
    std::fs::hard_link(&disk.image.path, &hard).unwrap();
    std::os::unix::fs::symlink(&disk.image.path, &soft).unwrap();
    std::fs::create_dir(&folder).unwrap();
    let is_bound = Command::new("mount").arg("--bind").arg(disk.image.directory.path()).arg(&folder).status();
    let mut paths = vec![hard.clone(), soft];
    if is_bound.is_ok_and(|bound| bound.success()) {
        paths.push(folder.join("stick.img"));
    } else {
        skip("directories cannot be bound here");
    }
    let refused: Vec<_> = paths.iter().map(|path| open_for_writing(path)).collect();
    let _ = Command::new("umount").arg(&folder).status();
    for refused in refused {
        assert!(matches!(refused, Err(OpenError::InUse { user: Some(_), .. })), "{refused:?}");
    }
    // The kernel shows the removed path now.
    std::fs::remove_file(&disk.image.path).unwrap();
    let refused = open_for_writing(&hard);
    assert!(matches!(refused, Err(OpenError::InUse { user: Some(_), .. })), "{refused:?}");
}

/// ZFS, and all but the first disk of a btrfs, hold a disk without a holder in sysfs or a mount of its name.
#[test]
fn disk_claimed_by_the_kernel_alone_is_not_opened_for_writing() {
    use rustix::fs::{Mode, OFlags};
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    // Without CLOEXEC a program that another test starts holds the disk as long as it runs.
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    let claim = rustix::fs::open(&disk.path, flags, Mode::empty()).unwrap();
    let refused = open_for_writing(&disk.path).unwrap_err();
    assert!(matches!(refused, OpenError::InUse { user: None, .. }), "{refused}");
    drop(claim);
    assert!(open_for_writing(&disk.path).is_ok());
}

/// A card that was exchanged while the device was open: here, the size is another one.
#[test]
fn medium_of_a_loop_device_is_compared_before_the_first_write() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let mut device = open_for_writing(&disk.path).unwrap();
    run(&mut device, Op::read(range(0, 4))).outcome.unwrap();
    disk.image.resize(Bytes::mib(5));
    let resized = Command::new("losetup").arg("--set-capacity").arg(&disk.path).status();
    assert!(resized.unwrap().success());
    let before = std::fs::read(&disk.image.path).unwrap();
    for _ in 0..2 {
        let refused = device.submit(Tag(0), Op::write(range(0, 8), PATTERN.next_generation()));
        assert_eq!(refused, Err(DeviceError::MediumChanged));
    }
    assert_eq!(std::fs::read(&disk.image.path).unwrap(), before);
}

fn open_for_writing(path: &Path) -> Result<LinuxDevice, OpenError> {
    let consent = consent_for(path);
    open(path, &OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() })
}

#[test]
fn loop_device_over_an_image_is_erased_by_one_process_at_a_time() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let read_only = open(&disk.path, &OpenOptions::default()).unwrap();
    assert!(!read_only.remarks().contains(&Remark::Erased), "{:?}", read_only.remarks());
    let mut device = open_for_writing(&disk.path).unwrap();
    assert!(device.remarks().contains(&Remark::Erased), "{:?}", device.remarks());
    run(&mut device, Op::write(range(0, 8), PATTERN.next_generation())).outcome.unwrap();
    let second = open_for_writing(&disk.path).unwrap_err();
    assert!(matches!(second, OpenError::InUse { user: None, .. }), "{second}");
    drop(device);
    assert!(open_for_writing(&disk.path).is_ok());
}

/// A mounted filesystem, unmounted when dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    /// `None`, with a message, where the filesystem cannot be made or mounted.
    fn ext4(disk: &Path) -> Option<Self> {
        let made = Command::new("mkfs.ext4").arg("-q").arg(disk).status();
        let folder = tempfile::tempdir().unwrap();
        let mount = || Command::new("mount").arg(disk).arg(folder.path()).status();
        if made.is_ok_and(|made| made.success()) && mount().is_ok_and(|mounted| mounted.success()) {
            return Some(Self(folder));
        }
        skip("an ext4 cannot be made and mounted here");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

#[test]
fn mounted_loop_device_is_not_opened_for_writing() {
    let Some(disk) = Loop::over(Image::of(Bytes::mib(16)), &[]) else { return };
    let Some(mounted) = Mounted::ext4(&disk.path) else { return };
    let refused = open_for_writing(&disk.path).unwrap_err();
    assert!(matches!(refused, OpenError::DiskInUse { .. }), "{refused}");
    let place = mounted.0.path().to_str().unwrap();
    assert!(refused.to_string().contains(&format!("is mounted at {place}; unmount it")), "{refused}");
    assert!(open(&disk.path, &OpenOptions::default()).is_ok(), "reading a mounted disk is allowed");
    let folder = mounted.0.path().join("journals");
    let journal = JournalFile::create(&folder, "a", &disk.path, Bytes::kib(1));
    assert!(matches!(journal, Err(JournalFileError::OnTarget { .. })), "{journal:?}");
    assert_eq!(journals(&folder).unwrap(), Vec::<PathBuf>::new());
    drop(mounted);
    assert!(open_for_writing(&disk.path).is_ok());
}

#[test]
fn loop_device_that_holds_swap_is_not_opened_for_writing() {
    let Some(disk) = Loop::over(Image::of(Bytes::mib(4)), &[]) else { return };
    let run = |program: &str| Command::new(program).arg(&disk.path).output();
    let is_swap = run("mkswap").is_ok_and(|made| made.status.success())
        && run("swapon").is_ok_and(|on| on.status.success());
    if !is_swap {
        return skip("swap space cannot be made here");
    }
    let refused = open_for_writing(&disk.path);
    assert!(run("swapoff").is_ok_and(|off| off.status.success()));
    assert!(matches!(refused, Err(OpenError::DiskInUse { .. })), "{refused:?}");
}

/// The kernel's own list of swap space, not a copy of one.
#[test]
fn active_swap_file_is_not_opened_for_writing() {
    let image = Image::of(Bytes::mib(4));
    // A swap file must not have holes.
    std::fs::write(&image.path, vec![0; 4 << 20]).unwrap();
    let run = |program: &str| Command::new(program).arg(&image.path).output();
    let is_swap = run("mkswap").is_ok_and(|made| made.status.success())
        && run("swapon").is_ok_and(|on| on.status.success());
    if !is_swap {
        return skip("a swap file cannot be made here");
    }
    let examined = examine_image(&image.path, true, &Roots::default());
    let refused = open_for_writing(&image.path);
    assert!(run("swapoff").is_ok_and(|off| off.status.success()));
    assert!(matches!(examined, Err(OpenError::DiskInUse { .. })), "{examined:?}");
    assert!(matches!(refused, Err(OpenError::DiskInUse { .. })), "{refused:?}");
    assert!(open_for_writing(&image.path).is_ok());
}

#[test]
fn loop_device_over_a_disk_is_not_erased() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let below = Image { path: disk.path.clone(), directory: tempfile::tempdir().unwrap() };
    let Some(above) = Loop::over(below, &[]) else { return };
    let refused = open_for_writing(&above.path).unwrap_err();
    assert!(matches!(refused, OpenError::NotErasable { .. }), "{refused}");
}

/// A missing part of the file under a loop device is an I/O error on it, as on a failing stick.
#[test]
fn medium_error_fails_one_request_only() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    disk.image.resize(Bytes::mib(1));
    for (engine, queue_depth) in ENGINES {
        let mut device = disk.device(engine, queue_depth);
        let failed = run(&mut device, Op::read(range(2048, 64))).outcome.unwrap_err();
        assert_eq!((failed.cause, failed.range), (FailureCause::Medium, Some(range(2048, 64))));
        assert_eq!(run(&mut device, check(range(0, 64))).outcome, Ok(Success::AllRight));
    }
}

#[test]
fn loop_device_is_listed_and_identified() {
    let Some(disk) = Loop::over(written_image(), &[]) else { return };
    let disks = list(&Roots::default()).unwrap().disks;
    let listed = disks.iter().find(|listed| listed.path == disk.path).unwrap();
    assert_eq!((listed.capacity, listed.bus.as_str()), (Bytes::mib(4), "loop"));
    let identity = identify(&disk.path, &Roots::default());
    assert_eq!(identity.disk.as_ref(), Some(listed));
    assert!(identity.name.contains("4 MiB, loop"), "{}", identity.name);
    assert!(identify(&disk.image.path, &Roots::default()).name.contains("image file stick.img, 4 MiB"));
}

#[test]
fn partition_reports_its_offset() {
    let Some(disk) = Loop::over(written_image(), &["--partscan"]) else { return };
    // Added explicitly, because not every kernel reads partition tables; detaching with --partscan removes
    // it.
    let added = Command::new("addpart").arg(&disk.path).args(["1", "2048", "2048"]).status();
    if !added.is_ok_and(|status| status.success()) {
        return skip("addpart (util-linux) cannot add a partition here");
    }
    let path = PathBuf::from(format!("{}p1", disk.path.display()));
    let device = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(device.capabilities().capacity, Bytes::mib(1));
    assert!(device.remarks().contains(&Remark::Partition { start: Bytes::mib(1) }), "{:?}", device.remarks());
    let partition = identify(&path, &Roots::default()).partition.unwrap();
    assert_eq!((partition.start, partition.length), (Bytes::mib(1), Bytes::mib(1)));
}
