//! `cargo xtask diagnose`: sticks with one known ailment and with two are checked, and every diagnosis is held against what the
//! everyday copy, and small files alone, really gain where an ailment is cured.

mod examine;
mod score;

use anyhow::{Context, bail};
use flashscope_zoo::Patient;

use self::examine::Examined;
use self::score::Score;
use crate::{say, threads};

/// Which patients, and what to print of them.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How many patients with one ailment or none, and how many with two.
    #[arg(long, default_value_t = 300)]
    count: u64,
    /// The seed of every patient and check.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print a line about each patient whose diagnosis is not right, or whose gain is missed.
    #[arg(long, conflicts_with = "json")]
    misses: bool,
    /// Print one patient: its profile and its diagnosis. With --two: of those with two ailments.
    #[arg(long, value_name = "INDEX", conflicts_with_all = ["json", "misses", "count"])]
    explain: Option<u64>,
    /// See --explain.
    #[arg(long, requires = "explain")]
    two: bool,
}

/// Every so many patients of those with one ailment have none.
const SOUND_EVERY: u64 = 8;

/// Checks and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { count, seed, .. } = *arguments;
    if let Some(index) = arguments.explain {
        return Ok(say(&examined(seed, index, arguments.two)?.explain())?);
    }
    if count == 0 {
        bail!("no patients (--count 0): there is nothing to diagnose");
    }
    let (ones, twos) = (all(seed, count, false)?, all(seed, count, true)?);
    if arguments.misses {
        return Ok(say(&ones.iter().chain(&twos).filter_map(Examined::miss).collect::<String>())?);
    }
    let score = Score::of(&ones, &twos);
    let text =
        if arguments.json { serde_json::to_string_pretty(&score)? + "\n" } else { score.text(&ones, &twos) };
    Ok(say(&text)?)
}

/// Fails if thirty patients of each kind are told their ailments less often than docs/diagnosis.md says, less what chance does
/// to so few.
pub fn check() -> anyhow::Result<()> {
    let (ones, twos) = (all(1, 30, false)?, all(1, 30, true)?);
    let score = Score::of(&ones, &twos);
    let small_files = score.small_files_right.min(score.small_files_gain_covered);
    if score.right < 0.93 || score.larger_first < 0.86 || score.gain_covered < 0.86 || small_files < 0.8 {
        bail!("patients are told their ailments less often than before:\n{}", score.text(&ones, &twos));
    }
    Ok(())
}

fn examined(seed: u64, index: u64, with_two: bool) -> anyhow::Result<Examined> {
    let ailments = match index % SOUND_EVERY {
        _ if with_two => 2,
        0 => 0,
        _ => 1,
    };
    let patient = || Examined::of(Patient::new(seed, index, ailments)?);
    patient().with_context(|| format!("patient {index} with {ailments} ailments"))
}

/// So many patients, on as many threads as the machine has cores; in order of their numbers.
fn all(seed: u64, count: u64, with_two: bool) -> anyhow::Result<Vec<Examined>> {
    threads::each(count, |index| examined(seed, index, with_two))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of many stand in docs/diagnosis.md.
    #[test]
    fn a_dozen_patients_are_told_what_ails_them() {
        let (ones, twos) = (all(2, 12, false).unwrap(), all(2, 6, true).unwrap());
        let score = Score::of(&ones, &twos);
        assert!(score.right >= 0.9 && score.larger_first >= 0.8, "{}", score.text(&ones, &twos));
        assert!(score.gain_covered >= 0.8, "{}", score.text(&ones, &twos));
        let small_files = score.small_files_right.min(score.small_files_gain_covered);
        assert!(small_files >= 0.8, "{}", score.text(&ones, &twos));
        let again = all(2, 2, true).unwrap();
        assert!(again.iter().zip(&twos).all(|(again, first)| again.diagnosis == first.diagnosis));
    }
}
