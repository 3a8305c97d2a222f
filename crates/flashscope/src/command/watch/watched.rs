//! One disk that is watched: its last sample, and what came before.

use flashscope_infer::activity::{Activity, History};
use flashscope_linux::Disk;
use flashscope_linux::activity::{DiskSample, Sampler, WatchError};
use flashscope_record::activity::{Sample, Snapshot};

/// One disk that is watched.
pub struct Watched {
    /// The disk.
    pub disk: Disk,
    /// What it has done.
    pub history: History,
    /// What it is doing; `None` before the first interval is over.
    pub activity: Option<Activity>,
    last: Sample,
    last_snapshot: Snapshot,
}

impl Watched {
    /// Begins to watch `disk`.
    ///
    /// # Errors
    /// [`WatchError`] if it has gone already, or is not counted.
    pub fn start(disk: Disk, sampler: &Sampler) -> Result<Self, WatchError> {
        let last = sampler.sample(&disk)?;
        Ok(Self::from_sample(disk, last))
    }

    /// From the first sample.
    pub fn from_sample(disk: Disk, first: DiskSample) -> Self {
        let last = first.sample;
        Self { disk, history: History::default(), activity: None, last_snapshot: last.snapshot, last }
    }

    /// A short look between two intervals.
    ///
    /// # Errors
    /// [`WatchError`] if it has gone, or another disk has taken its name: then nothing was taken.
    pub fn snapshot(&mut self, sampler: &Sampler) -> Result<(), WatchError> {
        let next = sampler.snapshot(&self.disk).map_err(going)?;
        self.must_follow(&next)?;
        self.take_snapshot(next);
        Ok(())
    }

    /// Looks at the end of an interval.
    ///
    /// # Errors
    /// As [`Watched::snapshot`].
    pub fn look(&mut self, sampler: &Sampler) -> Result<(), WatchError> {
        let next = sampler.sample(&self.disk).map_err(going)?;
        self.must_follow(&next.sample.snapshot)?;
        self.take(next);
        Ok(())
    }

    /// Takes the next snapshot.
    pub fn take_snapshot(&mut self, next: Snapshot) {
        self.history.snapshot(&self.last_snapshot, &next);
        self.last_snapshot = next;
    }

    /// Takes the sample that ends an interval.
    pub fn take(&mut self, next: DiskSample) {
        let DiskSample { sample, mounts } = next;
        self.take_snapshot(sample.snapshot);
        self.activity = Some(self.history.add(&self.last, &sample));
        self.disk.mounts = mounts;
        self.last = sample;
    }

    fn must_follow(&self, next: &Snapshot) -> Result<(), WatchError> {
        if next.follows(&self.last_snapshot) {
            return Ok(());
        }
        Err(WatchError::Replaced(self.disk.path.display().to_string()))
    }
}

/// Counters that were there go with their disk, and may be missed a moment before it is.
fn going(lost: WatchError) -> WatchError {
    match lost {
        WatchError::NoCounters(path, _) => WatchError::Gone(path),
        lost => lost,
    }
}
