//! Recordings tried at several starts, each on a device of its own.

use flashscope_device::{Bytes, Device, Pattern};
use flashscope_record::Trial;
use flashscope_recording::{Choice, Fit, Place, RecordingError, Recordings, Wish, choose, try_out};

/// What is tried on a stick.
#[derive(Debug)]
pub struct Layouts<'a> {
    /// The recordings.
    pub recordings: &'a Recordings,
    /// Which of them.
    pub wish: Wish,
    /// The starts of the partition.
    pub starts: Vec<Bytes>,
    /// The erase block that the options of filesystems are chosen for.
    pub erase_block: Bytes,
    /// The largest request that the host sends.
    pub request_max: Bytes,
    /// The capacity of the stick.
    pub capacity: Bytes,
    /// The random seed of the first round.
    pub seed: u64,
}

/// The result of all trials.
#[derive(Debug, Default)]
pub struct Tried {
    /// Those that succeeded.
    pub trials: Vec<Trial>,
    /// The number of those that failed.
    pub failed: usize,
}

impl<'a> Layouts<'a> {
    /// The recordings that fit behind this start.
    #[must_use]
    pub fn choices(&self, start: Bytes) -> Vec<Choice<'a>> {
        let room = self.capacity.saturating_sub(start);
        let fit = Fit { erase_block: self.erase_block, request_max: self.request_max, room };
        choose(self.recordings.list(), &self.wish, &fit)
    }

    /// The capacity that the smallest of the recordings needs; `None` if there is none of this kind.
    #[must_use]
    pub fn capacity_min(&self) -> Option<Bytes> {
        let unlimited =
            Self { wish: self.wish.clone(), starts: Vec::new(), capacity: Bytes::new(u64::MAX), ..*self };
        let start = self.starts.iter().min().copied().unwrap_or_default();
        let least = unlimited.choices(start).iter().map(|choice| choice.write.capacity).min()?;
        least.checked_add(start)
    }

    /// Tries everything. Each round gets a device of its own from its seed. `goes_on` is asked before each.
    ///
    /// # Errors
    /// Those of `device`, and a [`RecordingError`] if a file is not what the index says.
    pub fn tried<D: Device, E: From<RecordingError>>(
        &self,
        mut device: impl FnMut(u64) -> Result<D, E>,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<Tried, E> {
        let mut tried = Tried::default();
        for start in &self.starts {
            for choice in self.choices(*start) {
                if !goes_on() {
                    return Ok(tried);
                }
                let seed = choice.stick_seed(self.seed);
                let mut stick = device(seed)?;
                let queue_depth = stick.capabilities().queue_depth;
                let place = Place { start: *start, queue_depth, pattern: Pattern::new(seed) };
                for attempt in try_out(self.recordings, &choice, &mut stick, place)? {
                    match attempt.trial {
                        Ok(trial) => tried.trials.push(trial),
                        Err(_) => tried.failed += 1,
                    }
                }
            }
        }
        Ok(tried)
    }
}

#[cfg(test)]
mod tests {
    use flashscope_device::memory::MemoryDevice;
    use flashscope_record::TrialWorkload;

    use super::*;

    /// The device holds 1 MiB, and the files have more.
    #[test]
    fn replays_that_fail_are_counted_and_left_out() {
        let recordings = Recordings::embedded().unwrap();
        let (variants, workloads) = (vec!["exfat".to_owned()], vec![TrialWorkload::Large]);
        let layouts = Layouts {
            recordings: &recordings,
            wish: Wish { variants, workloads, rounds: Some(1) },
            starts: vec![Bytes::ZERO, Bytes::mib(4)],
            erase_block: Bytes::mib(4),
            request_max: Bytes::kib(120),
            capacity: Bytes::gib(4),
            seed: 1,
        };
        let device = |_| Ok::<_, RecordingError>(MemoryDevice::new(Bytes::mib(1)));
        let tried = layouts.tried(device, || true).unwrap();
        let replays: usize = layouts.starts.iter().map(|start| layouts.choices(*start).len()).sum();
        assert!(replays >= 2 && tried.trials.is_empty(), "{tried:?}");
        assert_eq!(tried.failed, replays, "each write, and no read after it");
    }
}
