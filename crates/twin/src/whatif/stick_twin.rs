//! The virtual twin of the stick of a run.

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_infer::diagnosis::CopyStalls;
use flashscope_infer::findings_of;
use flashscope_infer::trials::twin_error::{TwinFit, TwinModel};
use flashscope_record::finding::{Finding, FindingId, Outcome, Value};
use flashscope_record::observation::{Data, Order};
use flashscope_record::run_file::RunFile;
use flashscope_sim::profile::{Basis, Curve, Policy};
use flashscope_sim::target::DEFAULT_SEED;
use flashscope_sim::{Profile, VirtualStick};

use super::error::TwinError;
use super::misfit::misfit;
use super::pages::{rounded_us, seen_merge_s, with_pages};
use super::speeds::Speeds;
use super::stalls::{with_stalls, without_stalled};
use crate::compare::{Comparison, compare};
use crate::fitting::{erase_block, fit};
use crate::found::find;
use crate::measured::{Key, Measured};
use crate::options::Options;
use crate::split::Split;
use crate::summary::Summary;

/// The largest request if the run does not say it: that of most USB sticks, 240 sectors.
const REQUEST_MAX: Bytes = Bytes::kib(120);

/// A virtual stick that was fitted to everything that a run measured.
#[derive(Debug, Clone)]
pub struct StickTwin {
    /// Its profile.
    pub profile: Profile,
    /// How well it fits.
    pub fit: TwinFit,
    /// How well it repeats the measured times.
    pub errors: Summary,
    /// The largest request that the host sends to the stick.
    pub request_max: Bytes,
}

impl StickTwin {
    /// The twin of the stick that was measured.
    ///
    /// # Errors
    /// [`TwinError`] if the run does not show what a twin needs.
    pub fn of(run: &RunFile) -> Result<Self, TwinError> {
        if let Some(verdict) = run.false_capacity() {
            let (announced, true_size) = (verdict.announced, verdict.true_size);
            return Err(TwinError::FalseCapacity { announced, true_size });
        }
        if !run.observations.iter().any(|seen| is_of_writes(&seen.data)) {
            return Err(TwinError::NoWrites);
        }
        let findings = findings_of(run);
        known_erase_block(&findings)?;
        let stalls = CopyStalls::of(run, &findings);
        let mut measured = match stalls {
            Some(stalls) => Measured::from_run(&run.target, &without_stalled(run, stalls)),
            None => Measured::from_run(&run.target, run),
        };
        let erase_block = Bytes::new(erase_block(&measured));
        measured.fat_area = measured.fat_area.round_down(erase_block);
        // Pages and limits come from the findings below; the errors of the predictions were measured so.
        measured.known = None;
        thin(&mut measured, &findings);
        // Every cell is fitted: the errors of the predictions were measured on other sticks.
        let options = Options { profile_name: "twin".to_owned(), holdout: 0.0, seed: 1 };
        let fitted = fit(&measured, &options)?;
        if fitted.profile.write.basis == Basis::Assumed {
            return Err(TwinError::NoWrites);
        }
        let page = page(&findings).filter(|page| erase_block.is_multiple_of(*page));
        let page = page.unwrap_or(fitted.profile.ftl.page);
        let speeds = Speeds::of(run);
        let by_size = (fitted.comparison, with_seen_merges(speeds.with_link(&fitted.profile), &measured));
        let by_page = with_pages(&by_size.1, &measured, page, &findings);
        let by_page = by_page.map(|profile| match small_path(&findings) {
            Some(up_to) => speeds.with_small_writes(profile, up_to),
            None => profile,
        });
        let (comparison, profile, model) = match by_page {
            Some(profile) => better(by_size, profile, &measured),
            None => (by_size.0, by_size.1, TwinModel::Sizes),
        };
        let profile = match stalls {
            Some(stalls) => with_stalls(profile, stalls),
            None => profile,
        };
        let request_max = run.attachment.request_max.unwrap_or(REQUEST_MAX);
        let fit = TwinFit { model, misfit: misfit(&run.observations, &profile) };
        Ok(Self { errors: comparison.summary(false), profile, fit, request_max })
    }

