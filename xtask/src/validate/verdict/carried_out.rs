//! The actions of a first screen, carried out on the virtual stick.

use anyhow::{Context, bail};
use flashscope_device::Device;
use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_layout::filesystem::FilesystemKind;
use flashscope_layout::medium::Identity;
use flashscope_layout::{EraseBlock, EraseBlockSource, Medium, Purpose, Wish, keeping, plan};
use flashscope_record::diagnosis::Gain;
use flashscope_record::finding::{Finding, FindingId};
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::{Action, ActionKind, GainScope};
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_recording::{Recordings, Wish as Replayed};
use flashscope_twin::whatif::{Layouts, PLANNED_EXT4, StickTwin, present};
use flashscope_zoo::{Case, Fault};

/// An action that states a gain, and what it gained.
#[derive(Debug)]
pub struct CarriedOut {
    pub kind: ActionKind,
    pub stated: Gain,
    pub truth: f64,
}

impl CarriedOut {
    /// `None` for an action without a gain, or whose gain the virtual stick cannot tell.
    pub fn of(
        case: &Case,
        run: &RunFile,
        findings: &[Finding],
        action: &Action,
    ) -> anyhow::Result<Option<Self>> {
        let Some(stated) = action.gain else { return Ok(None) };
        let everyday = |fault| Ok::<_, anyhow::Error>(Some(case.everyday_gain(fault)?));
        let is_everyday = action.scope == GainScope::Everyday;
        let truth = match action.kind {
            ActionKind::FasterPort => everyday(Fault::SlowPort)?,
            ActionKind::FasterReader => everyday(Fault::SlowReader)?,
            ActionKind::LargerCommands => everyday(Fault::SmallCommands)?,
            ActionKind::RestBetweenCopies(_) => everyday(Fault::ExhaustedSlcCache)?,
            ActionKind::Realign if is_everyday => everyday(Fault::Misaligned)?,
            ActionKind::Realign | ActionKind::UseExt4 => gain_of_plan(case, run, findings, action.kind)?,
            ActionKind::Archive => {
                let [everyday, small_files] = case.archive_gains()?;
                Some(if is_everyday { everyday } else { small_files })
            }
            kind => bail!("the gain of {} is stated, and nothing carries it out", kind.as_str()),
        };
        Ok(truth.map(|truth| Self { kind: action.kind, stated, truth }))
    }

    /// What was stated, and what it gained.
    pub fn text(&self) -> String {
        let Gain { low, likely, high } = self.stated;
        format!("{} {likely:.2} ({low:.2} to {high:.2}), true {:.2}", self.kind.as_str(), self.truth)
    }

    pub fn is_covered(&self) -> bool {
        (self.stated.low..=self.stated.high).contains(&self.truth)
    }
}

/// How much faster 33,000 files are written on the layout of the plan than on the present one.
fn gain_of_plan(
    case: &Case,
    run: &RunFile,
    findings: &[Finding],
    kind: ActionKind,
) -> anyhow::Result<Option<f64>> {
    let Some(now) = present(run) else { return Ok(None) };
    let capabilities = case.device()?.capabilities();
    let measured = findings.iter().find(|finding| finding.id == FindingId::EraseBlockBytes);
    let size = measured.and_then(Finding::bytes).context("a layout without an erase block")?;
    let medium = Medium {
        target: run.target.clone(),
        capacity: capabilities.capacity,
        true_size: None,
        logical_block: capabilities.logical_block,
        erase_block: EraseBlock { size, source: EraseBlockSource::Given },
        fat_area: None,
        identity: Identity::default(),
    };
    let kept = run.attachment.largest_volume().and_then(|volume| volume.filesystem.as_deref());
    let (purpose, filesystem) = match kind {
        ActionKind::Realign => keeping(kept.unwrap_or_default(), medium.capacity),
        _ => (Purpose::LinuxData, None),
    };
    let plan = plan(&medium, &Wish { filesystem, ..Wish::new(purpose, case.survey_seed) })?;
    let placement = &plan.partitions.first().context("a plan without a partition")?.placement;
    // What is mounted with options today will be mounted with them again.
    let variant = match placement.filesystem {
        FilesystemKind::Ext4 => PLANNED_EXT4,
        kind if kept == Some(kind.as_str()) => &now.variant,
        kind => kind.as_str(),
    };
    let planned = Layout { variant: variant.to_owned(), start: placement.start };
    let recordings = Recordings::embedded()?;
    let twin = StickTwin::of(run)?;
    let layouts = Layouts {
        recordings: &recordings,
        wish: Replayed {
            variants: vec![now.variant.clone(), planned.variant.clone()],
            workloads: vec![TrialWorkload::Tree],
            rounds: Some(1),
        },
        starts: vec![now.start, planned.start],
        erase_block: size,
        request_max: case.request_max(),
        capacity: capabilities.capacity,
        seed: case.survey_seed,
    };
    let tried = layouts.tried(|_| Ok::<_, anyhow::Error>(case.device()?), || true)?;
    let forecast = Forecast::of(&tried.trials, &now, twin.fit, size);
    let of_plan = forecast.prediction(&planned, TrialWorkload::Tree, TrialOperation::Write);
    Ok(of_plan.and_then(|prediction| prediction.gain).map(|gain| gain.ratio))
}
