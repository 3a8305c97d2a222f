//! Why a specimen cannot be made. Each is a mistake of this crate: whatever it draws is meant to be possible.

use flashscope_device::DeviceError;
use flashscope_device::layer::FaultError;
use flashscope_sim::ProfileError;

/// A specimen that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ZooError {
    /// The drawn profile is impossible.
    #[error("the drawn profile is impossible: {0}")]
    Profile(#[from] ProfileError),
    /// The drawn fault is impossible.
    #[error("the drawn fault is impossible: {0}")]
    Fault(#[from] FaultError),
    /// None of many draws of a patient is as ill as it was meant to be.
    #[error("none of many draws of a patient is as ill as it was meant to be")]
    Patient,
    /// Writing what the device has been through failed.
    #[error("writing what the device has been through failed: {0}")]
    History(#[from] DeviceError),
}
