//! Targets that cannot be opened: each has its own error, with what to try.

#![expect(unsafe_code, reason = "a lock of another process is set with fcntl, which libc alone has")]

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use flashscope_device::Bytes;
use flashscope_linux::{Access, Engine, LinuxDevice, OpenError, OpenOptions, open};
use rustix::fs::FlockOperation;

use crate::agreed::Agreed;
use crate::support::Image;

fn error(path: &Path) -> OpenError {
    open(path, &OpenOptions::default()).unwrap_err()
}

#[test]
fn error_names_the_kind_of_an_unsuitable_target() {
    let directory = tempfile::tempdir().unwrap();
    let in_directory = |name: &str| directory.path().join(name);
    assert!(matches!(error(&in_directory("nothing")), OpenError::Missing { .. }));
    assert!(matches!(error(directory.path()), OpenError::Directory { .. }));
    File::create(in_directory("empty")).unwrap();
    assert!(matches!(error(&in_directory("empty")), OpenError::Empty { .. }));
    fs::write(in_directory("empty").join("below"), "").unwrap_err();
    assert!(matches!(error(&in_directory("empty").join("below")), OpenError::Missing { .. }));
    fs::write(in_directory("small"), [0; 100]).unwrap();
    assert!(
        matches!(error(&in_directory("small")), OpenError::TooSmall { size, .. } if size == Bytes::new(100))
    );
    let _listener = UnixListener::bind(in_directory("socket")).unwrap();
    for (path, name) in [(Path::new("/dev/null"), "character device"), (&in_directory("socket"), "socket")] {
        assert!(matches!(error(path), OpenError::NotStorage { what, .. } if what == name), "{name}");
    }
}

/// Opening a named pipe for reading would block until a writer opens it.
#[test]
fn named_pipe_is_refused_without_opening_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    let directory = File::open(directory.path()).unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(directory, "pipe", rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(matches!(error(&path), OpenError::NotStorage { what: "named pipe", .. }));
}

#[test]
fn escape_sequences_in_a_name_do_not_reach_the_terminal() {
    let text = error(Path::new("/tmp/\u{1b}[2J\u{202e}no such thing")).to_string();
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}

#[test]
fn symbolic_link_is_followed() {
    let image = Image::of(Bytes::mib(1));
    let link = image.directory.path().join("link");
    symlink(&image.path, &link).unwrap();
    assert!(open(&link, &OpenOptions::default()).is_ok());
    symlink(image.directory.path().join("gone"), image.directory.path().join("dangling")).unwrap();
    assert!(matches!(error(&image.directory.path().join("dangling")), OpenError::Missing { .. }));
}

#[test]
fn read_only_file_can_be_read() {
    let image = Image::of(Bytes::mib(1));
    fs::set_permissions(&image.path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(open(&image.path, &OpenOptions::default()).is_ok());
}

#[test]
fn permission_to_erase_one_file_opens_no_other() {
    let image = Image::of(Bytes::mib(1));
    let path = image.path.to_str().unwrap();
    for other in [format!("{path}2"), "/dev/sda".to_owned(), String::new(), format!("{path}/")] {
        let consent = Agreed::to_erase(other);
        let options = OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() };
        let error = open(&image.path, &options).unwrap_err();
        assert!(matches!(error, OpenError::NotConsented { .. }), "{error}");
    }
}

fn erasing(path: &Path) -> Result<LinuxDevice, OpenError> {
    let consent = Agreed::to_erase(path.to_str().unwrap());
    open(path, &OpenOptions { access: Access::Erase(&consent), ..OpenOptions::default() })
}

fn is_in_use(image: &Image) -> bool {
    assert!(open(&image.path, &OpenOptions::default()).is_ok(), "reading is always allowed");
    let path = image.path.to_str().unwrap().to_owned();
    match erasing(&image.path) {
        Ok(_) => false,
        Err(error) => {
            assert!(error.to_string().contains("unknown") && error.to_string().contains(&path), "{error}");
            assert_eq!(error, OpenError::InUse { path, user: None });
            true
        }
    }
}

#[test]
fn image_is_erased_by_one_process_at_a_time() {
    let image = Image::of(Bytes::mib(1));
    let first = erasing(&image.path).unwrap();
    assert!(is_in_use(&image));
    drop(first);
    assert!(!is_in_use(&image));
}

#[test]
fn image_locked_by_another_program_is_not_erased() {
    let image = Image::of(Bytes::mib(1));
    let user = File::open(&image.path).unwrap();
    rustix::fs::flock(&user, FlockOperation::LockShared).unwrap();
    assert!(is_in_use(&image));
    rustix::fs::flock(&user, FlockOperation::Unlock).unwrap();
    assert!(!is_in_use(&image));
}

/// QEMU locks single bytes of an image for reading, with open file description locks (its
/// block/file-posix.c).
#[test]
fn image_open_in_a_virtual_machine_is_not_erased() {
    let image = Image::of(Bytes::mib(1));
    let user = File::open(&image.path).unwrap();
    let [l_type, l_whence] = [libc::F_RDLCK, libc::SEEK_SET].map(|number| number as i16);
    let byte = libc::flock { l_type, l_whence, l_start: 100, l_len: 1, l_pid: 0 };
    // SAFETY: the kernel reads `byte`, which outlives the call.
    let locked = unsafe { libc::fcntl(user.as_raw_fd(), libc::F_OFD_SETLK, &raw const byte) };
    assert_eq!(locked, 0);
    assert!(is_in_use(&image));
    drop(user);
    assert!(!is_in_use(&image));
}

#[test]
fn invalid_queue_depth_is_refused() {
    let image = Image::of(Bytes::mib(1));
    for queue_depth in [0, 1025, u32::MAX] {
        let options = OpenOptions { queue_depth, engine: Engine::Ring, ..OpenOptions::default() };
        let error = open(&image.path, &options).unwrap_err();
        assert!(matches!(error, OpenError::QueueDepth { .. }), "{error}");
    }
}
