//! `cargo xtask tidy`: the house rules that the compiler does not check. Each rule is one file.

mod architecture;
mod banned;
mod comments;
mod constants;
mod crates;
mod files;
mod house;
mod imports;
mod layers;
mod lexer;
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
use self::violation::Violation;
use crate::output::print;

/// Which violations to show.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// Show only violations in files whose path begins with one of these, such as crates/sim
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

/// A rule: its name, and the check that returns every violation.
struct Rule {
    name: &'static str,
    check: fn(&Files) -> anyhow::Result<Vec<Violation>>,
}

const RULES: [Rule; 18] = [
    Rule { name: "banned phrases", check: banned::check },
    Rule { name: "constants without a number", check: |files| Ok(constants::check(files)) },
    Rule { name: "comment lines over 110 columns", check: |files| Ok(comments::check(files)) },
    Rule { name: "Markdown sentences over 40 words", check: |files| Ok(sentences::check(files)) },
    Rule { name: "import cycles", check: |files| Ok(modules::cycles(files)) },
    Rule { name: "imports of a higher module", check: |files| Ok(layers::check(files)) },
    Rule { name: "crate dependencies", check: crates::check },
    Rule { name: "functions over 70 lines", check: |files| Ok(sizes::functions(files)) },
    Rule { name: "files over 600 lines", check: |files| Ok(sizes::files(files)) },
    Rule { name: "ARCHITECTURE.md", check: |files| Ok(architecture::check(files)) },
    Rule { name: "consent", check: |files| Ok(house::consent_is_made_by_the_confirm_step_only(files)) },
    Rule { name: "unsafe code", check: |files| Ok(house::unsafe_lives_in_the_linux_crate(files)) },
    Rule { name: "module documentation", check: |files| Ok(house::modules_have_documentation(files)) },
    Rule { name: "machine paths", check: |files| Ok(house::no_paths_of_one_machine(files)) },
    Rule { name: "unfinished code", check: |files| Ok(house::nothing_is_unfinished(files)) },
    Rule { name: "changelog", check: |files| Ok(house::the_changelog_has_this_version(files)) },
    Rule { name: "experiment pages", check: |files| Ok(house::every_experiment_has_its_page(files)) },
    Rule { name: "links", check: |files| Ok(links::check(files)) },
];

/// Checks every rule, prints the violations grouped by rule, and fails if there is one.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let files = Files::of_repository()?;
    let (mut total, mut broken_rules, mut text) = (0, 0, String::new());
    for rule in &RULES {
        let mut violations = (rule.check)(&files)?;
        violations.retain(|violation| violation.is_below(&arguments.paths));
        if violations.is_empty() {
            continue;
        }
        violations.sort();
        let _ = writeln!(text, "{}: {}", rule.name, violations.len());
        for violation in &violations {
            let _ = writeln!(text, "  {violation}");
        }
        total += violations.len();
        broken_rules += 1;
    }
    print(&text)?;
    if total > 0 {
        bail!("tidy: {total} violations of {broken_rules} rules");
    }
    Ok(())
}
