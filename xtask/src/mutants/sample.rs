//! `cargo xtask mutants --sample`: mutations drawn at random over the code of the crates, and the share that
//! each crate's own tests kill.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::bail;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::copy::{Copy, Outcome};
use super::mutation::{Mutation, mutations};
use crate::output::{print, progress};
use crate::process;
use crate::tidy::lexer::line_of;

/// The sample.
#[derive(Debug)]
pub struct Sample<'a> {
    pub number: usize,
    pub seed: u64,
    /// Only crates of these packages; all if empty.
    pub packages: &'a [String],
    /// The time limit of one run of a crate's tests, seconds.
    pub seconds: u64,
}

impl Sample<'_> {
    /// What is drawn from the files of the crates.
    fn mutations(&self, text_of: impl Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<Vec<Drawn>> {
        let all = mutations_of_crates(self.packages, text_of)?;
        if all.is_empty() {
            bail!("no code to mutate in: {}", self.packages.join(", "));
        }
        Ok(draw(all, self))
    }
}

/// A mutation of a file.
#[derive(Debug, Clone)]
struct Drawn {
    package: String,
    file: String,
    mutation: Mutation,
}

impl Drawn {
    /// The place and the change, in one line. `text` is the file without the mutation.
    fn describe(&self, text: &str) -> String {
        let line = line_of(text, self.mutation.range.start);
        let (from, to) = (text[self.mutation.range.clone()].trim(), self.mutation.to.trim());
        format!("{}:{line}: {from} -> {to}", self.file)
    }
}

/// Prints what is drawn from the tree, each with its line of the source. Nothing is built.
///
/// # Errors
/// If nothing can be mutated.
pub fn list(sample: &Sample<'_>) -> anyhow::Result<()> {
    let text_of = |file: &str| Ok(std::fs::read_to_string(process::repository().join(file))?);
    for drawn in sample.mutations(text_of)? {
        let text = text_of(&drawn.file)?;
        let line = text.lines().nth(line_of(&text, drawn.mutation.range.start) - 1).unwrap_or_default();
        print(&format!("{}\n    {}\n", drawn.describe(&text), line.trim()))?;
    }
    Ok(())
}

/// Tries the sample and prints every outcome, and the share of killed mutants of each crate.
///
/// # Errors
/// If nothing can be mutated, or if a crate's tests fail without a mutation.
pub fn run(sample: &Sample<'_>, copy: &Copy) -> anyhow::Result<()> {
    let mut rates: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
    for drawn in sample.mutations(|file| copy.text(file))? {
        if !rates.contains_key(&drawn.package) {
            progress(&format!("without a mutation: cargo test -p {}", drawn.package));
            copy.check_package(&drawn.package, sample.seconds)?;
        }
        let text = copy.text(&drawn.file)?;
        let mut mutated = text.clone();
        mutated.replace_range(drawn.mutation.range.clone(), &drawn.mutation.to);
        let outcome = copy.try_text(&drawn.file, &mutated, &drawn.package, sample.seconds)?;
        print(&format!("{:<9} {}\n", outcome.as_str(), drawn.describe(&text)))?;
        rates.entry(drawn.package).or_default().push(outcome);
    }
    print(&table(&rates))?;
    Ok(())
}

/// Killed mutants of those that build, crate by crate.
fn table(rates: &BTreeMap<String, Vec<Outcome>>) -> String {
    let mut text =
        "\n| crate | killed | by time limit | survived | do not build |\n|---|---|---|---|---|\n".to_owned();
    for (package, outcomes) in rates {
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
        let (timed_out, survived) = (count(Outcome::TimedOut), count(Outcome::Survived));
        let killed = count(Outcome::Killed) + timed_out;
        let built = killed + survived;
        let unbuilt = count(Outcome::Unbuilt);
        text.push_str(&format!(
            "| {package} | {killed} of {built} | {timed_out} | {survived} | {unbuilt} |\n"
        ));
    }
    text
}

