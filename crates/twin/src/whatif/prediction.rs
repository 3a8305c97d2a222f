//! What other layouts gain when the 33,000 files of a source tree are written, predicted on the virtual twin
//! of a run.

use flashscope_infer::trials::forecast::{Forecast, Layout};
use flashscope_record::diagnosis::Gain;
use flashscope_record::run_file::RunFile;
use flashscope_record::verdict::PredictedGains;
use flashscope_record::{TrialOperation, TrialWorkload};
use flashscope_recording::{RecordingError, Recordings, Wish};

use super::{Layouts, StickTwin, present, starts};

/// The seed of the twin. Any does: with the same one the answer is the same.
const SEED: u64 = 1;
/// ext4 as plans make it.
pub const PLANNED_EXT4: &str = "ext4-stripe";

/// The gain of each layout over the present one. `None` if the run has no twin, the present filesystem is not
/// known, or `goes_on` said no; a gain is `None` if one of the two filesystems was not recorded.
#[must_use]
pub fn gains(run: &RunFile, layouts: &[Layout], goes_on: impl FnMut() -> bool) -> Option<Vec<Option<Gain>>> {
    let twin = StickTwin::of(run).ok()?;
    gains_on(&twin, &present(run)?, layouts, goes_on)
}

/// What the actions of a verdict gain: the present filesystem on the first erase-block boundary, and ext4.
#[must_use]
pub fn gains_of_actions(run: &RunFile, goes_on: impl FnMut() -> bool) -> Option<PredictedGains> {
    let baseline = present(run)?;
    let twin = StickTwin::of(run).ok()?;
    let aligned = *starts(twin.profile.ftl.erase_block, None).last()?;
    let is_aligned = baseline.start.is_multiple_of(twin.profile.ftl.erase_block);
    let is_ext4 = baseline.variant.starts_with("ext4");
    let layout = |variant: &str| Layout { variant: variant.to_owned(), start: aligned };
    let same = (!is_aligned).then(|| layout(&baseline.variant));
    let ext4 = (!is_ext4).then(|| layout(PLANNED_EXT4));
    let layouts: Vec<Layout> = [&same, &ext4].into_iter().flatten().cloned().collect();
    if layouts.is_empty() {
        return None;
    }
    let mut gains = gains_on(&twin, &baseline, &layouts, goes_on)?.into_iter();
    let mut gain = |layout: Option<Layout>| layout.and_then(|_| gains.next()?);
    Some(PredictedGains { aligned: gain(same), ext4: gain(ext4) })
}

fn gains_on(
    twin: &StickTwin,
    baseline: &Layout,
    layouts: &[Layout],
    mut goes_on: impl FnMut() -> bool,
) -> Option<Vec<Option<Gain>>> {
    let recordings = Recordings::embedded().ok()?;
    let all = || layouts.iter().chain([baseline]);
    let mut starts: Vec<_> = all().map(|layout| layout.start).collect();
    starts.sort_unstable();
    starts.dedup();
    let wish = Wish {
        variants: all().map(|layout| layout.variant.clone()).collect(),
        workloads: vec![TrialWorkload::Tree],
        rounds: None,
    };
    let tried = Layouts {
        recordings: &recordings,
        wish,
        starts,
        erase_block: twin.profile.ftl.erase_block,
        request_max: twin.request_max,
        capacity: twin.profile.capacity,
        seed: SEED,
    }
    .tried(|seed| Ok::<_, RecordingError>(twin.device(seed)), &mut goes_on)
    .ok()?;
    if !goes_on() {
        return None;
    }
    let forecast = Forecast::of(&tried.trials, baseline, twin.fit, twin.profile.ftl.erase_block);
    let of = |layout| forecast.prediction(layout, TrialWorkload::Tree, TrialOperation::Write)?.gain;
    let gain = |layout| of(layout).map(|gain| Gain { low: gain.low, likely: gain.ratio, high: gain.high });
    Some(layouts.iter().map(gain).collect())
}
