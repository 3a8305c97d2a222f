//! `cargo xtask validate oracle`: random requests with power cuts on every translation layer, compared with a
//! simple model.
//!
//! The model is an array with the last written generation of each sector. The stick receives the same
//! requests. Every checked read must report the right, stale and blank sectors of the array. After a power
//! cut each sector must hold the flushed data or data written since. After every 64 power cuts the layer
//! audits its own state: each page is mapped once, the counts of valid pages are correct, and programs and
//! erases add up.

mod layers;
mod model;
mod ranges;
mod shard;
mod tally;
mod workers;

use anyhow::bail;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use self::layers::Layer;
use self::tally::Tally;
use crate::output::print;

/// What to test, and how to print it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Operations per translation layer, such as 1e8
    #[arg(long, default_value = "1e7", value_parser = operations)]
    ops: u64,
    /// Test only this translation layer
    #[arg(long)]
    policy: Option<String>,
    /// Random seed of the first shard of a million operations; each further shard has the next one
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct LayerReport {
    layer: &'static str,
    #[serde(flatten)]
    tally: Tally,
    seconds: f64,
}

/// Runs the oracle and prints its counts; an error if a layer is wrong.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut reports = Vec::new();
    for layer in chosen(arguments.policy.as_deref())? {
        let report = report(layer, arguments.ops, arguments.seed)?;
        if !arguments.json {
            print(&report.text())?;
        }
        reports.push(report);
    }
    if arguments.json {
        let document = serde_json::json!({ "seed": arguments.seed, "layers": reports });
        print(&(serde_json::to_string_pretty(&document)? + "\n"))?;
    }
    Ok(())
}

/// A short run on every layer.
pub fn check() -> anyhow::Result<()> {
    layers::ALL.iter().try_for_each(|layer| workers::run(layer, 1_000_000, 1).map(drop))
}

fn chosen(name: Option<&str>) -> anyhow::Result<Vec<&'static Layer>> {
    let Some(name) = name else { return Ok(layers::ALL.iter().collect()) };
    let found: Vec<&Layer> = layers::ALL.iter().filter(|layer| layer.name == name).collect();
    if found.is_empty() {
        let known: Vec<&str> = layers::ALL.iter().map(|layer| layer.name).collect();
        bail!("unknown layer '{name}'; the layers are {}", known.join(", "));
    }
    Ok(found)
}

fn report(layer: &'static Layer, operations: u64, seed: u64) -> anyhow::Result<LayerReport> {
    let started_s = host_seconds();
    let tally = workers::run(layer, operations, seed)?;
    Ok(LayerReport { layer: layer.name, tally, seconds: host_seconds() - started_s })
}

impl LayerReport {
    fn text(&self) -> String {
        format!("{:<26}{} in {:.1} s\n", self.layer, self.tally, self.seconds)
    }
}

/// The host's monotonic clock.
fn host_seconds() -> f64 {
    let time = clock_gettime(ClockId::Monotonic);
    std::time::Duration::try_from(time).unwrap_or_default().as_secs_f64()
}

/// Parses `1e8` and `100000000`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and in range"
)]
fn operations(text: &str) -> Result<u64, String> {
    let count: f64 = text.parse().map_err(|_| "expected a number such as 1e8".to_owned())?;
    if !(1.0..=1e12).contains(&count) || count.fract() != 0.0 {
        return Err("expected a whole number from 1 to 1e12".to_owned());
    }
    Ok(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_passes_a_short_run() {
        for layer in &layers::ALL {
            let tally = workers::run(layer, 30_000, 7).unwrap();
            assert!(
                tally.power_cuts > 5 && tally.sectors_lost > 0 && tally.audits > 0,
                "{}: {tally}",
                layer.name
            );
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_counts() {
        let run = |seed| workers::run(&layers::ALL[0], 20_000, seed).unwrap();
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn operations_are_parsed_in_scientific_notation() {
        assert_eq!(operations("1e8"), Ok(100_000_000));
        for text in ["0", "-1", "1.5", "many", "1e30", "nan"] {
            assert!(operations(text).is_err(), "{text}");
        }
    }
}
