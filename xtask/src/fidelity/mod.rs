//! `cargo xtask fidelity`: each virtual stick that was made from a published log runs that log's own commands, in order,
//! and its cells are held against the published ones.

mod cells;
mod summary;

use std::fs;

use anyhow::{Context, bail};
use flashscope_probe::Silent;
use flashscope_probe::flashbench::parse::{Entry, parse};
use flashscope_probe::flashbench::{Command, procedure};
use flashscope_sim::{Profile, VirtualStick};
use serde::Serialize;

use self::cells::{Cell, Pair, Quantity};
use self::summary::Summary;
use crate::{repository, say};

/// The profiles that have a published log, and the log.
const PROFILES: [(&str, &str); 1] = [("patriot-xt-16g", "patriot-xporter-xt-boost-16gb.txt")];

/// What to compare, and how to say it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// The seed of the virtual sticks and of every shuffle.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Compares and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let report = Report::of(arguments.seed)?;
    let text = if arguments.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.text() };
    Ok(say(&text)?)
}

/// Fails if a virtual stick has strayed from its log.
pub fn check() -> anyhow::Result<()> {
    let report = Report::of(1)?;
    let strays = report.strays();
    if strays.is_empty() {
        return Ok(());
    }
    bail!("{}", strays.join("; "))
}

#[derive(Debug, Serialize)]
struct Report {
    overall: Summary,
    profiles: Vec<ProfileReport>,
}

#[derive(Debug, Serialize)]
struct ProfileReport {
    name: &'static str,
    tables: Vec<TableReport>,
    /// Compared cells of all tables.
    #[serde(skip)]
    cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
struct TableReport {
    name: String,
    #[serde(flatten)]
    summary: Summary,
}

impl Report {
    fn of(seed: u64) -> anyhow::Result<Self> {
        let profiles: Vec<ProfileReport> = PROFILES
            .iter()
            .map(|(name, log)| ProfileReport::of(name, log, seed))
            .collect::<anyhow::Result<_>>()?;
        let overall = Summary::of(profiles.iter().flat_map(|profile| &profile.cells));
        Ok(Self { overall, profiles })
    }

    fn text(&self) -> String {
        let profiles: String = self.profiles.iter().map(ProfileReport::text).collect();
        format!("{profiles}{:<42}{}\n", "overall", self.overall)
    }

    /// What is not as good as it must be, one sentence each.
    fn strays(&self) -> Vec<String> {
        self.profiles.iter().flat_map(ProfileReport::strays).collect()
    }
}

impl ProfileReport {
    fn of(name: &'static str, log: &str, seed: u64) -> anyhow::Result<Self> {
        let path = repository().join("testdata/published").join(log);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let log = parse(&bytes, log)?;
        let mut stick = VirtualStick::new(&Profile::builtin(name)?, seed);
        let mut report = Self { name, tables: Vec::new(), cells: Vec::new() };
        for entry in &log.entries {
            let command =
                as_it_ran(entry).with_context(|| format!("lines {:?}: no whole command", entry.lines))?;
            let simulated = procedure::run(&command, &mut stick, seed, &mut Silent);
            let cells = cells::compare(&entry.observations.data, &simulated.data)
                .with_context(|| format!("lines {:?}: {:?}", entry.lines, simulated.ended))?;
            let name =
                format!("lines {}-{}: {}", entry.lines.start(), entry.lines.end(), cells::title(&command));
            report.tables.push(TableReport { name, summary: Summary::of(&cells) });
            report.cells.extend(cells);
        }
        Ok(report)
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.name);
        for table in &self.tables {
            text += &format!("  {:<40}{}\n", table.name, table.summary);
        }
        for quantity in Quantity::ALL {
            let summary = Summary::of(self.of_quantity(quantity));
            let pairs = Pair::all(self.of_quantity(quantity)).len();
            let lost = self.lost_pairs(quantity);
            let name = format!("all {}", quantity.name());
            text += &format!("  {name:<40}{summary}, order lost in {} of {pairs} pairs\n", lost.len());
            text.extend(lost.iter().map(|pair| format!("    order lost: {pair}\n")));
        }
        text
    }

    fn lost_pairs(&self, quantity: Quantity) -> Vec<Pair<'_>> {
        Pair::all(self.of_quantity(quantity)).into_iter().filter(|pair| !pair.order_is_kept()).collect()
    }

    fn of_quantity(&self, quantity: Quantity) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| cell.quantity == quantity)
    }

    /// The bounds are those the profile was fitted to: reads 5 % in the median; writes 10 %, nine of ten within 25 %; and
    /// no two cells that differ by more than half in the log swap places.
    fn strays(&self) -> Vec<String> {
        let mut strays = Vec::new();
        for quantity in Quantity::ALL {
            let summary = Summary::of(self.of_quantity(quantity));
            let (median, p90) = quantity.bounds();
            if summary.median > median || summary.p90 > p90 {
                strays.push(format!("{}, {}: {summary}", self.name, quantity.name()));
            }
            let lost = self.lost_pairs(quantity);
            strays.extend(
                lost.iter().map(|pair| format!("{}, {}: order lost: {pair}", self.name, quantity.name())),
            );
        }
        strays
    }
}

/// The command with the rows that the log has: people stopped some runs, and ran others further than the line says.
fn as_it_ran(entry: &Entry) -> Option<Command> {
    let last = cells::smallest_row(&entry.observations.data);
    Some(match entry.command? {
        Command::Align { read } => Command::Align { read },
        Command::OpenUnits { erase_block, open_units, order, .. } => {
            Command::OpenUnits { erase_block, open_units, smallest: last?, order }
        }
        Command::FindFat { erase_block, units, order, .. } => {
            Command::FindFat { erase_block, units, smallest: last?, order }
        }
    })
}
