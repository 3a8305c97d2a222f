//! Why a specimen or a case cannot be made. Each error is a bug of this crate: it draws only possible ones.

use flashscope_device::DeviceError;
use flashscope_device::layer::FaultError;
use flashscope_sim::ProfileError;

/// A specimen or a case that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ZooError {
    /// The drawn profile is impossible.
    #[error("the drawn profile is impossible: {0}")]
    Profile(#[from] ProfileError),
    /// The drawn fault is impossible.
    #[error("the drawn fault is impossible: {0}")]
    Fault(#[from] FaultError),
    /// No draw of a case had the wanted faults with a sufficient effect.
    #[error("no draw of the case had the wanted faults with a sufficient effect")]
    Case,
    /// Writing the history of the device failed.
    #[error("writing the history of the device failed: {0}")]
    History(#[from] DeviceError),
    /// A crash case failed.
    #[error("the crash case failed: {0}")]
    Crash(String),
}
