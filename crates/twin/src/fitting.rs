//! A fit from beginning to end: choose cells, fit reads and writes, refine against the simulation, write the profile down.

use flashscope_device::Bytes;
use flashscope_flashbench::Command;
use flashscope_sim::Profile;
use flashscope_sim::target::DEFAULT_SEED;

use crate::compare::{Comparison, compare};
use crate::draft::{Draft, Misses, Write};
use crate::error::FitError;
use crate::measured::{Key, Measured};
use crate::reads::{self, Read};
use crate::split::Split;
use crate::summary::median;
use crate::toml::{Document, PAGE, write_profile};
use crate::writes;

/// One number is fitted for so many cells, at most.
const CELLS_PER_NUMBER: usize = 5;

// A profile needs a scale at least, and a scale needs its five cells.
const CELLS_MIN: usize = CELLS_PER_NUMBER;

/// How a fit is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The profile's name.
    pub profile_name: String,
    /// The share of the cells that the fit does not see, 0 to 1.
    pub holdout: f64,
    /// Decides which those are.
    pub seed: u64,
}

/// A fitted profile, and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The profile as TOML, with comments that say which cells gave which number.
    pub toml: String,
    /// The same, read.
    pub profile: Profile,
    /// How many numbers were chosen.
    pub parameters: usize,
    /// How many cells they were chosen from.
    pub fitted_cells: usize,
    /// Every cell, measured and simulated.
    pub comparison: Comparison,
}

/// The cells that a fit may see.
struct Seen {
    reads: Vec<Read>,
    writes: Vec<Write>,
}

/// Fits a profile to the cells that a split does not hold out. The same measurement and options give the same profile, byte
/// for byte.
///
/// # Errors
/// [`FitError`]: too few cells, or figures that no stick has.
pub fn fit(measured: &Measured, options: &Options) -> Result<Fit, FitError> {
    let split = Split::new(measured, options.holdout, options.seed);
    let seen = Seen::new(measured, &split);
    let fitted_cells = seen.reads.len() + seen.writes.len();
    if fitted_cells < CELLS_MIN {
        let name = measured.name.clone();
        return Err(FitError::TooLittle { name, cells: fitted_cells, least: CELLS_MIN });
    }
    let budget = fitted_cells / CELLS_PER_NUMBER;
    let erase_block = erase_block(measured);
    let for_writes = write_budget(&seen, budget);
    let draft = writes::fit(&seen.writes, erase_block, for_writes);
    let left = budget.saturating_sub(draft.as_ref().map_or(0, Draft::parameters));
    let reads = reads::fit(&seen.reads, [erase_block, PAGE], left);
    let document = Document { measured, options, erase_block, reads: &reads };
    let (draft, toml, profile) = refine(&document, draft, &split)?;
    let parameters = reads.parameters() + draft.as_ref().map_or(0, Draft::parameters);
    let comparison = compare(&profile, measured, &split, DEFAULT_SEED);
    Ok(Fit { toml, profile, parameters, fitted_cells, comparison })
}

impl Seen {
    fn new(measured: &Measured, split: &Split) -> Self {
        let mut seen = Self { reads: Vec::new(), writes: Vec::new() };
        let erase_block = erase_block(measured);
        for (index, table) in measured.tables.iter().enumerate() {
            if told(&table.command).is_some_and(|told| told.get() != erase_block) {
                continue;
            }
            let visible = table.cells.iter().enumerate().filter(|(at, _)| !split.is_held_out(index, *at));
            for (_, cell) in visible {
                match cell.key {
                    // A boundary of less than two sectors is none.
                    Key::Read { candidate, .. } if candidate.get().trailing_zeros() < 10 => {}
                    Key::Read { candidate, side } => {
                        seen.reads.push(Read { candidate: candidate.get(), side, seconds: cell.seconds });
                    }
                    key => seen.writes.extend(Write::of(key, cell.seconds)),
                }
            }
        }
        seen
    }
}

