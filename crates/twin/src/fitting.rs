//! The fit: choose cells, fit reads and writes, refine against the simulation, build the profile.

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_sim::target::DEFAULT_SEED;
use flashscope_sim::{Profile, ProfileError};

use crate::compare::{Comparison, compare};
use crate::error::FitError;
use crate::header::header;
use crate::measured::{Key, Measured};
use crate::options::Options;
use crate::profile::{FitInput, PAGE, fitted_profile};
use crate::reads::{self, Read};
use crate::split::Split;
use crate::summary::median;
use crate::write_model::{MissRates, WriteCell, WriteModel};
use crate::writes;

/// At least this number of cells for each fitted number, against overfitting. A guess.
const CELLS_PER_NUMBER: usize = 5;

// A profile needs at least a scale, so the cells of one number.
const CELLS_MIN: usize = CELLS_PER_NUMBER;

/// A fitted profile, and its errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The profile as TOML. The header comment says what each section rests on.
    pub toml: String,
    /// The profile.
    pub profile: Profile,
    /// The number of fitted parameters.
    pub parameters: usize,
    /// The number of cells they were fitted from.
    pub fitted_cells: usize,
    /// Every cell, measured and simulated.
    pub comparison: Comparison,
}

/// The cells that are not held out.
struct VisibleCells {
    reads: Vec<Read>,
    writes: Vec<WriteCell>,
}

/// Fits a profile to the cells that are not held out. The same measurement and options give the same profile,
/// byte for byte.
///
/// # Errors
/// [`FitError`]: too few cells, or figures that no stick has.
pub fn fit(measured: &Measured, options: &Options) -> Result<Fit, FitError> {
    let split = Split::new(measured, options.holdout, options.seed);
    let visible = VisibleCells::new(measured, &split);
    let fitted_cells = visible.reads.len() + visible.writes.len();
    if fitted_cells < CELLS_MIN {
        let name = measured.name.clone();
        return Err(FitError::TooFewCells { name, cells: fitted_cells, cells_min: CELLS_MIN });
    }
    let budget = fitted_cells / CELLS_PER_NUMBER;
    let erase_block = erase_block(measured);
    let known = measured.known.unwrap_or_default();
    let model = writes::fit(&visible.writes, erase_block, write_budget(visible.writes.len(), budget), known);
    let left = budget.saturating_sub(model.as_ref().map_or(0, WriteModel::parameters));
    let reads = reads::fit(&visible.reads, [erase_block, PAGE], left);
    let input = FitInput { measured, options, erase_block, reads: &reads };
    let impossible = |source| FitError::Impossible { name: measured.name.clone(), source };
    let (model, profile) = refine(&input, model, &split).map_err(impossible)?;
    let comparison = compare(&profile, measured, &split, DEFAULT_SEED);
    let mut toml = header(&input, model.as_ref()) + &profile.to_toml().map_err(impossible)?;
    // Nothing in a profile comes from held-out cells.
    if let Some(warning) = comparison.warning(false) {
        toml = format!("# Poor fit: {warning}.\n{toml}");
    }
    let parameters = reads.parameters() + model.as_ref().map_or(0, WriteModel::parameters);
    Ok(Fit { toml, profile, parameters, fitted_cells, comparison })
}

impl VisibleCells {
    fn new(measured: &Measured, split: &Split) -> Self {
        let mut cells = Self { reads: Vec::new(), writes: Vec::new() };
        let erase_block = erase_block(measured);
        for (index, table) in measured.tables.iter().enumerate() {
            if given_erase_block(&table.command).is_some_and(|given| given.get() != erase_block) {
                continue;
            }
            let visible = table.cells.iter().enumerate().filter(|(at, _)| !split.is_held_out(index, *at));
            for (_, cell) in visible {
                match cell.key {
                    // A boundary period of less than two sectors is meaningless.
                    Key::Read { candidate, .. } if candidate.get().trailing_zeros() < 10 => {}
                    Key::Read { candidate, side } => {
                        cells.reads.push(Read { candidate: candidate.get(), side, seconds: cell.seconds });
                    }
                    key => cells.writes.extend(WriteCell::of(key, cell.seconds)),
                }
            }
        }
        cells
    }
}

/// The parameters for this number of writes. Reads need few parameters, however many cells they have.
fn write_budget(writes: usize, budget: usize) -> usize {
    const FOR_READS: usize = 3;
    let own = (writes / CELLS_PER_NUMBER).max(1);
    own.max(budget.saturating_sub(FOR_READS).min(2 * own)).min(budget)
}

/// The erase block given to flashbench in most of the tables.
pub(crate) fn erase_block(measured: &Measured) -> u64 {
    let mut given: Vec<u64> = measured
        .tables
        .iter()
        .filter_map(|table| given_erase_block(&table.command))
        .map(Bytes::get)
        .collect();
    given.sort_unstable();
    let most = given.chunk_by(|a, b| a == b).max_by_key(|equal| equal.len());
    most.map_or(Command::DEFAULT_ERASE_BLOCK.get(), |equal| equal[0])
}

const fn given_erase_block(command: &Command) -> Option<Bytes> {
    match command {
        Command::Align { .. } => None,
        Command::OpenUnits { erase_block, .. } | Command::FindFat { erase_block, .. } => Some(*erase_block),
    }
}