    /// A new stick like the measured one.
    #[must_use]
    pub fn device(&self, seed: u64) -> VirtualStick {
        VirtualStick::new(&self.profile, seed)
    }
}

/// The profile with the merges that were seen, where the fit assumed them.
fn with_seen_merges(mut profile: Profile, measured: &Measured) -> Profile {
    if let Policy::OpenBlocks(policy) = &mut profile.policy
        && policy.basis == Basis::Assumed
    {
        let seconds = seen_merge_s(measured, policy.open_units_linear);
        policy.merge_us = Curve::Constant(rounded_us(seconds));
    }
    profile
}

/// Keeps the rows of open units that say something new: those next to a limit, powers of two, and three times
/// those. A search for 100 units has 100 rows, and each takes as many erase blocks to replay.
fn thin(measured: &mut Measured, findings: &[Finding]) {
    let limits: Vec<u32> = [FindingId::OpenUnitsLinear, FindingId::OpenUnitsRandom]
        .into_iter()
        .filter_map(|id| find(findings, id).and_then(Finding::count))
        .collect();
    let says_something = |units: u32| {
        let is_near = |limit: &u32| units.abs_diff(*limit) <= 1;
        units >> units.trailing_zeros() <= 3 || limits.iter().any(is_near)
    };
    measured.tables.retain(|table| match table.command {
        Command::OpenUnits { open_units, .. } => says_something(open_units.max(1)),
        _ => true,
    });
}

/// Times by size fit each size by itself. Times of pages have fewer numbers, so that they are taken unless
/// their error is larger by this factor. Guess.
const PAGES_WORSE_MAX: f64 = 1.5;
/// An error of times of pages that is below this is no reason against them. Guess: the link, whose rate is
/// not known exactly, and pages that are programmed in pairs.
const ERROR_MIN: f64 = 0.15;

/// The profile that repeats the measured times better, and its comparison with them.
fn better(
    by_size: (Comparison, Profile),
    by_page: Profile,
    measured: &Measured,
) -> (Comparison, Profile, TwinModel) {
    let split = Split::new(measured, 0.0, 1);
    let compared = compare(&by_page, measured, &split, DEFAULT_SEED);
    let [size, page] = [&by_size.0, &compared].map(error);
    if page <= (PAGES_WORSE_MAX * size).max(ERROR_MIN) {
        (compared, by_page, TwinModel::Pages)
    } else {
        (by_size.0, by_size.1, TwinModel::Sizes)
    }
}

/// The mean error of the writes, as a logarithm. Each counts at most 0.5, so that outliers do not dominate.
fn error(comparison: &Comparison) -> f64 {
    let is_sequential = |key: Key| match key {
        Key::Read { .. } => false,
        Key::OpenUnits { order, .. } | Key::FindFat { order, .. } => order == Order::Linear,
    };
    let writes = comparison.cells.iter().filter(|cell| is_sequential(cell.key));
    let errors: Vec<f64> =
        writes.map(|cell| (cell.simulated_s / cell.measured_s).ln().abs().min(0.5)).collect();
    errors.iter().sum::<f64>() / f64::from(u32::try_from(errors.len().max(1)).unwrap_or(u32::MAX))
}

fn page(findings: &[Finding]) -> Option<Bytes> {
    find(findings, FindingId::PageBytes).and_then(Finding::bytes)
}

/// The largest write that the class of the stick does not hold for.
fn small_path(findings: &[Finding]) -> Option<Bytes> {
    match find(findings, FindingId::FtlClass)?.value()? {
        Value::Class { above, .. } => above,
        _ => None,
    }
}

fn is_of_writes(data: &Data) -> bool {
    match data {
        Data::WriteSize(data) => !data.cells.is_empty(),
        Data::OpenUnits(data) => !data.cells.is_empty(),
        _ => false,
    }
}

/// Refuses a stick whose erase block is not known: the places of its merges would be guessed.
fn known_erase_block(findings: &[Finding]) -> Result<(), TwinError> {
    match find(findings, FindingId::EraseBlockBytes).map(|finding| &finding.outcome) {
        Some(Outcome::Found { .. }) => Ok(()),
        Some(Outcome::Unknown { reason, .. }) => Err(TwinError::NoGeometry { reason: Some(reason.clone()) }),
        None => Err(TwinError::NoGeometry { reason: None }),
    }
}

