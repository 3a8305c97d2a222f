//! `cargo xtask zoo`: random sticks and devices that are none are surveyed, and every finding is held against the truth.

mod calibration;
mod costs;
mod explain;
mod judge;
mod measure;
mod picture;
mod report;
mod shares;
mod text;

use std::path::PathBuf;

use anyhow::{Context, bail};
use flashscope_infer::Method;
use flashscope_record::finding::FindingId;
use flashscope_zoo::{Habitat, Specimen};

use self::measure::Measured;
use self::report::Report;
use self::shares::Shares;
use crate::{say, threads};

/// Which zoo, and what to print of it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How many specimens.
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The seed of every specimen and survey.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Draw claimed against observed confidence into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Print before the table where this finding is wrong, inexact or missing, e.g. open_units_linear; `wrong`: every wrong finding.
    /// May be repeated.
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "picture"])]
    only: Vec<String>,
    /// Survey only specimens of this kind: inside, outside, or one of the kinds outside, e.g. hard-disk.
    #[arg(long, value_name = "KIND", default_value = "any")]
    kind: String,
    /// Leave out a part of the method, to see what it is worth; may be given several times.
    #[arg(long, value_enum, value_name = "PART")]
    without: Vec<Part>,
    /// Print one specimen: its profile, and each finding beside the truth.
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["json", "picture", "only", "count"])]
    explain: Option<u64>,
    /// Keep that specimen's survey in full in this file, for `flashscope report` and whoever looks at every time.
    #[arg(long, value_name = "FILE", requires = "explain")]
    keep: Option<PathBuf>,
}

/// A part of the method that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Measuring until it is decided: every candidate a fixed number of times instead.
    SequentialRule,
    /// What is plausible beforehand: all hypotheses alike instead.
    Priors,
    /// Three, five and seven times 2^n: powers of two only instead.
    OddFactors,
}

impl Arguments {
    fn method(&self) -> Method {
        let uses = |part: Part| !self.without.contains(&part);
        Method {
            sequential: uses(Part::SequentialRule),
            priors: uses(Part::Priors),
            odd_factors: uses(Part::OddFactors),
        }
    }
}

/// Surveys and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(index) = arguments.explain {
        if let Some(path) = &arguments.keep {
            let run = measure::run_file(&specimen(arguments.seed, index)?, arguments.method())?;
            std::fs::write(path, run.to_json()?)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        return Ok(say(&explain::specimen(&surveyed(
            specimen(arguments.seed, index)?,
            arguments.method(),
        )?))?);
    }
    let zoo = measure_all(arguments.count, arguments.seed, &arguments.kind, arguments.method())?;
    if zoo.is_empty() {
        bail!("none of {} specimens is of the kind '{}'", arguments.count, arguments.kind);
    }
    if !arguments.only.is_empty() {
        let misses: anyhow::Result<String> =
            arguments.only.iter().map(|id| explain::misses(&zoo, id)).collect();
        say(&misses?)?;
    }
    let report = Report::of(&zoo, arguments.seed);
    if let Some(path) = &arguments.picture {
        let svg = flashscope_report::drawing(&picture::chart(&report));
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = if arguments.json { serde_json::to_string_pretty(&report)? + "\n" } else { text::of(&report) };
    Ok(say(&text)?)
}

fn specimen(seed: u64, index: u64) -> anyhow::Result<Specimen> {
    Specimen::new(seed, index).with_context(|| format!("specimen {index}"))
}

fn surveyed(specimen: Specimen, method: Method) -> anyhow::Result<Measured> {
    let index = specimen.index;
    Measured::of(specimen, method).with_context(|| format!("specimen {index}"))
}

/// Whether a specimen is of the kind that was asked for.
fn is_of(kind: &str, specimen: &Specimen) -> bool {
    match specimen.habitat {
        _ if kind == "any" => true,
        Habitat::Inside => kind == "inside",
        Habitat::Outside(own) => kind == "outside" || kind == own.as_str(),
    }
}

/// Fails if a zoo of two hundred is told the truth less often than it was when docs/statistics.md was written, less what chance
/// does to so few.
pub fn check() -> anyhow::Result<()> {
    const LEAST_EXACT: [(FindingId, f64); 6] = [
        (FindingId::EraseBlockBytes, 0.92),
        (FindingId::PageBytes, 0.94),
        (FindingId::OpenUnitsLinear, 0.78),
        (FindingId::OpenUnitsRandom, 0.78),
        (FindingId::SlcCacheBytes, 0.92),
        (FindingId::SustainedWriteBytesPerS, 0.94),
    ];
    let report = Report::of(&measure_all(200, 1, "any", Method::default())?, 1);
    let is_below = |(id, shares): &&(FindingId, Shares)| {
        LEAST_EXACT.iter().any(|(known, least)| known == id && shares.exact < *least)
    };
    let outside = report.outside_total();
    let is_wrong = report.confident_wrong * 200 > report.found || outside.declined * 100 < outside.count * 92;
    if is_wrong || report.findings.iter().any(|each| is_below(&each)) {
        bail!("the zoo is told the truth less often than before:\n{}", text::of(&report));
    }
    Ok(())
}

/// Every specimen of this kind, surveyed on as many threads as the machine has cores; in order of their numbers.
fn measure_all(count: u64, seed: u64, kind: &str, method: Method) -> anyhow::Result<Vec<Measured>> {
    let measured = |index| -> anyhow::Result<Option<Measured>> {
        let specimen = specimen(seed, index)?;
        if is_of(kind, &specimen) { surveyed(specimen, method).map(Some) } else { Ok(None) }
    };
    Ok(threads::each(count, measured)?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the inference must hold on a small zoo; the figures of a large one stand in docs/statistics.md.
    #[test]
    fn a_zoo_of_sixty_is_told_the_truth() {
        let zoo = measure_all(60, 1, "any", Method::default()).unwrap();
        let report = Report::of(&zoo, 1);
        assert_eq!(report.count, 60);
        assert!(report.confident_wrong * 200 <= report.found, "{}", text::of(&report));
        let outside = report.outside_total();
        assert!(outside.count >= 10 && outside.declined + 1 >= outside.count, "{}", text::of(&report));
        assert!(report.findings.iter().all(|(_, shares)| shares.exact >= 0.75), "{}", text::of(&report));
        let unfounded = explain::misses(&zoo, "no_such_finding");
        assert!(unfounded.unwrap_err().to_string().contains("erase_block_bytes"));
    }

    /// Threads take specimens as they come; what is reported does not depend on it.
    #[test]
    fn a_zoo_is_the_same_every_time() {
        let json = || {
            serde_json::to_string(&Report::of(&measure_all(6, 3, "any", Method::default()).unwrap(), 3))
                .unwrap()
        };
        assert_eq!(json(), json());
    }
}
