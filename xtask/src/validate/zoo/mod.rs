//! `cargo xtask validate zoo`: surveys random virtual sticks and other devices, and compares every finding
//! with the truth.

mod calibration;
mod costs;
mod explain;
mod judge;
mod measure;
mod picture;
mod report;
mod shares;
mod text;
mod variants;

use std::path::PathBuf;

use anyhow::{Context, bail};
use flashscope_infer::Method;
use flashscope_record::finding::FindingId;
use flashscope_zoo::{Law, Scope, Specimen};

use self::measure::Measured;
use self::report::Report;
use self::shares::Shares;
use crate::output::print;
use crate::threads;

/// Which specimens, and what to print.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Number of specimens; with --variants, of each law [default: 1000, of each law 30]
    #[arg(long)]
    count: Option<u64>,
    /// Survey variants instead: sticks with one law that the inference does not contain
    #[arg(long, conflicts_with_all = ["json", "picture"])]
    variants: bool,
    /// Random seed of the specimens and surveys
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the calibration of the confidence to this SVG file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Also list the specimens where this finding is not exact, e.g. open_units_linear, or `wrong`: every
    /// wrong finding; repeatable
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "picture"])]
    only: Vec<String>,
    /// Survey only this kind: inside, outside, one kind of device outside, e.g. hard-disk, or one law of
    /// variants, e.g. fifo
    #[arg(long, value_name = "KIND", default_value = "any")]
    kind: String,
    /// Disable a part of the method, to measure its effect; repeatable
    #[arg(long, value_enum, value_name = "PART")]
    without: Vec<MethodPart>,
    /// Print one specimen: its profile, and each finding with its truth
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["json", "picture", "only", "count"])]
    explain: Option<u64>,
    /// Write that specimen's survey with writes to this run file, for `flashscope report`
    #[arg(long, value_name = "FILE", requires = "explain")]
    keep: Option<PathBuf>,
}

/// A part of the method that can be disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MethodPart {
    /// Sequential sampling: use a fixed number of samples per candidate instead
    SequentialRule,
    /// Prior probabilities: use a uniform prior instead
    Priors,
    /// Odd factors of erase-block sizes: use powers of two only instead
    OddFactors,
}

impl Arguments {
    fn method(&self) -> Method {
        let uses = |part: MethodPart| !self.without.contains(&part);
        Method {
            sequential: uses(MethodPart::SequentialRule),
            priors: uses(MethodPart::Priors),
            odd_factors: uses(MethodPart::OddFactors),
        }
    }

    fn selection(&self) -> Selection {
        let count = match self.variants {
            true => self.count.unwrap_or(COUNT_PER_LAW) * Law::ALL.len() as u64,
            false => self.count.unwrap_or(COUNT),
        };
        Selection { variants: self.variants, count, seed: self.seed }
    }
}

/// Specimens by number: of the zoo, or of its variants.
#[derive(Debug, Clone, Copy)]
struct Selection {
    variants: bool,
    count: u64,
    seed: u64,
}

impl Selection {
    const fn zoo(count: u64, seed: u64) -> Self {
        Self { variants: false, count, seed }
    }

    fn specimen(&self, index: u64) -> anyhow::Result<Specimen> {
        let make = if self.variants { Specimen::variant } else { Specimen::new };
        make(self.seed, index).with_context(|| format!("specimen {index}"))
    }
}

/// The number of specimens, and the number of each law. 30 of each law take three minutes.
const COUNT: u64 = 1000;
const COUNT_PER_LAW: u64 = 30;

/// Surveys and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(index) = arguments.explain {
        return explain(arguments, index);
    }
    let selection = arguments.selection();
    let zoo = measure_all(&selection, &arguments.kind, arguments.method())?;
    if zoo.is_empty() {
        bail!("none of {} specimens is of the kind '{}'", selection.count, arguments.kind);
    }
    if !arguments.only.is_empty() {
        let misses: anyhow::Result<String> =
            arguments.only.iter().map(|id| explain::misses(&zoo, id)).collect();
        print(&misses?)?;
    }
    if arguments.variants {
        return Ok(print(&variants::text(&zoo, arguments.seed))?);
    }
    let report = Report::of(&zoo, arguments.seed);
    if let Some(path) = &arguments.picture {
        let svg = flashscope_report::chart_svg(&picture::chart(&report));
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = if arguments.json { serde_json::to_string_pretty(&report)? + "\n" } else { text::of(&report) };
    Ok(print(&text)?)
}