/// A model of writes, and the profile it makes.
type Candidate = (Option<WriteModel>, Profile);

/// Simulates the model, corrects each group of numbers by its median error, and keeps the best candidate. A
/// merge time that was found is not corrected.
fn refine(input: &FitInput<'_>, model: Option<WriteModel>, split: &Split) -> Result<Candidate, ProfileError> {
    const ROUNDS: usize = 3;
    let profile = checked_profile(input, model.as_ref())?;
    let is_found = input.measured.known.is_some_and(|known| known.merge_s.is_some());
    let Some(mut current) = model.clone().filter(|_| !is_found) else { return Ok((model, profile)) };
    let misses = MissRates::new();
    let mut best: Option<(f64, Candidate)> = None;
    for _ in 0..ROUNDS {
        let profile = checked_profile(input, Some(&current))?;
        let comparison = compare(&profile, input.measured, split, DEFAULT_SEED);
        let loss = loss(&comparison);
        let next = corrected(&current, &comparison, &misses);
        if best.as_ref().is_none_or(|(best_loss, _)| loss < *best_loss) {
            best = Some((loss, (Some(current), profile)));
        }
        current = next;
    }
    Ok(best.map_or((None, profile), |(_, candidate)| candidate))
}

fn checked_profile(input: &FitInput<'_>, model: Option<&WriteModel>) -> Result<Profile, ProfileError> {
    let profile = fitted_profile(input, model);
    profile.check()?;
    Ok(profile)
}

/// The sum of the log errors of the fitted cells. Each counts at most 0.5, so that outliers do not dominate.
fn loss(comparison: &Comparison) -> f64 {
    let fitted = comparison.cells.iter().filter(|cell| !cell.held_out);
    fitted.map(|cell| (cell.simulated_s / cell.measured_s).ln().abs().min(0.5)).sum()
}

/// The model with its merge times corrected by the median ratio of measured to simulated merge times.
fn corrected(model: &WriteModel, comparison: &Comparison, misses: &MissRates) -> WriteModel {
    let mut corrected = model.clone();
    let fitted = || {
        let visible = comparison.cells.iter().filter(|cell| !cell.held_out);
        visible.filter_map(|cell| Some((WriteCell::of(cell.key, cell.measured_s)?, cell.simulated_s)))
    };
    for linear in [true, false] {
        let merging = fitted().filter(|(write, _)| {
            write.is_linear() == linear && model.merges(write, misses) > 0.0 && !model.is_small(write)
        });
        let ratios = merging.filter_map(|(write, simulated_s)| {
            let base_s = model.base_s(&write) * model.factor(&write) + model.opening_s(&write);
            let (wanted_s, got_s) = (write.seconds - base_s, simulated_s - base_s);
            (wanted_s > 0.1 * write.seconds && got_s > 0.1 * simulated_s).then(|| wanted_s / got_s)
        });
        let factor = median(ratios).unwrap_or(1.0).clamp(0.5, 2.0);
        let times = if linear { &mut corrected.merge } else { &mut corrected.random_merge };
        for point in &mut times.0 {
            point.1 *= factor;
        }
    }
    corrected
}

#[cfg(test)]
mod tests {
    use flashscope_record::observation::Order;

    use super::*;
    use crate::compare::Compared;
    use crate::write_model::{SlowRange, TimeCurve};

    /// Five cells are needed for each number. Three numbers are for reads.
    #[test]
    fn writes_get_the_numbers_of_their_own_cells_and_at_most_as_many_of_those_of_reads() {
        for (writes, budget, numbers) in
            [(20, 4, 4), (20, 6, 4), (20, 10, 7), (20, 30, 8), (4, 5, 2), (4, 1, 1)]
        {
            assert_eq!(write_budget(writes, budget), numbers, "{writes} writes, {budget} numbers");
        }
    }

    /// Writes of 1 MiB to two erase blocks of 4 MiB where one stays open. Without its merge a write takes
    /// 0.3 s: 0.1 s, twice that in slow blocks, and a quarter of the 0.4 s that a block takes to open.
    #[test]
    fn merges_are_corrected_by_what_their_writes_take_beyond_base_and_opening() {
        let model = WriteModel {
            erase_block: 4 << 20,
            open_linear: 1,
            open_random: 1,
            append: TimeCurve(vec![(1 << 20, 0.1)]),
            merge: TimeCurve(vec![(512, 0.2)]),
            random_merge: TimeCurve(vec![(512, 0.2)]),
            open_s: 0.4,
            slow_ranges: vec![SlowRange { first: 0, end: 100, factor: 2.0 }],
            ..WriteModel::default()
        };
        let cell = |order, measured_s, held_out| Compared {
            table: 0,
            key: Key::OpenUnits { units: 2, order, request: Bytes::mib(1) },
            measured_s,
            simulated_s: 0.5,
            held_out,
        };
        let cells = vec![
            cell(Order::Linear, 0.6, false),
            cell(Order::Linear, 0.35, true),
            cell(Order::Random, 0.45, false),
        ];
        let next = corrected(&model, &Comparison { cells }, &MissRates::new());
        let [linear, random] = [&next.merge, &next.random_merge].map(|times| times.0[0].1);
        assert!((linear - 0.2 * 1.5).abs() < 1e-9, "{linear}");
        assert!((random - 0.2 * 0.75).abs() < 1e-9, "{random}");
    }
}
