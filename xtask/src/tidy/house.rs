//! Rules of one function each.

use super::files::{File, Files};
use super::violation::Violation;

/// Permission to erase is made in one place, so that no other code can write to a device.
pub fn consent_is_a_type_of_the_confirm_step_only(files: &Files) -> Vec<Violation> {
    let allowed = |file: &File| {
        let is_maker =
            ["crates/flashscope/src/confirm.rs", "crates/linux/src/agreed.rs"].contains(&file.path.as_str());
        is_maker || file.path.starts_with("xtask/") || file.is_test()
    };
    let rust = files.rust().filter(|file| !allowed(file));
    let implements = |line: &str| line.contains("Consent for ") && line.trim_start().starts_with("impl");
    violations(rust, implements, "only the confirm step may have a type that is a Consent")
}

/// All unsafe code is in one crate: every other crate takes the workspace's lints, which forbid it.
pub fn unsafe_lives_in_the_linux_crate(files: &Files) -> Vec<Violation> {
    let manifests = files
        .0
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && file.path != "crates/linux/Cargo.toml");
    let without_lints = manifests.filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    without_lints.map(|file| Violation::new(&file.path, 0, "does not take the workspace's lints")).collect()
}

/// Every module begins with its purpose.
pub fn modules_have_documentation(files: &Files) -> Vec<Violation> {
    let modules =
        files.rust().filter(|file| file.path.starts_with("crates/") || file.path.starts_with("xtask/"));
    let undocumented = modules.filter(|file| !file.text.starts_with("//! "));
    undocumented.map(|file| Violation::new(&file.path, 1, "must begin with its purpose (//! …)")).collect()
}

/// Nothing names a folder of one developer's machine.
pub fn no_paths_of_one_machine(files: &Files) -> Vec<Violation> {
    // Put together here, so that this file does not break its own rule.
    let folders = ["work", "root", "home", "Users"].map(|folder| format!("/{folder}/"));
    let text = files.0.iter().filter(|file| !file.path.starts_with("testdata/"));
    let names_folder = |line: &str| folders.iter().any(|folder| mentions_folder(line, folder));
    violations(text, names_folder, "names a folder of one machine")
}

/// Whether an absolute path in the line begins with `folder`.
fn mentions_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-:}/".contains(c)))
}

/// No code is marked as unfinished.
pub fn nothing_is_unfinished(files: &Files) -> Vec<Violation> {
    // In two halves, so that this file does not break its own rule.
    let marks = [("TO", "DO"), ("FIX", "ME"), ("XX", "X")].map(|(start, end)| format!("{start}{end}"));
    let is_marked = |line: &str| {
        let mut words = line.split(|character: char| !character.is_alphanumeric());
        words.any(|word| marks.iter().any(|mark| mark == word))
    };
    violations(files.rust(), is_marked, "is unfinished")
}

/// The changelog has a section for the version that is being made.
pub fn the_changelog_has_this_version(files: &Files) -> Vec<Violation> {
    let version = env!("CARGO_PKG_VERSION");
    let changelog = files.text("CHANGELOG.md");
    let has = |section: &str| changelog.lines().any(|line| line.starts_with(section));
    if has("## [Unreleased]") || has(&format!("## [{version}]")) {
        return Vec::new();
    }
    vec![Violation::new("CHANGELOG.md", 0, format!("has no section for {version} and no unreleased section"))]
}

/// Every experiment has its page in docs/methods.
pub fn every_experiment_has_its_page(files: &Files) -> Vec<Violation> {
    let experiments = files.rust().filter(|file| file.path.contains("/src/experiment/"));
    let pages = experiments.flat_map(experiment_names).map(|name| format!("docs/methods/{name}.md"));
    let missing = pages.filter(|page| !files.has(page));
    missing.map(|page| Violation::new(&page, 0, "missing, but there is an experiment of that name")).collect()
}

/// The names of a file's experiments: the string in `fn name`.
fn experiment_names(file: &File) -> Vec<String> {
    let bodies = file.text.split("fn name(&self) -> &'static str {").skip(1);
    let name =
        |body: &str| body.split('"').nth(1).filter(|_| body.trim_start().starts_with('"')).map(str::to_owned);
    bodies.filter_map(name).collect()
}

/// The lines outside test modules for which `is_broken` is true.
fn violations<'a>(
    files: impl Iterator<Item = &'a File>,
    is_broken: impl Fn(&str) -> bool,
    message: &str,
) -> Vec<Violation> {
    let of_file = |file: &'a File| {
        let lines = file.lines().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        let bad = lines.filter(|(_, line)| is_broken(line));
        bad.map(|(number, _)| Violation::new(&file.path, number, message)).collect::<Vec<_>>()
    };
    files.flat_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(path: &str, text: &str) -> Files {
        Files::of([(path, text)])
    }

    #[test]
    fn consent_outside_the_confirm_step_is_refused() {
        let code = "impl Consent for Mine {";
        let count = |path| consent_is_a_type_of_the_confirm_step_only(&files(path, code)).len();
        assert_eq!(count("crates/measure/src/survey.rs"), 1);
        assert_eq!(count("crates/flashscope/src/confirm.rs"), 0);
        assert_eq!(count("crates/linux/tests/device.rs"), 0);
    }

    #[test]
    fn a_crate_without_the_lints_is_refused() {
        let count = |path, text| unsafe_lives_in_the_linux_crate(&files(path, text)).len();
        assert_eq!(count("crates/sim/Cargo.toml", "[package]\n"), 1);
        assert_eq!(count("crates/sim/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n"), 0);
        assert_eq!(count("crates/linux/Cargo.toml", "[package]\n"), 0);
    }

    #[test]
    fn machine_folders_are_found_where_a_path_begins() {
        let count = |text| no_paths_of_one_machine(&files("a.md", text)).len();
        assert_eq!(count(concat!("see /", "home/me/x")), 1);
        assert_eq!(count(concat!("https://x.y/", "work/z and a/", "root/b")), 0);
    }

    #[test]
    fn an_experiment_without_a_page_is_refused() {
        let text =
            "impl Experiment for A {\n    fn name(&self) -> &'static str {\n        \"align\"\n    }\n}";
        let found = every_experiment_has_its_page(&files("crates/measure/src/experiment/align.rs", text));
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn unfinished_and_undocumented_modules_are_refused() {
        let unfinished = concat!("//! A.\n// TO", "DO: more\n");
        assert_eq!(nothing_is_unfinished(&files("crates/a/src/b.rs", unfinished)).len(), 1);
        assert_eq!(modules_have_documentation(&files("crates/a/src/b.rs", "use x;")).len(), 1);
        assert!(modules_have_documentation(&files("crates/a/src/b.rs", "//! A.\n")).is_empty());
    }
}