#[cfg(test)]
mod tests {
    use flashscope_record::finding::{BlockEvidence, Confidence, Evidence};

    use super::*;
    use crate::compare::Compared;
    use crate::measured::{Cell, Side, Table};

    /// Errors of times by size, of times of pages, and of those that are taken.
    #[test]
    fn times_of_pages_are_taken_unless_they_are_poor_and_clearly_worse() {
        let profile = Profile::builtin("transcend-8g").unwrap();
        let (erase_block, order) = (Bytes::mib(4), Order::Linear);
        let command = Command::OpenUnits { erase_block, open_units: 1, smallest: erase_block, order };
        let key = Key::OpenUnits { units: 1, order, request: erase_block };
        let log = |seconds| {
            Measured::of_tables(vec![Table { command, lines: 0..=0, cells: vec![Cell { key, seconds }] }])
        };
        let split = Split::new(&log(1.0), 0.0, 1);
        let simulated_s = compare(&profile, &log(1.0), &split, DEFAULT_SEED).cells[0].simulated_s;
        let by_size = |error: f64| {
            let simulated_s = error.exp();
            let cell = Compared { table: 0, key, measured_s: 1.0, simulated_s, held_out: false };
            (Comparison { cells: vec![cell] }, profile.clone())
        };
        for (size, page, taken) in [
            (0.0, 0.1, (TwinModel::Pages, 0.1)),
            (0.1, 0.2, (TwinModel::Sizes, 0.1)),
            (0.14, 0.2, (TwinModel::Pages, 0.2)),
        ] {
            let log = log(simulated_s / f64::exp(page));
            let (comparison, _, model) = better(by_size(size), profile.clone(), &log);
            let is_taken = model == taken.0 && (error(&comparison) - taken.1).abs() < 1e-9;
            assert!(is_taken, "{size} {page}: {model:?} {comparison:?}");
        }
    }

    #[test]
    fn error_is_the_mean_of_sequential_writes_without_outliers() {
        let cell =
            |key, simulated_s| Compared { table: 0, key, measured_s: 1.0, simulated_s, held_out: false };
        let write = |order| Key::OpenUnits { units: 1, order, request: Bytes::kib(64) };
        let [linear, random] = [Order::Linear, Order::Random].map(write);
        let read = Key::Read { candidate: Bytes::mib(4), side: Side::Across };
        let cells = vec![
            cell(linear, 1.0),
            cell(linear, 0.3_f64.exp()),
            cell(linear, (-0.4_f64).exp()),
            cell(linear, 9.0),
            cell(random, 2.0),
            cell(read, 2.0),
        ];
        // 0, 0.3, 0.4, and 0.5 at most.
        assert!((error(&Comparison { cells }) - 0.3).abs() < 1e-9);
        assert!(error(&Comparison { cells: Vec::new() }).abs() < 1e-9);
    }

    #[test]
    fn only_rows_of_open_units_that_say_nothing_new_are_left_out() {
        let (erase_block, smallest, order) = (Bytes::mib(4), Bytes::kib(64), Order::Linear);
        let row = |open_units: u32| Command::OpenUnits { erase_block, open_units, smallest, order };
        let others = [
            Command::Align { read: Bytes::kib(1) },
            Command::FindFat { erase_block, units: 6, smallest, order },
        ];
        let commands = others.into_iter().chain((0..=40).map(row));
        let tables = commands.map(|command| Table { command, lines: 0..=0, cells: Vec::new() }).collect();
        let mut measured = Measured::of_tables(tables);
        let limit = Finding::exact(
            FindingId::OpenUnitsLinear,
            Value::Count(21),
            Confidence::new(0.9),
            Evidence::Blocks(BlockEvidence::ShortMerge { extra_s: 0.1 }),
        );
        thin(&mut measured, &[limit]);
        let kept: Vec<Command> = measured.tables.iter().map(|table| table.command).collect();
        let units = [0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 21, 22, 24, 32];
        let expected: Vec<Command> = others.into_iter().chain(units.into_iter().map(row)).collect();
        assert_eq!(kept, expected);
    }
}
