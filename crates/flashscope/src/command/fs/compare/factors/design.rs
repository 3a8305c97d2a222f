//! The factors of an experiment, and its cells: the filesystems and starts that exist.

use std::collections::BTreeSet;

use anyhow::anyhow;
use flashscope_device::{Bytes, SECTOR};
use flashscope_infer::trials::factorial::Factor;
use flashscope_record::Trial;

use crate::args::{FactorChoice, FsCompare};
use crate::exit::{Exit, Failure};

/// Where partitions started for decades: on the second track of a disk with 63 sectors on each.
const MISALIGNED_START: Bytes = Bytes::new(63 * SECTOR.get());
/// The end of the name of a filesystem whose options name the erase block.
const STRIPE: &str = "-stripe";
/// The filesystem if it is no factor and none is named.
const FILESYSTEM: &str = "ext4";

/// The design of an experiment.
#[derive(Debug)]
pub struct Design {
    /// The factors.
    pub factors: Vec<Factor>,
    choices: Vec<FactorChoice>,
    cells: Vec<Cell>,
}

/// One combination of levels that exists.
#[derive(Debug, PartialEq, Eq)]
struct Cell {
    /// The level of each factor.
    levels: Vec<usize>,
    variant: String,
    start: Bytes,
}

impl Design {
    /// The design of these arguments for a stick with this erase block and recordings of the `known`
    /// filesystems; `start` is the aligned start.
    ///
    /// # Errors
    /// Exit code 2 for factors that contradict each other, or that the recordings do not have.
    pub fn new(
        arguments: &FsCompare,
        erase_block: Bytes,
        start: Bytes,
        known: &BTreeSet<&str>,
    ) -> Result<Self, Failure> {
        let choices = &arguments.factors;
        if choices
            .iter()
            .enumerate()
            .any(|(index, one)| choices[..index].iter().any(|other| same(one, other)))
        {
            return Err(usage("a factor is named twice in --factors"));
        }
        if choices.contains(&FactorChoice::Alignment) && !start.is_multiple_of(erase_block) {
            return Err(usage(format!(
                "{start} is not on an erase block of {erase_block}; the factor alignment needs \
                 --partition-start at a multiple of it"
            )));
        }
        let filesystems = filesystems(arguments)?;
        let cells = cells(choices, &filesystems, start, known);
        let factors = choices.iter().map(|choice| described(choice, start)).collect();
        let design = Self { factors, choices: choices.clone(), cells };
        design.check(&filesystems)?;
        Ok(design)
    }

    /// Refuses a level that no recording has.
    fn check(&self, filesystems: &[String]) -> Result<(), Failure> {
        let has_levels =
            |factor: usize| (0..2).all(|level| self.cells.iter().any(|cell| cell.levels[factor] == level));
        let missing = self.choices.iter().enumerate().find(|(factor, _)| !has_levels(*factor));
        let names = filesystems.join(" or ");
        match missing {
            None => Ok(()),
            Some((_, FactorChoice::Stripe)) => {
                Err(usage(format!("no recording is of {names} with a stripe; leave out the factor stripe")))
            }
            Some(_) => Err(usage(format!("the factors need recordings of {names}, and there are not all"))),
        }
    }

    /// The filesystems with their options, each once.
    pub fn variants(&self) -> Vec<String> {
        self.cells.iter().map(|cell| cell.variant.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Where a filesystem starts.
    pub fn starts(&self, variant: &str) -> Vec<Bytes> {
        self.cells.iter().filter(|cell| cell.variant == variant).map(|cell| cell.start).collect()
    }

    /// The levels of a trial.
    pub fn levels(&self, trial: &Trial) -> Option<&[usize]> {
        let cell = self.cells.iter().find(|cell| cell.variant == trial.variant && cell.start == trial.start);
        cell.map(|cell| cell.levels.as_slice())
    }
}

fn same(one: &FactorChoice, other: &FactorChoice) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn usage(text: impl std::fmt::Display) -> Failure {
    Failure { exit: Exit::Usage, error: anyhow!("{text}") }
}

/// The filesystems of the experiment, without options.
fn filesystems(arguments: &FsCompare) -> Result<Vec<String>, Failure> {
    let pair = arguments.factors.iter().find_map(|choice| match choice {
        FactorChoice::Filesystem { from, to } => Some(vec![from.clone(), to.clone()]),
        _ => None,
    });
    match (pair, arguments.filesystems.as_slice()) {
        (Some(pair), []) => Ok(pair),
        (Some(_), _) => Err(usage(
            "the factor filesystem names both: --factors filesystem=vfat:ext4, without --filesystems",
        )),
        (None, []) => Ok(vec![FILESYSTEM.to_owned()]),
        (None, [one]) => Ok(vec![one.clone()]),
        (None, _) => Err(usage("without the factor filesystem, --filesystems must name one only")),
    }
}

fn described(choice: &FactorChoice, start: Bytes) -> Factor {
    let (name, levels, is_named_by_levels) = match choice {
        FactorChoice::Alignment => ("alignment", ["sector 63".to_owned(), start.to_string()], false),
        FactorChoice::Stripe => ("stripe", ["none".to_owned(), "erase block".to_owned()], false),
        FactorChoice::Filesystem { from, to } => ("filesystem", [from.clone(), to.clone()], true),
    };
    Factor { name: name.to_owned(), levels: levels.to_vec(), is_named_by_levels }
}

/// All combinations of two levels whose filesystem was recorded.
fn cells(
    choices: &[FactorChoice],
    filesystems: &[String],
    start: Bytes,
    known: &BTreeSet<&str>,
) -> Vec<Cell> {
    let combinations = (0..1_usize << choices.len())
        .map(|bits| (0..choices.len()).map(|factor| (bits >> factor) & 1).collect::<Vec<usize>>());
    let cell = |levels: Vec<usize>| {
        let mut cell = Cell { levels, variant: filesystems.first()?.clone(), start };
        let mut has_stripe = false;
        for (choice, level) in choices.iter().zip(&cell.levels) {
            match choice {
                FactorChoice::Alignment if *level == 0 => cell.start = MISALIGNED_START,
                FactorChoice::Filesystem { to, .. } if *level == 1 => cell.variant.clone_from(to),
                FactorChoice::Stripe => has_stripe = *level == 1,
                _ => {}
            }
        }
        if has_stripe {
            cell.variant.push_str(STRIPE);
        }
        Some(cell)
    };
    combinations.filter_map(cell).filter(|cell| known.contains(cell.variant.as_str())).collect()
}
