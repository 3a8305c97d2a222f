//! The results of a zoo as text.

use std::fmt::Write as _;

use super::costs::{Costs, Spread};
use super::report::{ByFinding, Report};

/// The report as text.
pub fn of(report: &Report) -> String {
    let mut text = format!("{} specimens, seed {}\n", report.count, report.seed);
    text += "\nSticks inside the modelled range, surveyed with writes\n";
    text += &findings(&report.findings);
    text += "\nThe same sticks, read-only\n";
    text += &findings(&report.read_only_findings);
    let _ = writeln!(
        text,
        "\nWrong with a confidence of at least 0.95: {} of {} findings with a value ({})",
        report.confident_wrong,
        report.found,
        percent(super::shares::part(report.confident_wrong as usize, report.found as usize)),
    );
    text += &calibration(report);
    text += &outside(report);
    text += "\nCost on sticks inside the modelled range    median        90 %         max   index\n";
    text += &costs("read-only", &report.read_only);
    text += &costs("with writes", &report.full);
    text += &costs("filled", &report.fill);
    text
}

fn findings(findings: &ByFinding) -> String {
    let mut text =
        "  finding                sticks   exact  within  unknown   wrong  confident  declined\n".to_owned();
    for (id, shares) in findings {
        let _ = writeln!(
            text,
            "  {:<22} {:>6} {:>7} {:>7} {:>8} {:>7} {:>11} {:>9}",
            id.as_str(),
            shares.count,
            percent(shares.exact),
            percent(shares.within),
            percent(shares.unknown),
            percent(shares.wrong),
            percent(shares.confident_wrong),
            shares.declined
        );
    }
    text
}

fn calibration(report: &Report) -> String {
    let mut text = "  claimed          mean   findings  observed   (95 % interval)\n".to_owned();
    for bin in &report.calibration {
        let _ = writeln!(
            text,
            "  {:>4.2} to {:>4.2}   {:>6.3} {:>10} {:>9}   {} to {}",
            bin.from,
            bin.to,
            bin.claimed,
            bin.count,
            percent(bin.observed),
            percent(bin.observed_low),
            percent(bin.observed_high)
        );
    }
    let coverage = report.coverage_95.map_or_else(|| "no intervals".to_owned(), percent);
    let _ = writeln!(text, "  intervals that hold the truth: {coverage}");
    text
}

fn outside(report: &Report) -> String {
    let total = report.outside_total();
    let mut text = format!(
        "\nOutside the modelled range: {} of {} devices without a wrong finding ({})\n",
        total.declined,
        total.count,
        percent(super::shares::part(total.declined as usize, total.count as usize))
    );
    for (kind, outside) in &report.outside {
        let _ = writeln!(text, "  {kind:<22} {:>4} of {:>4}", outside.declined, outside.count);
    }
    text
}

fn costs(title: &str, costs: &Costs) -> String {
    let rows = [
        ("reads", costs.reads, 1.0),
        ("MiB read", costs.bytes_read, 1_048_576.0),
        ("writes", costs.writes, 1.0),
        ("writes of open-units", costs.open_units_writes, 1.0),
        ("MiB written", costs.bytes_written, 1_048_576.0),
        ("device seconds", costs.device_seconds, 1.0),
    ];
    let shown = rows.iter().filter(|(_, spread, _)| spread.max > 0.0);
    shown.map(|(name, spread, unit)| row(&format!("{title}: {name}"), *spread, *unit)).collect()
}

fn row(name: &str, spread: Spread, unit: f64) -> String {
    format!(
        "  {name:<38} {:>11.1} {:>11.1} {:>11.1} {:>7}\n",
        spread.median / unit,
        spread.p90 / unit,
        spread.max / unit,
        spread.worst
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
