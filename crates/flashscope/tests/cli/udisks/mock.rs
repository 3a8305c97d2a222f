//! A private message bus, with a service on it that answers like udisks2.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use zbus::connection::Builder;
use zbus::{Connection, DBusError, OwnedObjectPath, OwnedVariant, interface};

type Options = HashMap<String, OwnedVariant>;

const FOLDER: &str = "/org/freedesktop/UDisks2/block_devices";

/// The message of a request to read the partition table again.
pub const RESCAN: &str = "rescan";

/// The access mode bits of open(2), which udisks2 refuses among the flags.
const ACCESS_MODE: i32 = 3;

/// A bus that any user may use; stopped when dropped.
pub struct Bus {
    daemon: Child,
    pub address: String,
    _folder: tempfile::TempDir,
}

impl Bus {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        super::open_to_all(folder.path());
        let socket = folder.path().join("socket");
        let configuration = folder.path().join("bus.conf");
        let text = format!(
            "<busconfig><listen>unix:path={}</listen><auth>EXTERNAL</auth><policy context=\"default\">\
             <allow user=\"*\"/><allow own=\"*\"/><allow send_destination=\"*\"/><allow receive_sender=\"*\"/>\
             </policy></busconfig>",
            socket.display()
        );
        std::fs::write(&configuration, text).unwrap();
        let mut daemon = Command::new("dbus-daemon")
            .arg(format!("--config-file={}", configuration.display()))
            .args(["--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { daemon, address: address.trim().to_owned(), _folder: folder }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.daemon.kill().unwrap();
        self.daemon.wait().unwrap();
    }
}

/// The errors of udisks2 that the tests provoke.
#[derive(Debug, Clone, PartialEq, DBusError)]
#[zbus(prefix = "org.freedesktop.UDisks2.Error")]
pub enum Refusal {
    #[zbus(error)]
    Bus(zbus::Error),
    NotAuthorized(String),
    NotAuthorizedCanObtain(String),
    NotAuthorizedDismissed(String),
    Failed(String),
}

/// What the service does when it is asked for its disk.
#[derive(Clone)]
pub enum Answer {
    /// Opens this file, as requested.
    Opens(String),
    /// Opens this file for reading, whatever was requested.
    OpensForReading(String),
    Refuses(Refusal),
    Never,
    /// Opens this file, as requested, once. Later requests get the other answer.
    OpensOnce(String, Box<Answer>),
    /// Opens this file, and never answers a request to read the partition table again.
    NeverRescans(String),
}

/// The service. It knows one disk.
pub struct Udisks {
    _connection: Connection,
    /// One message for each request: the mode to open the disk in, or [`RESCAN`].
    pub asked: Receiver<String>,
}

impl Udisks {
    pub fn on(bus: &Bus, disk: &str, answer: Answer) -> Self {
        let (sender, asked) = channel();
        let path = format!("{FOLDER}/{}", disk.strip_prefix("/dev/").unwrap());
        let path = OwnedObjectPath::try_from(path).unwrap();
        let manager = Manager { disk: disk.to_owned(), path: path.clone() };
        let block = Block { disk: disk.to_owned(), answer, sender, has_opened: AtomicBool::new(false) };
        let connection = zbus::block_on(
            Builder::address(bus.address.as_str())
                .serve_at("/org/freedesktop/UDisks2/Manager", manager)
                .serve_at(path, block)
                .name("org.freedesktop.UDisks2")
                .build(),
        );
        Self { _connection: connection.unwrap(), asked }
    }
}

struct Manager {
    disk: String,
    path: OwnedObjectPath,
}

#[interface(name = "org.freedesktop.UDisks2.Manager")]
impl Manager {
    fn resolve_device(&self, specification: Options, _options: Options) -> Vec<OwnedObjectPath> {
        let path: Option<String> =
            specification.get("path").and_then(|path| path.try_clone().ok()?.try_into().ok());
        if path.as_ref() == Some(&self.disk) { vec![self.path.clone()] } else { Vec::new() }
    }
}

struct Block {
    disk: String,
    answer: Answer,
    sender: Sender<String>,
    has_opened: AtomicBool,
}

#[interface(name = "org.freedesktop.UDisks2.Block")]
impl Block {
    async fn open_device(&self, mode: String, options: Options) -> Result<zbus::OwnedFd, Refusal> {
        self.sender.send(mode.clone()).unwrap();
        let flags: i32 = options["flags"].try_clone().unwrap().try_into().unwrap();
        if flags & ACCESS_MODE != 0 {
            return Err(Refusal::Failed("Use 'mode' argument instead.".to_owned()));
        }
        let has_opened = self.has_opened.swap(true, Ordering::Relaxed);
        let answer = match &self.answer {
            Answer::OpensOnce(_, later) if has_opened => later,
            answer => answer,
        };
        match answer {
            Answer::Opens(file) | Answer::OpensOnce(file, _) | Answer::NeverRescans(file) => {
                open(file, &mode, flags)
            }
            Answer::OpensForReading(file) => open(file, "r", flags),
            Answer::Refuses(refusal) => Err(refusal.clone()),
            Answer::Never => std::future::pending().await,
        }
    }

    async fn rescan(&self, _options: Options) {
        self.sender.send(RESCAN.to_owned()).unwrap();
        if matches!(self.answer, Answer::NeverRescans(_)) {
            std::future::pending::<()>().await;
        }
        super::run("blockdev", &["--rereadpt", &self.disk]);
    }
}

/// As udisks2 opens a disk, and what it says if it cannot.
fn open(file: &str, mode: &str, flags: i32) -> Result<zbus::OwnedFd, Refusal> {
    let mut options = std::fs::File::options();
    options.read(mode.contains('r')).write(mode.contains('w')).custom_flags(flags);
    let opened = options.open(file).map_err(|error| {
        let words = error.to_string();
        let words = words.split(" (os error").next().unwrap_or_default();
        Refusal::Failed(format!("Error opening device {file}: {words}"))
    })?;
    Ok(std::os::fd::OwnedFd::from(opened).into())
}
