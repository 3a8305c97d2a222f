//! Opens a path as a device: checks what it is, checks permission, picks the geometry and the engine.

use std::os::fd::OwnedFd;
use std::path::Path;

use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Capabilities, Consent};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::clock::Clock;
use crate::device::LinuxDevice;
use crate::engine::{ActiveEngine, Engine};
use crate::erasable;
use crate::error::OpenError;
use crate::geometry::{self, Geometry};
use crate::image_file::examine_image;
use crate::printable::printable;
use crate::remark::Remark;
use crate::roots::Roots;
use crate::sysfs::{Node, Sysfs};
use crate::target::{Target, TargetKind};
use crate::udisks;

/// The largest request. It equals the largest erase block seen, so that one write can fill one.
pub const MAX_REQUEST: Bytes = Bytes::mib(64);

/// The largest queue depth. No stick queues as many requests.
const QUEUE_DEPTH_MAX: u32 = 1024;

/// What may be done to the target.
#[derive(Debug, Clone, Copy)]
pub enum Access<'a> {
    /// Reading only. The device refuses everything else.
    ReadOnly,
    /// Reading and writing, with this permission. Allowed for files, loop devices over files, and disks
    /// that are [`erasable()`](crate::erasable()).
    Erase(&'a dyn Consent),
}

/// How to open a target.
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions<'a> {
    /// What may be done to it.
    pub access: Access<'a>,
    /// The queue depth, from 1 to 1024.
    pub queue_depth: u32,
    /// The engine that serves the requests.
    pub engine: Engine,
    /// Ends the wait for a password, which udisks2 may ask for.
    pub interrupt: Option<&'a Interrupt>,
}

impl Default for OpenOptions<'_> {
    /// Read-only, queue depth 1.
    fn default() -> Self {
        Self { access: Access::ReadOnly, queue_depth: 1, engine: Engine::Best, interrupt: None }
    }
}

/// Opens a block device or an image file, with direct I/O wherever the filesystem allows it.
///
/// [`LinuxDevice::remarks`] lists what affects the measurement. Without permission to write the file is
/// opened read-only. The caller adds the layers `ReadOnly` and `Fence` all the same.
///
/// A disk that a user other than root may not open is opened by udisks2, if it runs here.
///
/// # Errors
/// [`OpenError`], with what to try.
pub fn open(path: &Path, options: &OpenOptions<'_>) -> Result<LinuxDevice, OpenError> {
    let name = printable(&path.to_string_lossy());
    if !(1..=QUEUE_DEPTH_MAX).contains(&options.queue_depth) {
        return Err(OpenError::QueueDepth { asked: options.queue_depth, most: QUEUE_DEPTH_MAX });
    }
    let opening = Opening { path, name, options };
    let kind = opening.examine()?;
    opening.permit(kind)?;
    opening.device(kind)
}

/// One attempt to open one path.
struct Opening<'a> {
    path: &'a Path,
    name: String,
    options: &'a OpenOptions<'a>,
}

