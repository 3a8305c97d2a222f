//! Starts and stops serving a device as a file and a block device.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use flashscope_device::{Device, DeviceError};
use fuser::{MountOption, Session};
use rustix::mount::UnmountFlags;

use super::error::{ServeError, ServeRemark, shown};
use super::filesystem::{CALIBRATION_NAME, FILE_NAME, StickFilesystem};
use super::loop_device;
use super::mount::{self, MountPoint, SOURCE};
use super::overhead;
use super::request::Message;
use super::server::{Ended, Server};
use super::state::{RuntimeDirectory, State};
use super::statistics::ServeStatistics;
use super::timing::ServeSpeed;
use crate::clock::Clock;

/// How to serve.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The mount point; `None` for a temporary one, which is removed at the end.
    pub mount: Option<PathBuf>,
    /// Whether to attach a block device to the file. Needs root.
    pub block_device: bool,
    /// The speed of the replies.
    pub speed: ServeSpeed,
}

/// A device that is being served. Dropping it ends that as [`Serving::stop`] does.
#[derive(Debug)]
pub struct Serving<D> {
    file: PathBuf,
    block_device: Option<PathBuf>,
    remarks: Vec<ServeRemark>,
    mount_point: MountPoint,
    messages: Sender<Message>,
    server: Option<JoinHandle<Ended<D>>>,
    session: Option<JoinHandle<()>>,
    state: Option<State>,
}

/// A device that was served.
#[derive(Debug)]
pub struct Stopped<D> {
    /// The device; `None` if its thread panicked.
    pub device: Option<D>,
    /// The statistics.
    pub statistics: ServeStatistics,
    /// The error after which the device took no more requests.
    pub failure: Option<DeviceError>,
    /// What the person should know.
    pub remarks: Vec<ServeRemark>,
}

/// Ends a stop that hangs because a program waits for the disk: all requests fail at once.
#[derive(Debug, Clone)]
pub struct ForcedUnmount(PathBuf);

impl ForcedUnmount {
    /// Unmounts by force.
    pub fn run(&self) {
        // If the kernel refuses, the stop continues to wait; there is no other means.
        let _ = mount::unmount(&self.0, UnmountFlags::FORCE | UnmountFlags::DETACH);
    }
}

