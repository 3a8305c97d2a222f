//! One disk that is watched: its last sample, and what came before.

use flashscope_linux::Disk;
use flashscope_linux::activity::{Activity, Glance, History, Lost, Sample, Sampler};

/// One disk that is watched.
pub struct Watched {
    /// The disk.
    pub disk: Disk,
    /// What it has done.
    pub history: History,
    /// What it is doing; `None` before the first interval is over.
    pub activity: Option<Activity>,
    last: Sample,
    last_glance: Glance,
}

impl Watched {
    /// Begins to watch `disk`.
    ///
    /// # Errors
    /// [`Lost`] if it has gone already, or is not counted.
    pub fn start(disk: Disk, sampler: &Sampler) -> Result<Self, Lost> {
        let last = sampler.sample(&disk)?;
        Ok(Self::from_sample(disk, last))
    }

    /// From the first sample.
    pub fn from_sample(disk: Disk, last: Sample) -> Self {
        Self { disk, history: History::default(), activity: None, last_glance: last.glance, last }
    }

    /// A short look between two intervals.
    ///
    /// # Errors
    /// [`Lost`] if it has gone, or another disk has taken its name: then nothing was taken.
    pub fn glance(&mut self, sampler: &Sampler) -> Result<(), Lost> {
        let next = sampler.glance(&self.disk).map_err(going)?;
        self.must_follow(&next)?;
        self.take_glance(next);
        Ok(())
    }

    /// Looks at the end of an interval.
    ///
    /// # Errors
    /// As [`Watched::glance`].
    pub fn look(&mut self, sampler: &Sampler) -> Result<(), Lost> {
        let next = sampler.sample(&self.disk).map_err(going)?;
        self.must_follow(&next.glance)?;
        self.take(next);
        Ok(())
    }

    /// Takes the next glance.
    pub fn take_glance(&mut self, next: Glance) {
        self.history.glance(&self.last_glance, &next);
        self.last_glance = next;
    }

    /// Takes the sample that ends an interval.
    pub fn take(&mut self, next: Sample) {
        self.take_glance(next.glance);
        self.activity = Some(self.history.add(&self.last, &next));
        self.disk.mounts.clone_from(&next.mounts);
        self.last = next;
    }

    fn must_follow(&self, next: &Glance) -> Result<(), Lost> {
        if next.follows(&self.last_glance) {
            return Ok(());
        }
        Err(Lost::Replaced(self.disk.path.display().to_string()))
    }
}

/// Counters that were there go with their disk, and may be missed a moment before it is.
fn going(lost: Lost) -> Lost {
    match lost {
        Lost::NoCounters(path, _) => Lost::Gone(path),
        lost => lost,
    }
}
