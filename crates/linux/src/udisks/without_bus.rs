//! The answers of a build without a D-Bus client.

use std::os::fd::OwnedFd;

use flashscope_device::layer::Interrupt;
use rustix::fs::OFlags;

use super::UdisksError;

/// Opens nothing.
pub fn open_device(_: &str, _: OFlags, _: Option<&Interrupt>) -> Result<OwnedFd, UdisksError> {
    Err(UdisksError::NotBuilt)
}

/// Does nothing.
pub fn rescan(_: &str, _: &Interrupt) -> Result<(), UdisksError> {
    Err(UdisksError::NotBuilt)
}