impl Opening<'_> {
    /// The kind of target that the path names.
    fn examine(&self) -> Result<TargetKind, OpenError> {
        let stat = rustix::fs::stat(self.path)
            .map_err(|errno| self.error("examining it", errno, TargetKind::File))?;
        self.kind_of(&stat)
    }

    fn kind_of(&self, stat: &Stat) -> Result<TargetKind, OpenError> {
        let path = self.name.clone();
        let what = match FileType::from_raw_mode(stat.st_mode) {
            FileType::BlockDevice => return Ok(TargetKind::Disk),
            FileType::RegularFile => return Ok(TargetKind::File),
            FileType::Directory => return Err(OpenError::Directory { path }),
            FileType::CharacterDevice => "character device",
            FileType::Fifo => "named pipe",
            FileType::Socket => "socket",
            _ => "file of an unknown kind",
        };
        Err(OpenError::NotStorage { path, what })
    }

    /// Checks whether the requested access is allowed.
    fn permit(&self, kind: TargetKind) -> Result<(), OpenError> {
        let Access::Erase(consent) = self.options.access else { return Ok(()) };
        let path = self.name.clone();
        if kind == TargetKind::Disk {
            self.permit_disk(Sysfs::default().node_at(self.path), consent)?;
        }
        if self.path.to_str() != Some(consent.target()) {
            return Err(OpenError::NotConsented { path, consented: printable(consent.target()) });
        }
        examine_image(self.path, consent.includes_other_files(), &Roots::default())?;
        match Sysfs::default().loop_over(self.path) {
            Some(user) => Err(OpenError::InUse { path, user: Some(user) }),
            None => Ok(()),
        }
    }

    /// It must be an unused stick or card with the medium that the person agreed to erase, or a loop device
    /// over the file that they agreed to erase.
    fn permit_disk(&self, disk: Option<Node>, consent: &dyn Consent) -> Result<(), OpenError> {
        erasable::permit_agreed(disk.as_ref(), &self.name, consent, &Roots::default())
    }

    fn device(&self, kind: TargetKind) -> Result<LinuxDevice, OpenError> {
        let (file, direct_block) = self.file(kind)?;
        let geometry = self.geometry(&file, kind, direct_block)?;
        let mut remarks = remarks(&file, kind, direct_block, &geometry);
        if kind == TargetKind::Disk && self.loses_data() {
            remarks.push(Remark::Erased);
        }
        let mut target = Target {
            capabilities: self.capabilities(&geometry),
            file,
            kind,
            is_buffered: direct_block.is_none(),
            clock: Clock::start(),
        };
        let OpenOptions { engine, queue_depth, .. } = *self.options;
        let engine = ActiveEngine::start(engine, queue_depth, &mut target, &mut remarks)
            .map_err(|errno| OpenError::RingRefused { path: self.name.clone(), errno })?;
        let agreed = match self.options.access {
            Access::Erase(consent) => consent.medium(),
            Access::ReadOnly => None,
        };
        let interrupt = self.options.interrupt.cloned();
        Ok(LinuxDevice::new(target, engine, remarks).for_medium(agreed).interruptible(interrupt))
    }

    /// The descriptor, and the smallest block that direct I/O takes. The block is `None` if the filesystem
    /// refuses direct I/O and requests go through the page cache.
    fn file(&self, kind: TargetKind) -> Result<(OwnedFd, Option<Bytes>), OpenError> {
        let access = if self.is_writing() { OFlags::RDWR } else { OFlags::RDONLY };
        // For a block device, EXCL fails if it is mounted or claimed otherwise (open(2)).
        let claim =
            if self.is_writing() && kind == TargetKind::Disk { OFlags::EXCL } else { OFlags::empty() };
        let flags = access | claim | OFlags::CLOEXEC | OFlags::NOCTTY;
        let direct = match self.descriptor(flags | OFlags::DIRECT, kind) {
            Ok(file) => geometry::direct_block(&file).map(|block| (file, Some(block))),
            Err(OpenError::System { errno: Errno::INVAL, .. }) => None,
            Err(error) => return Err(error),
        };
        // With DSYNC a buffered write lasts until the storage has it, not just for a copy in memory.
        let buffered = || self.descriptor(flags | OFlags::DSYNC, kind).map(|file| (file, None));
        let (file, block) = direct.map_or_else(buffered, Ok)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| self.error("examining it", errno, kind))?;
        if self.kind_of(&stat)? != kind {
            return Err(self.error("opening it", Errno::STALE, kind));
        }
        if let Access::Erase(consent) = self.options.access {
            if kind == TargetKind::Disk {
                self.permit_disk(Sysfs::default().node_of_file(&file), consent)?;
            }
            self.lock(&file, kind)?;
        }
        if block.is_none() {
            geometry::forget_cache(&file);
        }
        Ok((file, block))
    }

    /// The descriptor: from the kernel, or of a disk that this user may not open, from udisks2.
    fn descriptor(&self, flags: OFlags, kind: TargetKind) -> Result<OwnedFd, OpenError> {
        let errno = match rustix::fs::open(self.path, flags, Mode::empty()) {
            Ok(file) => return Ok(file),
            Err(errno) => errno,
        };
        let is_forbidden = matches!(errno, Errno::ACCESS | Errno::PERM);
        if !is_forbidden || kind != TargetKind::Disk || rustix::process::geteuid().is_root() {
            return Err(self.error("opening it", errno, kind));
        }
        let found = rustix::fs::stat(self.path).map_err(|errno| self.error("examining it", errno, kind))?;
        udisks::open_disk(found.st_rdev, flags, self.options.interrupt)
            .map_err(|refusal| OpenError::of_udisks(self.name.clone(), self.purpose(), refusal))
    }

    /// Locks the file exclusively for as long as it is open. flock(2) and fcntl(2) locks do not see each
    /// other: some programs take the first, virtual machines the second. The fcntl lock ends early if this
    /// process closes another descriptor of the file; conflicts are detected before that.
    fn lock(&self, file: &OwnedFd, kind: TargetKind) -> Result<(), OpenError> {
        let exclusive = FlockOperation::NonBlockingLockExclusive;
        let locked =
            rustix::fs::flock(file, exclusive).and_then(|()| rustix::fs::fcntl_lock(file, exclusive));
        locked.map_err(|errno| match errno {
            Errno::AGAIN | Errno::ACCESS => OpenError::InUse { path: self.name.clone(), user: None },
            errno => self.error("locking it", errno, kind),
        })
    }

    fn geometry(
        &self,
        file: &OwnedFd,
        kind: TargetKind,
        direct_block: Option<Bytes>,
    ) -> Result<Geometry, OpenError> {
        let geometry = Geometry::of(file, kind, direct_block);
        let geometry = geometry.map_err(|errno| self.error("reading its size", errno, kind))?;
        let path = self.name.clone();
        match geometry.size {
            Bytes::ZERO if kind == TargetKind::Disk => Err(OpenError::NoMedium { path }),
            Bytes::ZERO => Err(OpenError::Empty { path }),
            size if geometry.capacity().is_zero() => {
                Err(OpenError::TooSmall { path, size, logical_block: geometry.logical_block })
            }
            _ => Ok(geometry),
        }
    }

    fn capabilities(&self, geometry: &Geometry) -> Capabilities {
        Capabilities {
            capacity: geometry.capacity(),
            logical_block: geometry.logical_block,
            physical_block: geometry.physical_block,
            max_request: MAX_REQUEST,
            queue_depth: self.options.queue_depth,
            writable: self.is_writing(),
            discard: self.is_writing(),
        }
    }

    const fn is_writing(&self) -> bool {
        matches!(self.options.access, Access::Erase(_))
    }

    fn loses_data(&self) -> bool {
        matches!(self.options.access, Access::Erase(consent) if consent.loses_data())
    }

    const fn purpose(&self) -> &'static str {
        if self.is_writing() { "writing" } else { "reading" }
    }

    fn error(&self, during: &'static str, errno: Errno, kind: TargetKind) -> OpenError {
        let path = self.name.clone();
        match errno {
            Errno::NOENT | Errno::NOTDIR => OpenError::Missing { path },
            Errno::ACCESS | Errno::PERM => {
                OpenError::PermissionDenied { path, purpose: self.purpose(), kind, udisks: None }
            }
            Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV => OpenError::NoMedium { path },
            Errno::BUSY if self.is_writing() => OpenError::InUse { path, user: None },
            errno => OpenError::System { path, during, errno },
        }
    }
}

