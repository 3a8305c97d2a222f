//! The results of a zoo, as data. Its JSON is a contract.

use std::collections::BTreeMap;

use flashscope_record::finding::{Finding, FindingId};
use flashscope_zoo::Scope;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::calibration::{self, Bin};
use super::costs::Costs;
use super::judge::Verdict;
use super::measure::Measured;
use super::shares::{Shares, is_confident_wrong};

/// The findings of a survey by id, in the order of a report.
pub type ByFinding = Vec<(FindingId, Shares)>;

/// The results of a zoo.
#[derive(Debug)]
pub struct Report {
    pub count: u64,
    pub seed: u64,
    /// Findings on sticks inside the modelled range, surveyed with writes.
    pub findings: ByFinding,
    /// Findings on the same sticks, read-only.
    pub read_only_findings: ByFinding,
    /// Calibration of all findings on all specimens.
    pub calibration: Vec<Bin>,
    pub coverage_95: Option<f64>,
    /// Findings with a value, of all surveys of all specimens.
    pub found: u64,
    /// Those of them that are wrong with a confidence of at least 0.95.
    pub confident_wrong: u64,
    pub outside: BTreeMap<&'static str, Outside>,
    pub read_only: Costs,
    pub full: Costs,
    pub fill: Costs,
}

/// The results on one kind of device outside the modelled range.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct Outside {
    /// The number of devices.
    pub count: u64,
    /// Those of them without a wrong finding.
    pub declined: u64,
}

impl Report {
    pub fn of(zoo: &[Measured], seed: u64) -> Self {
        let inside = || zoo.iter().filter(|each| each.specimen.scope == Scope::Inside);
        let all = || zoo.iter().flat_map(everything);
        let found = all().filter(|(_, verdict)| verdict.is_found()).count();
        let confident_wrong =
            all().filter(|(finding, verdict)| is_confident_wrong(finding, *verdict)).count();
        Self {
            count: zoo.len() as u64,
            seed,
            findings: by_finding(&inside().flat_map(Measured::writing).collect::<Vec<_>>()),
            read_only_findings: by_finding(&inside().flat_map(Measured::reading).collect::<Vec<_>>()),
            calibration: calibration::bins(all()),
            coverage_95: calibration::coverage(zoo.iter().flat_map(Measured::intervals)),
            found: found as u64,
            confident_wrong: confident_wrong as u64,
            outside: outside(zoo),
            read_only: Costs::of(inside().map(|each| (each.specimen.index, &each.read_only))),
            full: Costs::of(inside().map(|each| (each.specimen.index, &each.full))),
            fill: Costs::of(inside().map(|each| (each.specimen.index, &each.fill))),
        }
    }

    /// All kinds outside the modelled range together.
    pub fn outside_total(&self) -> Outside {
        self.outside.values().fold(Outside::default(), |total, kind| Outside {
            count: total.count + kind.count,
            declined: total.declined + kind.declined,
        })
    }
}

/// Every finding of all surveys, with its verdict.
fn everything(measured: &Measured) -> impl Iterator<Item = (&Finding, Verdict)> {
    measured.reading().chain(measured.writing())
}

fn by_finding(judged: &[(&Finding, Verdict)]) -> ByFinding {
    let of = |id: FindingId| Shares::of(judged.iter().copied().filter(move |(finding, _)| finding.id == id));
    FindingId::ALL.into_iter().map(|id| (id, of(id))).collect()
}

fn outside(zoo: &[Measured]) -> BTreeMap<&'static str, Outside> {
    let mut kinds: BTreeMap<&'static str, Outside> = BTreeMap::new();
    for each in zoo {
        let Scope::Outside(kind) = each.specimen.scope else { continue };
        let total = kinds.entry(kind.as_str()).or_default();
        total.count += 1;
        total.declined += u64::from(!everything(each).any(|(_, verdict)| verdict == Verdict::Wrong));
    }
    kinds
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let map = |findings: &ByFinding| {
            findings.iter().map(|(id, shares)| (id.as_str(), shares.clone())).collect::<BTreeMap<_, _>>()
        };
        let outside = self.outside_total();
        json!({
            "count": self.count,
            "seed": self.seed,
            "findings": map(&self.findings),
            "read_only_findings": map(&self.read_only_findings),
            "coverage_95": self.coverage_95,
            "calibration": self.calibration,
            "found": self.found,
            "confident_wrong": self.confident_wrong,
            "outside": {
                "count": outside.count,
                "declined": super::shares::part(outside.declined as usize, outside.count as usize),
                "kinds": self.outside,
            },
            "cost": {
                "read_only": {
                    "reads_median": self.read_only.reads.median,
                    "reads_max": self.read_only.reads.max,
                    "device_seconds_median": self.read_only.device_seconds.median,
                    "device_seconds_max": self.read_only.device_seconds.max,
                },
                "full": {
                    "bytes_written_median": self.full.bytes_written.median,
                    "bytes_written_p90": self.full.bytes_written.p90,
                    "bytes_written_max": self.full.bytes_written.max,
                    "device_seconds_median": self.full.device_seconds.median,
                    "device_seconds_p90": self.full.device_seconds.p90,
                    "device_seconds_max": self.full.device_seconds.max,
                },
                "fill": {
                    "bytes_written_median": self.fill.bytes_written.median,
                    "bytes_written_max": self.fill.bytes_written.max,
                    "device_seconds_median": self.fill.device_seconds.median,
                    "device_seconds_max": self.fill.device_seconds.max,
                },
                "open_units": {
                    "writes_median": self.full.open_units_writes.median,
                    "writes_max": self.full.open_units_writes.max,
                },
            },
        })
        .serialize(serializer)
    }
}