impl<D: Device + Send + 'static> Serving<D> {
    /// Serves `device` as a file, and on request as a block device. `on_end` is called if another program
    /// unmounts it.
    ///
    /// # Errors
    /// [`ServeError`] if something is missing or forbidden; nothing stays mounted then.
    pub fn start(
        device: D,
        options: &ServeOptions,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Self, ServeError> {
        check_fuse(options)?;
        let directory = RuntimeDirectory::of_this_user()?;
        let remarks = directory.clean_up();
        let mount_point = MountPoint::at(&options.mount.clone().unwrap_or_else(|| directory.mount_path()))?;
        let mut serving = match State::write(&directory, &mount_point) {
            Ok(state) => Self::mount(device, options.speed, mount_point, state, on_end)?,
            Err(error) => {
                mount_point.remove();
                return Err(error);
            }
        };
        serving.remarks = remarks;
        if options.speed != ServeSpeed::Immediate && !serving.calibrate(options.block_device) {
            serving.remarks.push(ServeRemark::NotCalibrated);
        }
        if options.block_device {
            serving.block_device = Some(loop_device::attach(&serving.file)?);
        }
        Ok(serving)
    }

    fn mount(
        device: D,
        speed: ServeSpeed,
        mount_point: MountPoint,
        state: State,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Result<Self, ServeError> {
        let (messages, receiver) = mpsc::channel();
        let session = match session(&device, &mount_point.path, messages.clone()) {
            Ok((session, clock)) => (session, clock),
            Err(error) => {
                mount_point.remove();
                return Err(error);
            }
        };
        let (session, clock) = session;
        let mut serving = Self {
            file: mount_point.path.join(FILE_NAME),
            block_device: None,
            remarks: Vec::new(),
            mount_point,
            messages,
            server: None,
            session: None,
            state: Some(state),
        };
        serving.server = Some(spawn("serve", move || serve(device, speed, clock, &receiver))?);
        serving.session = Some(spawn("fuse", move || {
            // It ends when the filesystem is unmounted; an error means the same.
            let _ended = session.run();
            on_end();
        })?);
        Ok(serving)
    }

    /// Measures the host's overhead on the path that requests will take.
    fn calibrate(&self, through_block_device: bool) -> bool {
        let file = self.mount_point.path.join(CALIBRATION_NAME);
        if !through_block_device {
            return overhead::measure(&file, &self.messages);
        }
        let Ok(device) = loop_device::attach(&file) else { return false };
        let is_measured = overhead::measure(&device, &self.messages);
        loop_device::detach(&device).is_ok() && is_measured
    }
}

impl<D> Serving<D> {
    /// The file that is the device.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The block device over it, if one was requested.
    #[must_use]
    pub fn block_device(&self) -> Option<&Path> {
        self.block_device.as_deref()
    }

    /// What the person should know about the start.
    #[must_use]
    pub fn remarks(&self) -> &[ServeRemark] {
        &self.remarks
    }

    /// For a [`Serving::stop`] that takes too long.
    #[must_use]
    pub fn forced_unmount(&self) -> ForcedUnmount {
        ForcedUnmount(self.mount_point.path.clone())
    }

    /// Detaches the block device, unmounts, and returns the device.
    #[must_use]
    pub fn stop(mut self) -> Stopped<D> {
        let remarks = self.shut_down();
        let ended = self.server.take().and_then(|server| server.join().ok());
        let (device, statistics, failure) = match ended {
            Some(ended) => (Some(ended.device), ended.statistics, ended.failure),
            None => (None, ServeStatistics::default(), None),
        };
        Stopped { device, statistics, failure, remarks }
    }

    /// Detaches and unmounts. The device is served until nothing needs it any more.
    fn shut_down(&mut self) -> Vec<ServeRemark> {
        let Some(state) = self.state.take() else { return Vec::new() };
        let detached = self.block_device.take().and_then(|device| self.detach(&device));
        // An attached block device keeps the file open, which needs no second remark.
        let open = self.mount_point.unmount(&self.file).filter(|_| detached.is_none());
        let _already_ended = self.messages.send(Message::Stop);
        if detached.is_none() && open.is_none() {
            self.wait_for_session();
        }
        self.mount_point.remove();
        drop(state);
        detached.into_iter().chain(open).collect()
    }

    /// Detaches the block device, unless another program has detached it: it may then belong to another
    /// file.
    fn detach(&self, device: &Path) -> Option<ServeRemark> {
        let is_own = loop_device::devices_over(&self.file).iter().any(|over| over == device);
        if is_own { loop_device::detach(device).ok().flatten() } else { None }
    }

    /// Waits for an unmounted session, which ends at once.
    fn wait_for_session(&mut self) {
        let Some(session) = self.session.take() else { return };
        for _ in 0..100 {
            if session.is_finished() {
                return;
            }
            Clock::sleep(Duration::from_millis(10));
        }
    }
}

impl<D> Drop for Serving<D> {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// The highest priority of nice(2). In Linux it applies to one thread.
const HIGHEST_PRIORITY: i32 = -20;

/// Checks the preconditions that can be checked before mounting.
fn check_fuse(options: &ServeOptions) -> Result<(), ServeError> {
    if options.block_device && !rustix::process::geteuid().is_root() {
        return Err(ServeError::LoopNeedsRoot);
    }
    match std::fs::File::options().read(true).write(true).open("/dev/fuse") {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Err(ServeError::FuseForbidden),
        Err(_) => Err(ServeError::NoFuse),
    }
}

/// Mounts, and starts the session with the kernel.
fn session<D: Device>(
    device: &D,
    path: &Path,
    messages: Sender<Message>,
) -> Result<(Session<StickFilesystem>, Clock), ServeError> {
    let capabilities = device.capabilities();
    let clock = Clock::start();
    let made_at =
        std::fs::metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let filesystem = StickFilesystem::new(capabilities, clock, messages, made_at);
    let mut config = fuser::Config::default();
    config.mount_options = vec![
        MountOption::FSName(SOURCE.to_owned()),
        MountOption::CUSTOM(format!("max_read={}", StickFilesystem::request_max(&capabilities))),
        MountOption::NoAtime,
    ];
    let session = Session::new(filesystem, path, &config).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ServeError::NoFusermount,
        _ => ServeError::Mount { path: shown(path), message: error.to_string().trim().to_owned() },
    })?;
    Ok((session, clock))
}

fn serve<D: Device>(device: D, speed: ServeSpeed, clock: Clock, receiver: &Receiver<Message>) -> Ended<D> {
    Server::new(device, speed, clock).run(receiver)
}

/// Starts a thread with two settings that only root may use. To free memory, the kernel never writes to the
/// disk that this thread serves (`PR_SET_IO_FLUSHER`, prctl(2)). The highest priority keeps replies on
/// time. Other users serve no block device, and replies are on time as long as the machine is idle.
fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, ServeError> {
    let flushing = move || {
        let _ = rustix::process::configure_io_flusher_behavior(true);
        let _ = rustix::process::nice(HIGHEST_PRIORITY);
        work()
    };
    thread::Builder::new().name(name.to_owned()).spawn(flushing).map_err(ServeError::Thread)
}
