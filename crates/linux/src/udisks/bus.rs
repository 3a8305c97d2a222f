//! The D-Bus calls: `Manager.ResolveDevice`, `Block.OpenDevice` (udisks 2.7.3) and `Block.Rescan`
//! (<https://storaged.org/doc/udisks2-api/latest/>).

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;

use flashscope_device::layer::Interrupt;
use rustix::fs::OFlags;
use zbus::connection::Builder;
use zbus::{Connection, OwnedObjectPath, Variant};
use zruntime::SharedRuntime;

use super::{ANSWER_TIME_MAX, UdisksError};
use crate::printable::printable;

const SERVICE: &str = "org.freedesktop.UDisks2";
const MANAGER_PATH: &str = "/org/freedesktop/UDisks2/Manager";
const MANAGER: &str = "org.freedesktop.UDisks2.Manager";
const BLOCK: &str = "org.freedesktop.UDisks2.Block";
/// What the names of udisks2's own errors start with.
const ERROR_PREFIX: &str = "org.freedesktop.UDisks2.Error.";
/// The C library's words for EBUSY, which end udisks2's message.
const BUSY: &str = "Device or resource busy";

/// How long an interrupt may go unnoticed. Policy: a person sees no delay.
const INTERRUPT_CHECK: Duration = Duration::from_millis(100);

type Options<'a> = HashMap<&'a str, Variant<'a>>;

/// Has udisks2 open a device file.
pub fn open_device(file: &str, flags: OFlags, interrupt: Option<&Interrupt>) -> Result<OwnedFd, UdisksError> {
    let opening = async {
        let disk = Disk::find(Builder::system(), file).await?;
        disk.open(flags).await
    };
    within(ANSWER_TIME_MAX, interrupt, opening)
}

/// Has udisks2 read a partition table again.
pub fn rescan(file: &str, interrupt: &Interrupt) -> Result<(), UdisksError> {
    let scanning = async { Disk::find(Builder::system(), file).await?.rescan().await };
    within(ANSWER_TIME_MAX, Some(interrupt), scanning)
}

/// Waits for udisks2 until it answered, the person interrupts, or `limit` has passed.
fn within<T>(
    limit: Duration,
    interrupt: Option<&Interrupt>,
    exchange: impl Future<Output = Result<T, UdisksError>>,
) -> Result<T, UdisksError> {
    zruntime::block_on(async {
        let runtime = SharedRuntime::current().map_err(|error| failed(&error.to_string()))?;
        let mut exchange = pin!(exchange);
        for _ in 0..limit.as_millis().div_ceil(INTERRUPT_CHECK.as_millis()) {
            if let Ok(answer) = runtime.timeout(INTERRUPT_CHECK, exchange.as_mut()).await {
                return answer;
            }
            if interrupt.is_some_and(Interrupt::is_requested) {
                return Err(UdisksError::Interrupted);
            }
        }
        Err(UdisksError::Silent)
    })
}

/// A disk or partition as udisks2 knows it.
struct Disk {
    bus: Connection,
    path: OwnedObjectPath,
}

impl Disk {
    /// The object of a device file.
    async fn find(bus: Builder<'_>, file: &str) -> Result<Self, UdisksError> {
        let bus = bus.build().await.map_err(|_| UdisksError::NotRunning)?;
        let wanted: Options<'_> = HashMap::from([("path", Variant::from(file))]);
        let arguments = (wanted, Options::new());
        let answer =
            bus.call_method(Some(SERVICE), MANAGER_PATH, Some(MANAGER), "ResolveDevice", &arguments).await;
        let answer = answer.map_err(|error| meaning(&error))?;
        let paths: Vec<OwnedObjectPath> = answer.body().deserialize().map_err(|error| meaning(&error))?;
        let path = paths.into_iter().next().ok_or(UdisksError::UnknownDisk)?;
        Ok(Self { bus, path })
    }

    async fn open(&self, flags: OFlags) -> Result<OwnedFd, UdisksError> {
        // udisks2 takes the access mode as a word and refuses it among the flags.
        let mode = match flags & OFlags::RWMODE {
            OFlags::RDWR => "rw",
            OFlags::WRONLY => "w",
            _ => "r",
        };
        let others = (flags - OFlags::RWMODE).bits().cast_signed();
        let options: Options<'_> = HashMap::from([("flags", Variant::from(others))]);
        let answer = self.call("OpenDevice", &(mode, options)).await?;
        let file: zbus::OwnedFd = answer.body().deserialize().map_err(|error| meaning(&error))?;
        Ok(file.into())
    }

    async fn rescan(&self) -> Result<(), UdisksError> {
        self.call("Rescan", &(Options::new(),)).await.map(|_| ())
    }

    async fn call<B>(&self, method: &str, arguments: &B) -> Result<zbus::Message, UdisksError>
    where
        B: serde::Serialize + zbus::DynamicType,
    {
        let called = self.bus.call_method(Some(SERVICE), &self.path, Some(BLOCK), method, arguments).await;
        called.map_err(|error| meaning(&error))
    }
}

fn failed(text: &str) -> UdisksError {
    UdisksError::Failed(printable(text))
}

/// What an error of the bus or of udisks2 means.
fn meaning(error: &zbus::Error) -> UdisksError {
    match error {
        zbus::Error::FDO(error) => match **error {
            zbus::fdo::Error::ServiceUnknown(_)
            | zbus::fdo::Error::NameHasNoOwner(_)
            | zbus::fdo::Error::SpawnServiceNotFound(_) => UdisksError::NotRunning,
            zbus::fdo::Error::AccessDenied(_) => UdisksError::NotAuthorized,
            _ => failed(&error.to_string()),
        },
        zbus::Error::MethodError(name, text, _) => {
            let text = text.as_deref().unwrap_or_default();
            match name.as_str().strip_prefix(ERROR_PREFIX) {
                Some("NotAuthorized") => UdisksError::NotAuthorized,
                Some("NotAuthorizedCanObtain") => UdisksError::NoDialog,
                Some("NotAuthorizedDismissed") => UdisksError::Dismissed,
                Some("DeviceBusy") => UdisksError::InUse,
                // It reports the kernel's error in words only.
                Some("Failed") if text.ends_with(BUSY) => UdisksError::InUse,
                _ => failed(text),
            }
        }
        error => failed(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Long enough for one check of the interrupt.
    const SHORT: Duration = Duration::from_millis(1);

    fn address(folder: &tempfile::TempDir) -> String {
        format!("unix:path={}", folder.path().join("bus").display())
    }

    #[test]
    fn bus_without_an_answer_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let silent = UnixListener::bind(folder.path().join("bus")).unwrap();
        let address = address(&folder);
        let find = || async { Disk::find(Builder::address(address.as_str()), "/dev/sdb").await };
        assert!(matches!(within(SHORT, None, find()), Err(UdisksError::Silent)));
        let interrupt = Interrupt::default();
        interrupt.request();
        let interrupted = within(ANSWER_TIME_MAX, Some(&interrupt), find());
        assert!(matches!(interrupted, Err(UdisksError::Interrupted)));
        drop(silent);
    }

    #[test]
    fn missing_bus_means_that_udisks_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let address = address(&folder);
        let find = async { Disk::find(Builder::address(address.as_str()), "/dev/sdb").await };
        assert!(matches!(within(ANSWER_TIME_MAX, None, find), Err(UdisksError::NotRunning)));
    }
}
