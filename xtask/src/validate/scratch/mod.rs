//! `cargo xtask validate scratch`: random sticks full of data, checked with `--erase` and with `--scratch`.
//! Whether both find the same, what the journal costs, and whether every byte is back.

mod check;
mod score;

use anyhow::{Context, bail};
use flashscope_zoo::{Scope, Specimen};

use self::check::{Checked, Mode};
use self::score::Score;
use crate::output::print;
use crate::threads;

/// How many sticks.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Random sticks within the hypotheses
    #[arg(long, value_name = "N", default_value_t = 200)]
    count: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// The least share of sticks with the same answer, for each answer.
const SAME_SHARE_MIN: f64 = 0.99;
/// The largest median of the device time with `--scratch` divided by that with `--erase`.
const TIME_RATIO_MAX: f64 = 1.5;

/// A stick and its checks.
struct Trio {
    /// The number of the specimen.
    index: u64,
    erase: Checked,
    again: Checked,
    scratch: Checked,
}

impl Trio {
    /// Stick `index` of `count`: the first specimen of every `count`-th that is a stick.
    fn of(seed: u64, index: u64, count: u64) -> anyhow::Result<Self> {
        let mut number = index;
        let specimen = loop {
            let specimen = Specimen::new(seed, number)?;
            if specimen.scope == Scope::Inside {
                break specimen;
            }
            number += count;
        };
        let checked =
            |mode| Checked::of(&specimen, mode).with_context(|| format!("specimen {number}, {mode:?}"));
        Ok(Self {
            index: number,
            erase: checked(Mode::Erase)?,
            again: checked(Mode::EraseAgain)?,
            scratch: checked(Mode::Scratch)?,
        })
    }

    /// Device time with `--scratch` divided by that with `--erase`.
    fn time_ratio(&self) -> f64 {
        self.parts().into_iter().sum()
    }

    /// The same of the experiments, of saving, and of restoring.
    fn parts(&self) -> [f64; 3] {
        let journal = self.scratch.journal;
        let saving = self.scratch.cost.device_time.saturating_sub(journal.measuring + journal.restoring);
        let erase = self.erase.cost.device_time.as_secs_f64().max(f64::MIN_POSITIVE);
        [journal.measuring, saving, journal.restoring].map(|part| part.as_secs_f64() / erase)
    }
}

fn check_all(count: u64, seed: u64) -> anyhow::Result<Vec<Trio>> {
    threads::each(count, |index| Trio::of(seed, index, count))
}

/// Prints the shares, the costs and every difference. Fails if a byte is not back or a target is missed.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let trios = check_all(arguments.count, arguments.seed)?;
    let score = Score::of(&trios);
    print(&score.text(&trios))?;
    if score.not_back > 0 {
        bail!("the data of {} sticks is not back", score.not_back);
    }
    if score.same.iter().any(|same| *same < SAME_SHARE_MIN) || score.time.median > TIME_RATIO_MAX {
        bail!("a target is missed: {SAME_SHARE_MIN} the same, {TIME_RATIO_MAX} times the device time");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/methods/README.md has the results of 100 sticks. These are bounds for eight: one other answer
    /// more than between two checks with `--erase`, and two other bottlenecks. The device time stays below
    /// the 2.15 times it would take to write everything back.
    #[test]
    fn check_of_a_full_stick_with_scratch_puts_every_byte_back_and_finds_nearly_the_same() {
        let trios = check_all(8, 3).unwrap();
        let score = Score::of(&trios);
        let text = score.text(&trios);
        let has_written = |trio: &Trio| trio.erase.different > 0 && !trio.scratch.journal.saved.is_zero();
        assert!(trios.iter().all(has_written), "{text}");
        assert_eq!(score.not_back, 0, "{text}");
        let (bottleneck, findings) = score.same.split_last().unwrap();
        let agree = findings.iter().zip(score.again).all(|(same, again)| *same >= again - 0.13);
        assert!(agree && *bottleneck >= 0.75, "{text}");
        assert!(score.time.median <= 2.0, "{text}");
    }
}
