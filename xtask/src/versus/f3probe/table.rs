//! The comparison as a table.

use std::fmt::Write as _;

use flashscope_device::Bytes;

use super::side::{Side, Truth};
use super::{Compared, Judged};

/// A line for each stick, then the medians of each half.
pub fn of(sticks: &[Compared]) -> String {
    let mut text = format!(
        "{:<8} {:>11} {:>11}   {:<37} {:<37} {}\n",
        "stick", "announced", "stores", "f3probe", "verify", "verify --cache-bound 1GiB"
    );
    sticks.iter().for_each(|stick| text += &line(stick));
    let is_genuine = |stick: &&Compared| stick.announced == stick.true_size;
    let genuine: Vec<&Compared> = sticks.iter().filter(is_genuine).collect();
    let fake: Vec<&Compared> = sticks.iter().filter(|stick| !is_genuine(stick)).collect();
    text += "\n                           ratio to f3probe, median\n";
    text += "                   right            verify          verify --cache-bound 1GiB\n";
    text += "          f3probe verify 1GiB    bytes   time    bytes   time\n";
    for (name, sticks) in [("genuine", genuine), ("fake", fake), ("all", sticks.iter().collect())] {
        let right = |pick: Pick| sticks.iter().filter(|stick| pick(stick).truth == Truth::Right).count();
        let _ = writeln!(
            text,
            "{name:<8} {:>8} {:>6} {:>4} {:>8.2} {:>6.2} {:>8.2} {:>6.2}",
            right(|stick| &stick.f3probe),
            right(|stick| &stick.ours),
            right(|stick| &stick.ours_large_bound),
            ratio(&sticks, |stick| &stick.ours, bytes),
            ratio(&sticks, |stick| &stick.ours, seconds),
            ratio(&sticks, |stick| &stick.ours_large_bound, bytes),
            ratio(&sticks, |stick| &stick.ours_large_bound, seconds),
        );
    }
    text + "bytes: written and read; time: of the stick's own clock\n"
}

type Pick = fn(&Compared) -> &Judged;

fn bytes(side: &Side) -> f64 {
    side.bytes().as_f64()
}

fn seconds(side: &Side) -> f64 {
    side.time().as_secs_f64()
}

/// The median of a cost of ours, divided by that of f3probe.
fn ratio(sticks: &[&Compared], ours: Pick, cost: fn(&Side) -> f64) -> f64 {
    let mut ratios: Vec<f64> =
        sticks.iter().map(|stick| cost(&ours(stick).side) / cost(&stick.f3probe.side)).collect();
    ratios.sort_by(f64::total_cmp);
    match ratios.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => ratios[odd / 2],
        even => f64::midpoint(ratios[even / 2 - 1], ratios[even / 2]),
    }
}

/// One stick.
pub fn line(stick: &Compared) -> String {
    let Compared { class, announced, true_size, f3probe, ours, ours_large_bound } = stick;
    let [announced, true_size] = [announced, true_size].map(|size| in_gb(*size));
    let [f3probe, ours, large] = [f3probe, ours, ours_large_bound].map(judged);
    format!("{class:<8} {announced:>11} {true_size:>11}   {f3probe:<37} {ours:<37} {large}\n")
}

fn judged(judged: &Judged) -> String {
    let kind = judged.side.verdict.kind.as_deref().unwrap_or("genuine");
    let mb = judged.side.bytes().as_f64() / 1e6;
    let truth = judged.truth.text();
    format!("{kind}, {truth}, {mb:.0} MB, {:.0} s", seconds(&judged.side))
}

fn in_gb(size: Bytes) -> String {
    format!("{:.3} GB", size.as_f64() / 1e9)
}
