//! `cargo xtask validate verdict`: the first screen of virtual sticks. Whether it contradicts itself, how
//! often it names a cause, what it costs, and whether the stated gains are true.

mod carried_out;
mod check;
mod seen;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::bail;
use flashscope_device::Bytes;
use flashscope_sim::Profile;

use self::seen::Seen;
use crate::output::print;
use crate::threads;
use crate::validate::median::median;

/// How many sticks.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Random sticks, with no, one or two faults; all built-in profiles besides
    #[arg(long, value_name = "N", default_value_t = 300)]
    count: u64,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Seeds for each built-in profile
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// Print the profile of one random stick, its screen, and the profile of its twin
    #[arg(long, value_name = "INDEX")]
    explain: Option<u64>,
}

/// Fails if a screen contradicts itself.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(index) = arguments.explain {
        return Ok(print(&Seen::explained(arguments.seed, index)?)?);
    }
    let cases = threads::each(arguments.count, |index| Seen::of_case(arguments.seed, index))?;
    let names: Vec<&str> = Profile::builtin_names().collect();
    let runs = names.len() as u64 * arguments.seeds;
    let profiles = threads::each(runs, |index| {
        let name = names[usize::try_from(index / arguments.seeds)?];
        Seen::of_profile(name, index % arguments.seeds + 1)
    })?;
    let score = Score::of(&cases, &profiles);
    print(&score.text())?;
    match score.contradictions.len() {
        0 => Ok(()),
        count => bail!("{count} screens contradict themselves"),
    }
}

/// The results over all sticks.
struct Score {
    sticks: usize,
    named: usize,
    /// Built-in profiles whose state is the same for 95 % of their seeds.
    stable: usize,
    profiles: usize,
    /// Of each kind of action, how many were carried out, and how many gained what was stated.
    carried_out: BTreeMap<&'static str, [usize; 2]>,
    contradictions: Vec<String>,
    time: Duration,
    written: Bytes,
    /// Each profile with more than one state, and its state of each seed.
    unsteady: Vec<String>,
    unnamed: Vec<String>,
    gains_missed: Vec<String>,
}

impl Score {
    fn of(cases: &[Seen], profiles: &[Seen]) -> Self {
        let all = || cases.iter().chain(profiles);
        let names: BTreeSet<&str> = profiles.iter().map(|seen| seen.name.as_str()).collect();
        let states_of = |name: &str| -> Vec<&str> {
            profiles.iter().filter(|seen| seen.name == name).map(Seen::state).collect()
        };
        let is_stable = |name: &&&str| {
            let states = states_of(name);
            let most = states.iter().map(|state| states.iter().filter(|each| *each == state).count()).max();
            most.unwrap_or(0) * 20 >= states.len() * 19
        };
        let mut carried_out: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        let mut gains_missed = Vec::new();
        for (seen, action) in
            cases.iter().flat_map(|seen| seen.carried_out.iter().map(move |each| (seen, each)))
        {
            let [count, covered] = carried_out.entry(action.kind.as_str()).or_default();
            *count += 1;
            *covered += usize::from(action.is_covered());
            if !action.is_covered() {
                gains_missed.push(format!("{}: {}", seen.line(), action.text()));
            }
        }
        let mut times: Vec<Duration> = all().map(|seen| seen.time).collect();
        let mut written: Vec<Bytes> = all().map(|seen| seen.written).collect();
        Self {
            sticks: cases.len() + profiles.len(),
            named: all().filter(|seen| seen.is_named()).count(),
            stable: names.iter().filter(is_stable).count(),
            profiles: names.len(),
            carried_out,
            contradictions: all().flat_map(Seen::contradictions).collect(),
            time: median(&mut times),
            written: median(&mut written),
            unsteady: names
                .iter()
                .map(|name| (name, states_of(name)))
                .filter(|(_, states)| states.iter().any(|state| *state != states[0]))
                .map(|(name, states)| format!("{name}: {}", states.join(", ")))
                .collect(),
            unnamed: all().filter(|seen| !seen.is_named()).map(Seen::line).collect(),
            gains_missed,
        }
    }

    /// The number of actions that were carried out, and how many of them gained what was stated.
    fn all_carried_out(&self) -> [usize; 2] {
        let sum = |index: usize| self.carried_out.values().map(|counts| counts[index]).sum();
        [sum(0), sum(1)]
    }

    fn text(&self) -> String {
        let share = |part: usize, of: usize| format!("{part} of {of} ({:.1} %)", 100.0 * ratio(part, of));
        let mut text = String::new();
        let _ = writeln!(text, "cause named, or the flash     {}", share(self.named, self.sticks));
        let _ = writeln!(text, "same state over the seeds     {}", share(self.stable, self.profiles));
        let [count, covered] = self.all_carried_out();
        let _ = writeln!(text, "stated gains that are true    {}", share(covered, count));
        for (kind, [count, covered]) in &self.carried_out {
            let _ = writeln!(text, "  {kind:<28}{}", share(*covered, *count));
        }
        let _ = writeln!(text, "contradictions                {}", self.contradictions.len());
        let _ = writeln!(text, "median device time            {:.1} s", self.time.as_secs_f64());
        let _ = writeln!(text, "median bytes written          {}", self.written);
        for (title, lines) in [
            ("contradiction", &self.contradictions),
            ("not steady", &self.unsteady),
            ("not named", &self.unnamed),
            ("gain missed", &self.gains_missed),
        ] {
            for line in lines {
                let _ = writeln!(text, "{title}: {line}");
            }
        }
        text
    }
}

fn ratio(part: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/verdict.md has the results of 300 sticks.
    #[test]
    fn first_screens_of_some_sticks_do_not_contradict_themselves() {
        let cases = threads::each(12, |index| Seen::of_case(7, index)).unwrap();
        let names = ["generic-2g", "cheap-usb3-32g", "transcend-8g", "modern-ssd-stick-128g"];
        let profiles: Vec<Seen> = names.map(|name| Seen::of_profile(name, 1).unwrap()).into();
        let score = Score::of(&cases, &profiles);
        assert_eq!(score.contradictions, Vec::<String>::new());
        assert!(score.named * 10 >= score.sticks * 9, "{}", score.text());
        let [count, covered] = score.all_carried_out();
        assert!(count > 4 && covered * 10 >= count * 7, "{}", score.text());
    }
}
