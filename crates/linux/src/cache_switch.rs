//! Switches a disk's own write cache on and off, and restores it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flashscope_device::host::{CacheMode, WriteCacheSwitch};

use crate::queue::WriteCache;
use crate::roots::Roots;
use crate::sysfs::Sysfs;

/// The switch of a SCSI disk's write cache. Dropping it restores the former state, also while a panic
/// unwinds.
#[derive(Debug)]
pub struct CacheSwitch {
    attribute: PathBuf,
    was: String,
}

/// Why a cache cannot be switched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheSwitchError {
    /// The target is not a SCSI disk: a card, an image file, a loop device.
    #[error("it has no SCSI caching page (the kernel's queue/write_cache is only the kernel's assumption)")]
    NoSwitch,
    /// The user is not root.
    #[error("only root may switch it, as it changes the disk for all programs; put sudo before the command")]
    NeedsRoot,
    /// The system or the disk refuses.
    #[error("the disk or the system refuses: {reason}")]
    Refused {
        /// The reason.
        reason: String,
    },
}

impl CacheSwitch {
    /// The switch of the disk at `path`, with its current state.
    ///
    /// # Errors
    /// [`CacheSwitchError::NoSwitch`] if there is none.
    pub fn of(path: &Path, roots: &Roots) -> Result<Self, CacheSwitchError> {
        let disk = Sysfs::at(&roots.sysfs).node_at(path).ok_or(CacheSwitchError::NoSwitch)?;
        let disk = if disk.partition_start().is_some() { disk.below("..") } else { Some(disk) };
        let device = disk.and_then(|disk| disk.below("device")).ok_or(CacheSwitchError::NoSwitch)?;
        let scsi = device.entries("scsi_disk").into_iter().next().ok_or(CacheSwitchError::NoSwitch)?;
        Self::at(roots.sysfs.join(scsi.relative_path()).join("cache_type"))
    }

    fn at(attribute: PathBuf) -> Result<Self, CacheSwitchError> {
        let was = fs::read_to_string(&attribute).map_err(|_| CacheSwitchError::NoSwitch)?;
        Ok(Self { attribute, was: was.trim().to_owned() })
    }

    /// The former state.
    #[must_use]
    pub fn was(&self) -> &str {
        &self.was
    }
}

impl WriteCacheSwitch for CacheSwitch {
    type Error = CacheSwitchError;

    /// Uses MODE SELECT of SCSI's caching page.
    fn switch(&self, mode: CacheMode) -> Result<(), CacheSwitchError> {
        let state = match mode {
            CacheMode::On => WriteCache::WriteBack,
            CacheMode::Off => WriteCache::WriteThrough,
        };
        let refused = |error: &std::io::Error| match error.kind() {
            ErrorKind::PermissionDenied => CacheSwitchError::NeedsRoot,
            _ => CacheSwitchError::Refused { reason: error.to_string() },
        };
        fs::write(&self.attribute, state.as_str()).map_err(|error| refused(&error))?;
        let now = fs::read_to_string(&self.attribute).map_err(|error| refused(&error))?;
        if now.trim() == state.as_str() {
            Ok(())
        } else {
            Err(CacheSwitchError::Refused { reason: format!("it still says {}", now.trim()) })
        }
    }
}

impl Drop for CacheSwitch {
    fn drop(&mut self) {
        // A disk that was unplugged has nothing to restore.
        let _ = fs::write(&self.attribute, &self.was);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_is_switched_and_restored_on_drop() {
        let directory = tempfile::tempdir().unwrap();
        let attribute = directory.path().join("cache_type");
        fs::write(&attribute, "write back\n").unwrap();
        let switch = CacheSwitch::at(attribute.clone()).unwrap();
        switch.switch(CacheMode::Off).unwrap();
        assert_eq!(
            (fs::read_to_string(&attribute).unwrap().as_str(), switch.was()),
            ("write through", "write back")
        );
        drop(switch);
        assert_eq!(fs::read_to_string(&attribute).unwrap(), "write back");
        assert_eq!(CacheSwitch::at(directory.path().join("none")).unwrap_err(), CacheSwitchError::NoSwitch);
        let file = CacheSwitch::of(&attribute, &Roots::default());
        assert_eq!(file.unwrap_err(), CacheSwitchError::NoSwitch);
    }
}
