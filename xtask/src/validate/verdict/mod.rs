//! `cargo xtask validate verdict`: the first screen of virtual sticks. Whether it contradicts itself, how
//! often it names a cause, what it costs, and whether the gain of an archive is true.

mod check;
mod seen;

use std::collections::BTreeSet;
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
}

/// Fails if a screen contradicts itself.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
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
    archives: usize,
    archives_covered: usize,
    contradictions: Vec<String>,
    time: Duration,
    written: Bytes,
    /// Each profile with more than one state, and its state of each seed.
    unsteady: Vec<String>,
    unnamed: Vec<String>,
    archives_missed: Vec<String>,
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
        let archives = || cases.iter().filter_map(|seen| Some((seen, seen.archive_is_covered()?)));
        let mut times: Vec<Duration> = all().map(|seen| seen.time).collect();
        let mut written: Vec<Bytes> = all().map(|seen| seen.written).collect();
        Self {
            sticks: cases.len() + profiles.len(),
            named: all().filter(|seen| seen.is_named()).count(),
            stable: names.iter().filter(is_stable).count(),
            profiles: names.len(),
            archives: archives().count(),
            archives_covered: archives().filter(|(_, is_covered)| *is_covered).count(),
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
            archives_missed: archives()
                .filter(|(_, is_covered)| !is_covered)
                .map(|(seen, _)| seen.line())
                .collect(),
        }
    }

    fn text(&self) -> String {
        let share = |part: usize, of: usize| format!("{part} of {of} ({:.1} %)", 100.0 * ratio(part, of));
        let mut text = String::new();
        let _ = writeln!(text, "cause named, or the flash     {}", share(self.named, self.sticks));
        let _ = writeln!(text, "same state over the seeds     {}", share(self.stable, self.profiles));
        let _ =
            writeln!(text, "gain of an archive covered    {}", share(self.archives_covered, self.archives));
        let _ = writeln!(text, "contradictions                {}", self.contradictions.len());
        let _ = writeln!(text, "median device time            {:.1} s", self.time.as_secs_f64());
        let _ = writeln!(text, "median bytes written          {}", self.written);
        for (title, lines) in [
            ("contradiction", &self.contradictions),
            ("not steady", &self.unsteady),
            ("not named", &self.unnamed),
            ("archive missed", &self.archives_missed),
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
        assert!(score.archives > 2 && score.archives_covered * 10 >= score.archives * 7, "{}", score.text());
    }
}