fn remarks(
    file: &OwnedFd,
    kind: TargetKind,
    direct_block: Option<Bytes>,
    geometry: &Geometry,
) -> Vec<Remark> {
    let partition = || Sysfs::default().node_of_file(file).and_then(|node| node.partition_start());
    let Geometry { size, logical_block, .. } = *geometry;
    let remarks = [
        (kind == TargetKind::File).then_some(Remark::ImageFile),
        partition().filter(|_| kind == TargetKind::Disk).map(|start| Remark::Partition { start }),
        (kind == TargetKind::File && geometry::is_in_memory(file)).then_some(Remark::InMemory),
        direct_block.is_none().then_some(Remark::Buffered),
        (!size.is_multiple_of(logical_block)).then_some(Remark::OddSize { size, logical_block }),
    ];
    remarks.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::agreed::Agreed;

    fn refused(access: Access<'_>, errno: Errno, kind: TargetKind) -> String {
        let options = OpenOptions { access, ..OpenOptions::default() };
        let opening = Opening { path: Path::new("/dev/sdb"), name: "/dev/sdb".to_owned(), options: &options };
        opening.error("opening it", errno, kind).to_string()
    }

    #[test]
    fn forbidden_disk_error_names_the_disk_and_what_was_tried() {
        let text = refused(Access::ReadOnly, Errno::ACCESS, TargetKind::Disk);
        assert!(text.contains("/dev/sdb") && text.contains("for reading"), "{text}");
    }

    #[test]
    fn forbidden_file_error_says_what_was_tried() {
        let consent = Agreed::to_erase("/dev/sdb");
        let text = refused(Access::Erase(&consent), Errno::PERM, TargetKind::File);
        assert!(text.contains("for writing"), "{text}");
    }

    /// The path became something else between the first look and the opening.
    #[test]
    fn what_was_opened_is_examined_again() {
        let image = tempfile::NamedTempFile::new().unwrap();
        let options = OpenOptions::default();
        let name = "stick.img".to_owned();
        let opening = Opening { path: image.path(), name, options: &options };
        assert!(opening.file(TargetKind::File).is_ok());
        let changed = opening.file(TargetKind::Disk).unwrap_err();
        assert!(matches!(changed, OpenError::System { errno: Errno::STALE, .. }), "{changed}");
    }

    /// The first look saw a loop device over a file; when it was opened, it was one over a disk.
    #[test]
    fn what_was_opened_is_permitted_again() {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(4 << 20).unwrap();
        let attach = |backing: &Path| {
            let attached = Command::new("losetup").args(["--find", "--show"]).arg(backing).output().ok()?;
            let path = attached.status.success().then(|| String::from_utf8(attached.stdout).unwrap())?;
            Some(path.trim().to_owned())
        };
        let detach = |disk: &str| Command::new("losetup").args(["--detach", disk]).status().unwrap();
        let Some(below) = attach(image.path()) else {
            return crate::testing::skip("losetup cannot attach a loop device here");
        };
        let above = attach(Path::new(&below)).unwrap();
        let consent = Agreed::to_erase(&above);
        let options = OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() };
        let opening = Opening { path: Path::new(&above), name: above.clone(), options: &options };
        let refused = opening.file(TargetKind::Disk);
        let [first, second] = [&above, &below].map(|disk| detach(disk));
        assert!(first.success() && second.success());
        assert!(matches!(refused, Err(OpenError::NotErasable { .. })), "{refused:?}");
    }

    /// A virtual machine locks the image it uses.
    #[test]
    fn locked_image_is_not_opened_for_writing() {
        let image = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(image.path(), [7; 4096]).unwrap();
        let consent = Agreed::to_erase(image.path().to_str().unwrap());
        let options = OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() };
        rustix::fs::flock(image.as_file(), FlockOperation::NonBlockingLockExclusive).unwrap();
        let refused = open(image.path(), &options).unwrap_err();
        assert!(matches!(refused, OpenError::InUse { user: None, .. }), "{refused}");
        rustix::fs::flock(image.as_file(), FlockOperation::Unlock).unwrap();
        assert!(open(image.path(), &options).is_ok());
    }

    #[test]
    fn consent_for_another_path_opens_nothing() {
        let image = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(image.path(), [7; 4096]).unwrap();
        let consent = Agreed::to_erase("/another.img");
        let options = OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() };
        let refused = open(image.path(), &options).unwrap_err();
        assert!(matches!(refused, OpenError::NotConsented { .. }), "{refused}");
    }

    #[test]
    fn text_file_is_opened_for_writing_only_if_the_consent_includes_it() {
        let letter = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(letter.path(), "Dear Ada,\n".repeat(1024)).unwrap();
        let consent = Agreed::to_erase(letter.path().to_str().unwrap());
        let open_with = |consent: &dyn Consent| {
            open(letter.path(), &OpenOptions { access: Access::Erase(consent), ..OpenOptions::default() })
        };
        let refused = open_with(&consent).unwrap_err();
        assert!(matches!(refused, OpenError::NotImage { .. }), "{refused}");
        assert!(open_with(&Agreed { includes_other_files: true, ..consent }).is_ok());
    }

    #[test]
    fn empty_reader_error_asks_for_the_card() {
        assert!(refused(Access::ReadOnly, Errno::NOMEDIUM, TargetKind::Disk).contains("no card"));
    }
}
