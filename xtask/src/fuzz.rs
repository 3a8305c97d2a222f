//! `cargo xtask fuzz`: mutated inputs for every parser of untrusted bytes, for as long as asked.

use std::time::Duration;

use anyhow::{Context, bail};
use flashscope_fuzz::{Fuzzer, targets};
use rustix::time::{ClockId, clock_gettime};

use crate::output::{print, progress};
use crate::process;

/// For how long, and which parsers.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Seconds for each parser
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only parsers whose names contain this
    #[arg(long, default_value = "")]
    parser: String,
}

/// Inputs between two looks at the clock. Guess: the slowest parser takes some 100 ms for them.
const INPUTS_PER_LOOK: u64 = 100;

/// Runs every parser; the first crash of each is stored in a file.
///
/// # Errors
/// If a parser panicked, or allocated without bound.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut crashes = 0;
    for mut target in targets()? {
        if !target.name.contains(&arguments.parser) {
            continue;
        }
        let mut fuzzer = Fuzzer::new(arguments.seed);
        let end = now() + Duration::from_secs(arguments.seconds);
        let mut result = fuzzer.samples(&mut target);
        while result.is_ok() && now() < end {
            result = (0..INPUTS_PER_LOOK).try_for_each(|_| fuzzer.step(&mut target));
        }
        let state = match &result {
            Ok(()) => "no crash".to_owned(),
            Err(crash) => {
                crashes += 1;
                let file = process::target_folder().join(format!("crash-{}", target.name.replace(' ', "-")));
                std::fs::write(&file, &crash.input).context("cannot store the input")?;
                progress(&format!("{crash}"));
                format!("{:?}, input in {}", crash.kind, file.display())
            }
        };
        print(&format!("{:<20} {:>9} inputs  {state}\n", target.name, fuzzer.inputs()))?;
    }
    if crashes > 0 {
        bail!("{crashes} parsers crashed");
    }
    Ok(())
}

fn now() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}
