//! The stick in trials: opened with the person's permission for every filesystem that is made on it.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_device::host::{FreshSpace, NotReady, TrialHost};
use flashscope_device::layer::{Budget, Interrupt};
use flashscope_device::{Bytes, Instant};
use flashscope_layout::apply::{HostError, MakeError, make, make_in_partition};
use flashscope_layout::ids::Ids;
use flashscope_layout::steps::partition_path;
use flashscope_layout::{Identity, Plan};
use flashscope_linux::{
    Roots, ScratchFiles, TrialFiles, TrialMount, TrialMountError, has_agreed_medium, keep_from_udev,
    update_partitions,
};

use super::candidates::{Planable, Planned};
use super::place::Place;
use crate::confirm::Agreed;
use crate::exit::{Exit, Failure};
use crate::{medium, target};

/// Why trials ended early.
#[derive(Debug)]
pub(super) struct TrialFailure {
    pub failure: Failure,
    is_limit: bool,
}

impl From<Failure> for TrialFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, is_limit: false }
    }
}

impl From<TrialMountError> for TrialFailure {
    fn from(error: TrialMountError) -> Self {
        let is_limit = error.is_limit();
        Self { failure: Failure { exit: Exit::Failed, error: error.into() }, is_limit }
    }
}

/// The stick.
pub(super) struct Stick<'a> {
    pub text: &'a str,
    pub consent: &'a Agreed,
    pub place: &'a Place,
    pub planned: &'a Planned,
    pub scratch: ScratchFiles,
    pub mount: TrialMount,
    /// The identity when it was first opened.
    pub identity: Option<Identity>,
    /// The seed of the next filesystem's identifier. None may be that of a filesystem that is there:
    /// mkfs.btrfs and the kernel refuse it.
    pub id_seed: u64,
    /// Keeps udev and desktops away while a filesystem is mounted. Opening takes a lock of its own.
    pub lock: Option<File>,
}

type Refusal = NotReady<TrialFailure>;

impl Stick<'_> {
    /// Makes the filesystem. The stick is opened for that only, so nothing else can be written to it
    /// without the checks of every command that writes.
    fn make(&mut self, planable: &Planable) -> Result<(), Refusal> {
        let failed = |failure: Failure| {
            // It was there when the command began: this is no wrong usage, the stick has gone.
            let exit = if failure.exit == Exit::Usage { Exit::Failed } else { failure.exit };
            NotReady::Failed(Failure { exit, ..failure }.into())
        };
        self.lock = None;
        let mut target = target::open(self.text, Some(self.consent), Budget::UNLIMITED).map_err(failed)?;
        let found = medium::identity(&target);
        if !self.identity.get_or_insert_with(|| found.clone()).matches(&found) {
            return Err(failed(other_medium(self.text)));
        }
        let plan = self.renewed(planable);
        let made = match (self.place.partition, plan.partitions.first()) {
            (Some(_), Some(partition)) => make_in_partition(partition, &mut target.device, &mut self.scratch),
            _ => make(&plan, &mut target.device, &mut self.scratch),
        };
        drop(target);
        // Without the lock a desktop may mount what was just made; the next trial then stops.
        self.lock = keep_from_udev(&self.place.disk);
        made.map(drop).map_err(refusal)
    }

    /// The plan with an identifier that no filesystem had before.
    fn renewed(&mut self, planable: &Planable) -> Plan {
        let ids = Ids::of_seed(self.id_seed);
        self.id_seed = self.id_seed.wrapping_add(1);
        let mut plan = planable.plan.clone();
        for (partition, id) in plan.partitions.iter_mut().zip(ids.filesystems) {
            partition.uuid = id;
        }
        plan
    }

    /// The node of the filesystem.
    fn node(&self) -> Result<PathBuf, TrialFailure> {
        let disk = &self.place.disk;
        if self.place.partition.is_some() {
            let path = std::fs::canonicalize(self.text);
            return path.map_err(|error| Failure::from(error).into());
        }
        update_partitions(disk)?;
        Ok(PathBuf::from(partition_path(&disk.to_string_lossy(), 1)))
    }

    /// Refuses another medium than the agreed one: files are written to what is mounted.
    fn check_medium(&self) -> Result<(), Refusal> {
        if has_agreed_medium(Path::new(self.text), self.consent, &Roots::default()) {
            return Ok(());
        }
        Err(NotReady::Failed(other_medium(self.text).into()))
    }
}

fn other_medium(text: &str) -> Failure {
    Failure { exit: Exit::Refused, error: anyhow!("{text} is no longer the medium that you agreed to erase") }
}

/// A filesystem that its own program refuses can be left out; all else ends the trials.
fn refusal(error: MakeError) -> Refusal {
    match error {
        MakeError::Plan(_)
        | MakeError::Host(HostError::Failed { .. } | HostError::TooOld { .. } | HostError::Lacks(_)) => {
            NotReady::Refused { reason: error.to_string() }
        }
        error => NotReady::Failed(Failure { exit: Exit::Failed, error: error.into() }.into()),
    }
}

impl TrialHost for Stick<'_> {
    type Error = TrialFailure;
    type Files<'a>
        = TrialFiles<'a, TrialFailure>
    where
        Self: 'a;

    fn now(&self) -> Instant {
        self.mount.now()
    }

    fn prepare(
        &mut self,
        variant: &str,
        _start: Bytes,
        _interrupt: &Interrupt,
    ) -> Result<FreshSpace, Refusal> {
        let planned = self.planned;
        let Some(planable) = planned.of_name(variant) else {
            return Err(NotReady::Refused { reason: "it was not planned".to_owned() });
        };
        self.make(planable)?;
        let node = self.node().map_err(NotReady::Failed)?;
        self.check_medium()?;
        let space = self.mount.mount(&node, &planable.mount).map_err(|error| match error {
            TrialMountError::Refused { .. } => NotReady::Refused { reason: error.to_string() },
            error => NotReady::Failed(error.into()),
        })?;
        self.check_medium()?;
        Ok(space)
    }

    fn files(&mut self) -> Result<TrialFiles<'_, TrialFailure>, TrialFailure> {
        self.mount.files()
    }

    fn unmount(&mut self) -> Result<(), TrialFailure> {
        self.mount.unmount().map_err(TrialFailure::from)
    }

    fn is_limit(error: &TrialFailure) -> bool {
        error.is_limit
    }
}