fn explain(arguments: &Arguments, index: u64) -> anyhow::Result<()> {
    let specimen = || arguments.selection().specimen(index);
    if let Some(path) = &arguments.keep {
        let run = measure::run_file(&specimen()?, arguments.method())?;
        std::fs::write(path, run.to_json()?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(print(&explain::specimen(&surveyed(specimen()?, arguments.method())?))?)
}

fn surveyed(specimen: Specimen, method: Method) -> anyhow::Result<Measured> {
    let index = specimen.index;
    Measured::of(specimen, method).with_context(|| format!("specimen {index}"))
}

/// Whether a specimen is of this kind.
fn is_of(kind: &str, specimen: &Specimen) -> bool {
    match specimen.scope {
        _ if kind == "any" => true,
        Scope::Inside => kind == "inside",
        Scope::Outside(own) => kind == "outside" || kind == own.as_str(),
        Scope::Variant(law) => kind == law.as_str(),
    }
}

/// Fails if findings on 200 specimens are correct less often than docs/statistics.md states, less the random
/// error of 200 specimens.
pub fn check() -> anyhow::Result<()> {
    const EXACT_SHARE_MIN: [(FindingId, f64); 6] = [
        (FindingId::EraseBlockBytes, 0.92),
        (FindingId::PageBytes, 0.94),
        (FindingId::OpenUnitsLinear, 0.78),
        (FindingId::OpenUnitsRandom, 0.78),
        (FindingId::SlcCacheBytes, 0.92),
        (FindingId::SustainedWriteBytesPerS, 0.94),
    ];
    let report = Report::of(&measure_all(&Selection::zoo(200, 1), "any", Method::default())?, 1);
    let is_below = |(id, shares): &&(FindingId, Shares)| {
        EXACT_SHARE_MIN.iter().any(|(known, minimum)| known == id && shares.exact < *minimum)
    };
    let outside = report.outside_total();
    let is_wrong = report.confident_wrong * 200 > report.found || outside.declined * 100 < outside.count * 92;
    if is_wrong || report.findings.iter().any(|each| is_below(&each)) {
        bail!("findings are correct less often than before:\n{}", text::of(&report));
    }
    Ok(())
}

/// The surveys of every specimen of this kind, in order of their indices, on one thread per core.
fn measure_all(selection: &Selection, kind: &str, method: Method) -> anyhow::Result<Vec<Measured>> {
    let measured = |index| -> anyhow::Result<Option<Measured>> {
        let specimen = selection.specimen(index)?;
        if is_of(kind, &specimen) { surveyed(specimen, method).map(Some) } else { Ok(None) }
    };
    Ok(threads::each(selection.count, measured)?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lower bounds for 40 specimens; docs/statistics.md has the results of 1000.
    #[test]
    fn findings_on_forty_specimens_are_correct() {
        let zoo = measure_all(&Selection::zoo(40, 1), "any", Method::default()).unwrap();
        let report = Report::of(&zoo, 1);
        assert_eq!(report.count, 40);
        assert!(report.confident_wrong * 200 <= report.found, "{}", text::of(&report));
        let outside = report.outside_total();
        assert!(outside.count >= 7 && outside.declined + 1 >= outside.count, "{}", text::of(&report));
        assert!(report.findings.iter().all(|(_, shares)| shares.exact >= 0.75), "{}", text::of(&report));
        let unknown = explain::misses(&zoo, "no_such_finding");
        assert!(unknown.unwrap_err().to_string().contains("erase_block_bytes"));
    }

    /// The report does not depend on which thread surveys which specimen.
    #[test]
    fn the_same_seed_gives_the_same_report() {
        let json = || {
            serde_json::to_string(&Report::of(
                &measure_all(&Selection::zoo(6, 3), "any", Method::default()).unwrap(),
                3,
            ))
            .unwrap()
        };
        assert_eq!(json(), json());
    }

    /// One variant of each law. docs/statistics.md has the results of 200.
    #[test]
    fn findings_on_variants_are_rarely_confident_and_wrong() {
        let selection = Selection { variants: true, count: 10, seed: 1 };
        let zoo = measure_all(&selection, "any", Method::default()).unwrap();
        let total = variants::total(&zoo);
        let is_rare = total.confident_wrong * 30 <= total.found;
        assert!(total.found >= 70 && is_rare, "{}", variants::text(&zoo, 1));
    }
}
