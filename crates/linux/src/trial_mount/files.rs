//! The files of a trial: those of a mounted filesystem, which is mounted anew before they are read.

use std::marker::PhantomData;

use flashscope_device::host::{CacheDrop, FileHost, FlushPolicy, TrafficCounters};
use flashscope_device::layer::Interrupt;
use flashscope_device::{Bytes, Instant};

use super::{TrialMountError, Volume};
use crate::files::{BenchFiles, FilesError, drop_caches};

/// The files of a mounted filesystem. They stay when this is dropped: the next trial makes the filesystem
/// anew.
#[derive(Debug)]
pub struct TrialFiles<'a, E> {
    files: BenchFiles<'a>,
    volume: &'a Volume,
    error: PhantomData<fn() -> E>,
}

impl<'a, E> TrialFiles<'a, E> {
    pub(super) const fn new(files: BenchFiles<'a>, volume: &'a Volume) -> Self {
        Self { files, volume, error: PhantomData }
    }
}

impl<E> Drop for TrialFiles<'_, E> {
    fn drop(&mut self) {
        self.files.keep();
    }
}

/// An error of the files as one of the trial.
fn failed<E: From<TrialMountError>>(error: FilesError) -> E {
    TrialMountError::Files(error).into()
}

impl<E: From<TrialMountError>> FileHost for TrialFiles<'_, E> {
    type Error = E;

    fn now(&self) -> Instant {
        self.files.now()
    }

    fn create_directory(&mut self, files_per_directory: u32, needed: Bytes) -> Result<(), E> {
        self.files.create_directory(files_per_directory, needed).map_err(failed)
    }

    fn create_subdirectory(&mut self, number: u32) -> Result<(), E> {
        self.files.create_subdirectory(number).map_err(failed)
    }

    fn create(&mut self, number: u32) -> Result<(), E> {
        self.files.create(number).map_err(failed)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), E> {
        self.files.write(bytes).map_err(failed)
    }

    fn close(&mut self, flush: FlushPolicy) -> Result<(), E> {
        self.files.close(flush).map_err(failed)
    }

    fn open(&mut self, number: u32) -> Result<(), E> {
        self.files.open(number).map_err(failed)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<bool, E> {
        self.files.read(buffer).map_err(failed)
    }

    fn flush_filesystem(&mut self, interrupt: &Interrupt) -> Result<bool, E> {
        self.files.flush_filesystem(interrupt).map_err(failed)
    }

    fn allocated(&self) -> Bytes {
        self.files.allocated()
    }

    /// Unmounts the filesystem, which drops its pages and tables, and mounts it again. The kernel's other
    /// caches, such as those of an image file below, are dropped as well.
    fn drop_page_cache(&mut self, _count: u32) -> Result<(CacheDrop, Option<f64>), E> {
        self.volume.unmount()?;
        drop_caches();
        self.volume.mount()?;
        Ok((CacheDrop::Remounted, None))
    }

    fn traffic(&self) -> Option<TrafficCounters> {
        self.files.traffic()
    }

    fn remove_all(&mut self) -> Result<(), E> {
        self.files.remove_all().map_err(failed)
    }
}
