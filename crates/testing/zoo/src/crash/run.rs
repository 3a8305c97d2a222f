//! One case: overwrite, crash, restore, compare.

use flashscope_device::layer::Faulty;
use flashscope_device::layer::fault::{CutSpec, FaultSpec, Survivors, Trigger};
use flashscope_device::layer::journal::{
    JournalContents, JournalError, JournalMedium, JournalStart, Journaled, MemoryStore, recognise, restore,
};
use flashscope_device::memory::MemoryDevice;
use flashscope_device::{Bytes, Device};

use super::device::{self, below};
use crate::ZooError;
use crate::draw::Draw;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Crash {
    /// The process is killed. Host and device keep what was written.
    Killed,
    /// The power fails: host and device lose what was not durable, except for a random part.
    PowerCut,
    /// The device is unplugged and loses its cache. The process notices.
    Unplugged,
    /// The disk with the journal fails or is full. The process notices and restores.
    StoreFailed,
}

impl Crash {
    /// All.
    pub const ALL: [Self; 4] = [Self::Killed, Self::PowerCut, Self::Unplugged, Self::StoreFailed];

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Killed => "process killed",
            Self::PowerCut => "power cut",
            Self::Unplugged => "unplugged",
            Self::StoreFailed => "journal's disk fails",
        }
    }
}

/// A crash case, determined by its seed.
#[derive(Debug, Clone, Copy)]
pub struct CrashCase {
    /// The seed.
    pub seed: u64,
    /// The crash.
    pub crash: Crash,
}

/// What happened in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashOutcome {
    /// Whether the crash came before the run had ended.
    pub is_cut: bool,
    /// How often restoring was cut.
    pub restores_cut: u64,
    /// Bytes that the journal held.
    pub saved: Bytes,
    /// Whether every byte of the device is as before.
    pub is_identical: bool,
}

impl CrashCase {
    /// Runs the case.
    ///
    /// # Errors
    /// [`ZooError`] if the journal cannot be read or the device is not recognised, which is a failure of the
    /// case.
    pub fn run(self) -> Result<CrashOutcome, ZooError> {
        let mut draw = Draw::new(self.seed, 0);
        let mut stick = device::full(&mut draw).map_err(|error| ZooError::Crash(error.to_string()))?;
        let before = stick.contents().to_vec();
        let (mut store, is_cut) = self.overwrite(&mut stick, &mut draw)?;
        let mut outcome = CrashOutcome { is_cut, restores_cut: 0, saved: Bytes::ZERO, is_identical: false };
        if let Ok(contents) = JournalContents::read(&mut store) {
            outcome.saved = contents.saved();
        }
        for _ in 0..below(&mut draw, 3) {
            let cut = 1 + below(&mut draw, 12);
            let is_finished = self.restore_cut_after(cut, &mut stick, &mut store, &mut draw)?;
            outcome.restores_cut += u64::from(!is_finished);
        }
        restore_journal(&mut stick, &mut store)?;
        outcome.is_identical = stick.contents() == before;
        Ok(outcome)
    }

    /// Overwrites the device until the crash. Returns what is left of the journal, and whether it was cut.
    fn overwrite(self, stick: &mut MemoryDevice, draw: &mut Draw) -> Result<(MemoryStore, bool), ZooError> {
        let capacity = stick.capabilities().capacity;
        let (ops, queue_depth) = (device::overwrites(capacity, draw), 1 + below(draw, 4));
        let instant = below(draw, 64 + 3 * ops.len() as u64);
        let store = match self.crash {
            Crash::StoreFailed => MemoryStore::default().failing_after(instant),
            _ => MemoryStore::default(),
        };
        let start = JournalStart { medium: medium(stick), ..JournalStart::default() };
        let faulty = self.faulty(stick, instant, draw)?;
        // Without a header nothing was written.
        let Ok(mut journaled) = Journaled::start(faulty, store, start) else {
            return Ok((MemoryStore::default(), true));
        };
        let ended = device::run(&mut journaled, ops, queue_depth);
        let notices = matches!(self.crash, Crash::Unplugged | Crash::StoreFailed);
        if notices || ended.is_ok() {
            // It may fail: the journal then stays.
            let _restored = journaled.restore();
        }
        let (_, store) = journaled.into_parts();
        Ok((self.left(store, draw), ended.is_err()))
    }

    /// Restores, and crashes after this number of requests. True if it finished before.
    fn restore_cut_after(
        self,
        cut: u64,
        stick: &mut MemoryDevice,
        store: &mut MemoryStore,
        draw: &mut Draw,
    ) -> Result<bool, ZooError> {
        let Ok(contents) = JournalContents::read(store) else { return Ok(true) };
        let mut faulty = self.faulty(stick, cut, draw)?;
        let is_finished = restore(&contents, store, &mut faulty).is_ok();
        drop(faulty);
        *store = self.left(std::mem::take(store), draw);
        Ok(is_finished)
    }

    /// The device, which is away after this number of requests.
    fn faulty<'a>(
        self,
        stick: &'a mut MemoryDevice,
        instant: u64,
        draw: &mut Draw,
    ) -> Result<Faulty<'a>, ZooError> {
        let cache = if self.crash == Crash::Killed { Bytes::ZERO } else { Bytes::kib(64 << below(draw, 6)) };
        let cut = CutSpec { trigger: Trigger::Requests(instant), cache, survivors: Survivors::Some };
        let faults = match self.crash {
            Crash::StoreFailed => Vec::new(),
            _ => vec![FaultSpec::Unplug(cut)],
        };
        Faulty::new(stick, &faults, draw.seed()).map_err(|error| ZooError::Crash(error.to_string()))
    }

    /// The journal after the crash.
    fn left(self, store: MemoryStore, draw: &mut Draw) -> MemoryStore {
        let undurable = store.undurable();
        let kept = match self.crash {
            Crash::PowerCut => usize::try_from(below(draw, undurable as u64 + 1)).unwrap_or(undurable),
            _ => undurable,
        };
        store.after_power_cut(kept)
    }
}

fn medium(stick: &MemoryDevice) -> JournalMedium {
    let capabilities = stick.capabilities();
    let serial = Some("1".to_owned());
    JournalMedium {
        model: String::new(),
        serial,
        capacity: capabilities.capacity,
        logical_block: capabilities.logical_block,
    }
}

/// Reads the journal, recognises the device, and restores it. An empty store holds no journal.
fn restore_journal(stick: &mut MemoryDevice, store: &mut MemoryStore) -> Result<(), ZooError> {
    let failed = |error: JournalError| ZooError::Crash(error.to_string());
    let contents = match JournalContents::read(store) {
        Err(JournalError::NotJournal) => return Ok(()),
        contents => contents.map_err(failed)?,
    };
    let found = medium(stick);
    let recognition = recognise(&contents, &found, stick).map_err(failed)?;
    if !recognition.is_same() {
        return Err(ZooError::Crash(format!("not recognised: {recognition:?}")));
    }
    restore(&contents, store, stick).map_err(failed)?;
    Ok(())
}