/// Reads need few numbers, however many cells they have.
fn write_budget(seen: &Seen, budget: usize) -> usize {
    const FOR_READS: usize = 3;
    let own = seen.writes.len() / CELLS_PER_NUMBER;
    if seen.reads.is_empty() {
        budget
    } else {
        own.max(1).max(budget.saturating_sub(FOR_READS).min(2 * own.max(1))).min(budget)
    }
}

/// The erase block that flashbench was told, in most of the tables.
fn erase_block(measured: &Measured) -> u64 {
    let mut told: Vec<u64> =
        measured.tables.iter().filter_map(|table| told(&table.command)).map(Bytes::get).collect();
    told.sort_unstable();
    let most = told.chunk_by(|a, b| a == b).max_by_key(|equal| equal.len());
    most.map_or(Command::DEFAULT_ERASE_BLOCK.get(), |equal| equal[0])
}

const fn told(command: &Command) -> Option<Bytes> {
    match command {
        Command::Align { .. } => None,
        Command::OpenUnits { erase_block, .. } | Command::FindFat { erase_block, .. } => Some(*erase_block),
    }
}

/// A draft, and the profile it makes.
type Made = (Option<Draft>, String, Profile);

/// Simulates the draft, corrects each group of numbers by the median of what it is off, and keeps the best.
fn refine(document: &Document<'_>, draft: Option<Draft>, split: &Split) -> Result<Made, FitError> {
    const ROUNDS: usize = 3;
    let (toml, profile) = make(document, draft.as_ref())?;
    let Some(mut current) = draft else { return Ok((None, toml, profile)) };
    let misses = Misses::new();
    let mut best: Option<(f64, Made)> = None;
    for _ in 0..ROUNDS {
        let (toml, profile) = make(document, Some(&current))?;
        let comparison = compare(&profile, document.measured, split, DEFAULT_SEED);
        let loss = loss(&comparison);
        let next = corrected(&current, &comparison, &misses);
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, (Some(current), toml, profile)));
        }
        current = next;
    }
    match best {
        Some((_, made)) => Ok(made),
        None => Ok((None, toml, profile)),
    }
}

fn make(document: &Document<'_>, draft: Option<&Draft>) -> Result<(String, Profile), FitError> {
    let toml = write_profile(document, draft);
    let impossible = |source| FitError::Impossible { name: document.measured.name.clone(), source };
    let profile = Profile::parse(&toml).map_err(impossible)?;
    Ok((toml, profile))
}

/// How far the fitted cells are off on average; one that is far off counts no more than 50 %.
fn loss(comparison: &Comparison) -> f64 {
    let fitted = comparison.cells.iter().filter(|cell| !cell.held_out);
    fitted.map(|cell| (cell.simulated_s / cell.measured_s).ln().abs().min(0.5)).sum()
}

/// Merges, and all else, by the median of what the simulation lacks of the measured times.
fn corrected(draft: &Draft, comparison: &Comparison, misses: &Misses) -> Draft {
    let mut corrected = draft.clone();
    let fitted = || {
        let visible = comparison.cells.iter().filter(|cell| !cell.held_out);
        visible.filter_map(|cell| Some((Write::of(cell.key, cell.measured_s)?, cell.simulated_s)))
    };
    for linear in [true, false] {
        let merging = fitted().filter(|(write, _)| {
            write.is_linear() == linear && draft.merges(write, misses) > 0.0 && !draft.is_small(write)
        });
        let ratios = merging.filter_map(|(write, simulated_s)| {
            let base_s = draft.base_s(&write) * draft.factor(&write) + draft.begin_s(&write);
            let (wanted, got) = (write.seconds - base_s, simulated_s - base_s);
            (wanted > 0.1 * write.seconds && got > 0.1 * simulated_s).then(|| wanted / got)
        });
        let factor = median(ratios).unwrap_or(1.0).clamp(0.5, 2.0);
        let line = if linear { &mut corrected.merge } else { &mut corrected.random_merge };
        for point in &mut line.0 {
            point.1 *= factor;
        }
    }
    corrected
}
