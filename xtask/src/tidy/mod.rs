//! `cargo xtask tidy`: the house rules that the compiler does not check. Each rule is one file.

mod architecture;
mod banned;
mod comments;
mod constants;
mod crates;
mod files;
mod house;
mod imports;
mod known;
mod layers;
pub mod lexer;
mod links;
mod modules;
mod paths;
mod sentences;
mod sizes;
mod violation;
mod words;

use std::fmt::Write as _;

use anyhow::bail;

use self::files::Files;
use self::known::Known;
use self::violation::Violation;
use crate::output::print;

/// Which violations to show.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// Show only violations in files whose path begins with one of these, such as crates/sim
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Show the known violations too: those that xtask/src/tidy/known.toml allows
    #[arg(long)]
    known: bool,
    /// Lower the numbers in xtask/src/tidy/known.toml to what is left
    #[arg(long)]
    lower: bool,
    /// List the numeric constants below the paths instead, each with its reason
    #[arg(long, conflicts_with_all = ["known", "lower"])]
    constants: bool,
}

/// A rule: its name, and the check that returns every violation.
struct Rule {
    name: &'static str,
    check: fn(&Files) -> anyhow::Result<Vec<Violation>>,
}

const RULES: [Rule; 18] = [
    Rule { name: "banned phrases", check: banned::check },
    Rule { name: "consent", check: |files| Ok(house::consent_is_a_type_of_the_confirm_step_only(files)) },
    Rule { name: "constants without a number", check: |files| Ok(constants::check(files)) },
    Rule { name: "comment lines over 110 columns", check: |files| Ok(comments::check(files)) },
    Rule { name: "Markdown sentences over 40 words", check: |files| Ok(sentences::check(files)) },
    Rule { name: "import cycles", check: |files| Ok(modules::cycles(files)) },
    Rule { name: "imports of a higher module", check: |files| Ok(layers::check(files)) },
    Rule { name: "crate dependencies", check: crates::check },
    Rule { name: "functions over 70 lines", check: |files| Ok(sizes::functions(files)) },
    Rule { name: "files over 600 lines", check: |files| Ok(sizes::files(files)) },
    Rule { name: "ARCHITECTURE.md", check: |files| Ok(architecture::check(files)) },
    Rule { name: "unsafe code", check: |files| Ok(house::unsafe_lives_in_the_linux_crate(files)) },
    Rule { name: "module documentation", check: |files| Ok(house::modules_have_documentation(files)) },
    Rule { name: "machine paths", check: |files| Ok(house::no_paths_of_one_machine(files)) },
    Rule { name: "unfinished code", check: |files| Ok(house::nothing_is_unfinished(files)) },
    Rule { name: "changelog", check: |files| Ok(house::the_changelog_has_this_version(files)) },
    Rule { name: "experiment pages", check: |files| Ok(house::every_experiment_has_its_page(files)) },
    Rule { name: "links", check: |files| Ok(links::check(files)) },
];

/// Checks every rule, and prints the violations grouped by rule. Fails if an area has more than are known, or
/// fewer: then the numbers are to be lowered.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let files = Files::of_repository()?;
    if arguments.constants {
        return Ok(print(&constants::list(&files, &arguments.paths))?);
    }
    let known = Known::of_repository()?;
    let (mut found, mut too_many, mut text) = (Known::default(), 0, String::new());
    for rule in &RULES {
        let mut violations = (rule.check)(&files)?;
        let mut counts = Known::default();
        counts.count(rule.name, &violations);
        found.count(rule.name, &violations);
        let is_new = |violation: &Violation| {
            let area = known::area(violation.path());
            counts.allowed(rule.name, area) > known.allowed(rule.name, area)
        };
        too_many += violations.iter().filter(|violation| is_new(violation)).count();
        violations.retain(|violation| {
            violation.is_below(&arguments.paths) && (arguments.known || is_new(violation))
        });
        if violations.is_empty() {
            continue;
        }
        violations.sort();
        let _ = writeln!(text, "{}: {}", rule.name, violations.len());
        for violation in &violations {
            let _ = writeln!(text, "  {violation}");
        }
    }
    print(&text)?;
    if too_many > 0 {
        bail!("tidy: {too_many} violations in areas that have more than {} allows", known::PATH);
    }
    if arguments.lower {
        return Ok(std::fs::write(known::PATH, known.lowered_to(&found).text()?)?);
    }
    if let [(rule, area, left, allowed), ..] = found.below(&known)[..] {
        bail!("tidy: {rule} in {area}: {allowed} known, {left} left; run cargo xtask tidy --lower");
    }
    Ok(())
}
