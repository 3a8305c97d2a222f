//! One watched disk: its last sample and its history.

use flashscope_infer::activity::{Activity, History};
use flashscope_linux::Disk;
use flashscope_linux::activity::{DiskSample, Sampler, WatchError};
use flashscope_record::activity::{Sample, Snapshot};

/// One watched disk.
pub struct Watched {
    /// The disk.
    pub disk: Disk,
    /// Its past intervals.
    pub history: History,
    /// Its last interval; `None` before the first has ended.
    pub activity: Option<Activity>,
    last: Sample,
    last_snapshot: Snapshot,
}

impl Watched {
    /// Starts watching `disk`.
    ///
    /// # Errors
    /// [`WatchError`] if it is already unplugged, or the kernel does not count its requests.
    pub fn start(disk: Disk, sampler: &Sampler) -> Result<Self, WatchError> {
        let last = sampler.sample(&disk)?;
        Ok(Self::from_sample(disk, last))
    }

    /// From the first sample.
    pub fn from_sample(disk: Disk, first: DiskSample) -> Self {
        let last = first.sample;
        Self { disk, history: History::default(), activity: None, last_snapshot: last.snapshot, last }
    }

    /// Reads the counters between two samples.
    ///
    /// # Errors
    /// [`WatchError`] if it is unplugged, or another disk has its name now.
    pub fn snapshot(&mut self, sampler: &Sampler) -> Result<(), WatchError> {
        let next = sampler.snapshot(&self.disk).map_err(unplugged)?;
        self.require_same_disk(&next)?;
        self.take_snapshot(next);
        Ok(())
    }

    /// Reads everything at the end of an interval.
    ///
    /// # Errors
    /// As [`Watched::snapshot`].
    pub fn sample(&mut self, sampler: &Sampler) -> Result<(), WatchError> {
        let next = sampler.sample(&self.disk).map_err(unplugged)?;
        self.require_same_disk(&next.sample.snapshot)?;
        self.take(next);
        Ok(())
    }

    /// Adds the next snapshot.
    pub fn take_snapshot(&mut self, next: Snapshot) {
        self.history.snapshot(&self.last_snapshot, &next);
        self.last_snapshot = next;
    }

    /// Adds the sample that ends an interval.
    pub fn take(&mut self, next: DiskSample) {
        let DiskSample { sample, mounts } = next;
        self.take_snapshot(sample.snapshot);
        self.activity = Some(self.history.add(&self.last, &sample));
        self.disk.mounts = mounts;
        self.last = sample;
    }

    fn require_same_disk(&self, next: &Snapshot) -> Result<(), WatchError> {
        if next.follows(&self.last_snapshot) {
            return Ok(());
        }
        Err(WatchError::Replaced(self.disk.path.display().to_string()))
    }
}

/// Counters that were there before vanish with their disk, sometimes a moment earlier.
fn unplugged(lost: WatchError) -> WatchError {
    match lost {
        WatchError::NoCounters(path, _) => WatchError::Gone(path),
        lost => lost,
    }
}