/// As many mutations as are asked for, equally many from each crate, sorted by crate.
fn draw(mut all: BTreeMap<String, Vec<Drawn>>, sample: &Sample<'_>) -> Vec<Drawn> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(sample.seed);
    let mut drawn = Vec::new();
    while drawn.len() < sample.number && !all.is_empty() {
        all.retain(|_, left| !left.is_empty());
        for left in all.values_mut().take(sample.number - drawn.len()) {
            let index = random.next_u64() % left.len() as u64;
            drawn.push(left.swap_remove(usize::try_from(index).unwrap_or_default()));
        }
    }
    drawn.sort_by(|one, other| one.package.cmp(&other.package));
    drawn
}

/// Every mutation of the code of the crates, by package. `text_of` reads a file: edits of the tree
/// during a long run must not move the places.
fn mutations_of_crates(
    packages: &[String],
    text_of: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<BTreeMap<String, Vec<Drawn>>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--", "crates/*/src/*.rs"]);
    let files = process::output(list.current_dir(process::repository()))?;
    let mut all: BTreeMap<String, Vec<Drawn>> = BTreeMap::new();
    for file in files.lines() {
        let Some(package) = package_of(file) else { continue };
        let is_asked = packages.is_empty() || packages.contains(&package);
        let Ok(text) = text_of(file) else { continue };
        let found = mutations(&text).into_iter().filter(|_| is_asked);
        let drawn = found.map(|mutation| Drawn { package: package.clone(), file: file.to_owned(), mutation });
        all.entry(package.clone()).or_default().extend(drawn);
    }
    all.retain(|_, left| !left.is_empty());
    Ok(all)
}

/// The package of a file of product code; `None` for tests and for crates that only test.
fn package_of(file: &str) -> Option<String> {
    let (name, inside) = file.strip_prefix("crates/")?.split_once("/src/")?;
    let is_test = ["tests.rs", "testing.rs", "fixtures.rs"].iter().any(|test| inside.ends_with(test))
        || inside.contains("tests/");
    let package = if name == "flashscope" { name.to_owned() } else { format!("flashscope-{name}") };
    (!is_test && !name.contains('/')).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_crates_of_tests_are_not_mutated() {
        let package = |file| package_of(file);
        assert_eq!(package("crates/infer/src/a/b.rs").as_deref(), Some("flashscope-infer"));
        assert_eq!(package("crates/flashscope/src/main.rs").as_deref(), Some("flashscope"));
        for file in ["crates/infer/src/a/tests.rs", "crates/testing/zoo/src/lib.rs", "xtask/src/main.rs"] {
            assert_eq!(package(file), None, "{file}");
        }
    }

    #[test]
    fn a_seed_draws_the_same_mutations_from_every_crate() {
        let drawn = |seed| {
            let sample = Sample { number: 20, seed, packages: &[], seconds: 1 };
            let text_of = |file: &str| Ok(std::fs::read_to_string(process::repository().join(file))?);
            let all = mutations_of_crates(sample.packages, text_of).unwrap();
            let crates = all.len();
            let drawn =
                draw(all, &sample).into_iter().map(|drawn| (drawn.package, drawn.file, drawn.mutation));
            (crates, drawn.collect::<Vec<_>>())
        };
        let (crates, first) = drawn(1);
        assert_eq!(first, drawn(1).1);
        assert_ne!(first, drawn(2).1);
        let packages: std::collections::BTreeSet<&str> =
            first.iter().map(|(package, ..)| package.as_str()).collect();
        assert_eq!((first.len(), packages.len()), (20, crates.min(20)));
    }

    #[test]
    fn a_timeout_counts_as_killed_and_an_unbuilt_mutant_not_at_all() {
        let outcomes = vec![Outcome::Killed, Outcome::TimedOut, Outcome::Survived, Outcome::Unbuilt];
        let text = table(&BTreeMap::from([("a".to_owned(), outcomes)]));
        assert!(text.ends_with("| a | 2 of 3 | 1 | 1 | 1 |\n"), "{text}");
    }
}
