//! `cargo xtask mutants`: every guard of data is proven by its absence. Each mutation removes or weakens one
//! guard in a copy of the tree; the named test must then fail. With `--sample`, mutations are drawn at random
//! over all crates instead.

mod copy;
mod mutation;
mod sample;
mod table;

use std::path::PathBuf;

use anyhow::bail;

use self::copy::{Copy, Outcome};
use self::sample::Sample;
use self::table::{Mutant, mutants};
use crate::output::{print, progress};
use crate::process;

/// Which mutants to try, and where to build.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only mutants whose names contain this
    #[arg(default_value = "")]
    name: String,
    /// Only mutants that tests of this package kill
    #[arg(long)]
    package: Vec<String>,
    /// Draw this number of mutations at random instead, from each crate alike
    #[arg(long, conflicts_with_all = ["name", "texts"])]
    sample: Option<usize>,
    /// The random seed of the sample
    #[arg(long, requires = "sample", default_value_t = 1)]
    seed: u64,
    /// The time limit of one run of a crate's tests in the sample, seconds; a timeout counts as killed
    #[arg(long, requires = "sample", default_value_t = 600)]
    seconds: u64,
    /// Print the sample, and try nothing: for judging it by reading
    #[arg(long, requires = "sample")]
    list: bool,
    /// Cargo's target folder for the copy; `mutants` in the target folder by default
    #[arg(long)]
    target_dir: Option<PathBuf>,
    /// Only look for the source texts; build nothing
    #[arg(long)]
    texts: bool,
}

/// Tries every mutant and prints what became of it.
///
/// # Errors
/// If a mutant survives, does not build, or its source text is not found exactly once; or if a test fails
/// without a mutation.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let target = arguments.target_dir.clone().unwrap_or_else(|| process::target_folder().join("mutants"));
    if let Some(number) = arguments.sample {
        let (seed, seconds) = (arguments.seed, arguments.seconds);
        let sample = Sample { number, seed, packages: &arguments.package, seconds };
        if arguments.list {
            return sample::list(&sample);
        }
        return sample::run(&sample, &Copy::new(target)?);
    }
    let is_asked = |mutant: &&Mutant| {
        let is_of_package = |package: &String| mutant.test.contains(&package.as_str());
        let packages = &arguments.package;
        mutant.name.contains(&arguments.name) && (packages.is_empty() || packages.iter().any(is_of_package))
    };
    let mutants: Vec<&Mutant> = mutants().filter(is_asked).collect();
    let lost: Vec<&str> =
        mutants.iter().filter(|mutant| !is_found(mutant)).map(|mutant| mutant.name).collect();
    if !lost.is_empty() {
        bail!("source text not found exactly once: {}", lost.join(", "));
    }
    if arguments.texts {
        return Ok(print(&format!("mutants: all {} source texts found\n", mutants.len()))?);
    }
    let copy = Copy::new(target)?;
    let mut sound: Vec<&[&str]> = Vec::new();
    let mut problems = Vec::new();
    for mutant in mutants {
        if !sound.contains(&mutant.test) {
            progress(&format!("without a mutation: cargo test {}", mutant.test.join(" ")));
            copy.check_sound(mutant.test)?;
            sound.push(mutant.test);
        }
        let outcome = copy.try_out(mutant)?;
        print(&format!("{:<9} {}\n", outcome.as_str(), mutant.name))?;
        if outcome != Outcome::Killed {
            problems.push(format!("{} ({})", mutant.name, outcome.as_str()));
        }
    }
    if !problems.is_empty() {
        bail!("not killed: {}", problems.join(", "));
    }
    Ok(())
}

/// Whether the source text of a mutant is in its file, once.
fn is_found(mutant: &Mutant) -> bool {
    let text = std::fs::read_to_string(process::repository().join(mutant.file)).unwrap_or_default();
    text.matches(mutant.from).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_text_is_found_once_and_is_changed() {
        for mutant in mutants() {
            assert!(is_found(mutant), "{}: {}", mutant.name, mutant.from);
            assert_ne!(mutant.from, mutant.to, "{}", mutant.name);
        }
    }

    #[test]
    fn every_test_in_the_table_of_guards_exists() {
        let page = std::fs::read_to_string(process::repository().join("docs/safety.md")).unwrap();
        let section =
            page.split("## Every guard and its test").nth(1).unwrap().split("\n## ").next().unwrap();
        let mut list = std::process::Command::new("git");
        list.args(["grep", "--untracked", "-hoE", "fn [a-z0-9_]+", "--", "*.rs"]);
        let functions = process::output(list.current_dir(process::repository())).unwrap();
        let functions: Vec<&str> =
            functions.lines().filter_map(|line| line.trim().strip_prefix("fn ")).collect();
        let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
        let tests: Vec<&str> =
            rows.flat_map(|row| row.rsplit(" | ").next().unwrap().split('`').skip(1).step_by(2)).collect();
        assert!(tests.len() > 60, "{tests:?}");
        for test in tests {
            assert!(functions.contains(&test), "docs/safety.md names a test that does not exist: {test}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = mutants().map(|mutant| mutant.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
