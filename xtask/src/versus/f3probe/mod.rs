//! The verdict and the cost of `verify`, compared with f3probe on the same virtual sticks.
//!
//! f3probe runs on a stick that is served as a block device and replies immediately. `verify` runs on a new
//! copy of the stick, in virtual time. A meter around the stick counts the bytes of both. Both times are
//! those of the stick's own clock, so neither side pays for this machine.

mod program;
mod side;
mod stick;
mod table;

use std::path::Path;

use anyhow::{Result, ensure};
use clap::Args;
use flashscope_device::Bytes;
use flashscope_device::layer::{Budget, Meter};
use flashscope_measure::Silent;
use flashscope_measure::capacity::{CACHE_BOUND_DEFAULT, Settings, verify};
use serde::Serialize;

use self::side::{Side, Truth, Verdict};
use self::stick::Stick;

/// How many sticks.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Virtual sticks; half of them are genuine
    #[arg(long, value_name = "N", default_value_t = 24)]
    count: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The cache bound of f3probe.
const CACHE_BOUND_F3PROBE: Bytes = Bytes::gib(1);

/// One stick and the verdicts on it.
#[derive(Debug, Serialize)]
struct Compared {
    /// The kind of the stick.
    class: String,
    announced: Bytes,
    true_size: Bytes,
    f3probe: Judged,
    /// `verify` with its default cache bound.
    ours: Judged,
    /// `verify` with the cache bound of f3probe.
    ours_large_bound: Judged,
}

/// A side, and whether it is right.
#[derive(Debug, Serialize)]
struct Judged {
    truth: Truth,
    #[serde(flatten)]
    side: Side,
}

/// All sticks.
#[derive(Debug, Serialize)]
pub struct Comparison {
    sticks: Vec<Compared>,
}

/// Compares on all sticks. `progress` receives a line after each.
///
/// # Errors
/// If sticks cannot be served (root and /dev/fuse are needed), or f3probe is missing or fails.
pub fn run(arguments: &Arguments, progress: &dyn Fn(&str)) -> Result<Comparison> {
    ensure!(rustix::process::geteuid().is_root(), "serving a stick as a block device needs root");
    ensure!(Path::new("/dev/fuse").exists(), "serving a stick needs /dev/fuse, which is missing");
    let compared = |index| -> Result<Compared> {
        let compared = compare(&Stick::new(arguments.seed, index, arguments.count)?, arguments.seed)?;
        progress(table::line(&compared).trim_end());
        Ok(compared)
    };
    Ok(Comparison { sticks: (0..arguments.count).map(compared).collect::<Result<_>>()? })
}

fn compare(stick: &Stick, seed: u64) -> Result<Compared> {
    let judged = |side: Side| Judged { truth: side.truth(stick), side };
    let device = stick.device()?;
    let announced = device.capabilities().capacity;
    Ok(Compared {
        class: format!("{:?}", stick.class),
        announced,
        true_size: stick.true_size,
        f3probe: judged(program::probe(device)?),
        ours: judged(verified(stick, CACHE_BOUND_DEFAULT, seed)?),
        ours_large_bound: judged(verified(stick, CACHE_BOUND_F3PROBE, seed)?),
    })
}

/// Our verdict, in virtual time.
fn verified(stick: &Stick, cache_bound: Bytes, seed: u64) -> Result<Side> {
    let mut device = Meter::new(stick.device()?, Budget::UNLIMITED);
    let verdict = verify(&mut device, Settings { cache_bound, seed }, &mut Silent)?;
    let kind = verdict.kind.is_bad().then(|| format!("{:?}", verdict.kind).to_lowercase());
    let size = verdict.true_size.unwrap_or(if kind.is_some() { Bytes::ZERO } else { verdict.announced });
    Ok(Side { verdict: Verdict { kind, size }, cost: device.cost() })
}

impl Comparison {
    /// A line for each stick, and the medians.
    pub fn table(&self) -> String {
        table::of(&self.sticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::print_stderr, reason = "a test that did not run says so")]
    fn skip(reason: &str) {
        assert!(std::env::var("FLASHSCOPE_REQUIRE_ALL").as_deref() != Ok("1"), "not to be skipped: {reason}");
        eprintln!("skipped: {reason}");
    }

    /// docs/methods/capacity.md has the results of more sticks.
    #[test]
    fn wrap_at_no_power_of_two_is_seen_by_verify_and_not_by_f3probe() {
        if std::process::Command::new("f3probe").arg("--version").output().is_err() {
            return skip("f3probe is not installed (Debian: f3)");
        }
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            return skip("serving a stick as a block device needs root and /dev/fuse");
        }
        // Of four, the third is the wrap at 7680 MiB.
        let stick = Stick::new(1, 2, 4).unwrap();
        let compared = match compare(&stick, 1) {
            Err(error) if error.to_string().contains("loop") => return skip(&error.to_string()),
            compared => compared.unwrap(),
        };
        let line = table::line(&compared);
        assert_eq!(compared.f3probe.truth, Truth::Wrong, "{line}");
        assert_eq!(
            (compared.ours.truth, compared.ours_large_bound.truth),
            (Truth::Right, Truth::Right),
            "{line}"
        );
        assert!(compared.ours.side.bytes() * 3 < compared.f3probe.side.bytes(), "{line}");
    }
}
