//! The rules, one function each.

use super::Complaint;
use super::files::{File, Files};

/// Permission to erase is made in one place, so that no other code can write to a device.
pub fn consent_is_made_by_the_confirm_step_only(files: &Files) -> Vec<Complaint> {
    let allowed = |file: &File| {
        let place = ["crates/flashscope/src/confirm.rs", "crates/device/src/consent.rs"]
            .contains(&file.path.as_str());
        place || file.path.starts_with("xtask/") || is_test(file)
    };
    let rust = files.rust().filter(|file| !allowed(file));
    let call = |line: &str| line.contains("Consent::to_erase") && !line.trim_start().starts_with("//");
    complaints(rust, call, "only the confirm step may make a Consent")
}

/// All unsafe code is in one crate: every other one takes the workspace's lints, which forbid it.
pub fn unsafe_lives_in_the_linux_crate(files: &Files) -> Vec<Complaint> {
    let manifests = files
        .0
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && file.path != "crates/linux/Cargo.toml");
    let loose = manifests.filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    loose.map(|file| format!("{}: does not take the workspace's lints", file.path)).collect()
}

/// Every module opens with what it is for.
pub fn modules_say_what_they_are_for(files: &Files) -> Vec<Complaint> {
    let modules =
        files.rust().filter(|file| file.path.starts_with("crates/") || file.path.starts_with("xtask/"));
    let silent = modules.filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| format!("{}:1: opens without saying what it is for (//! …)", file.path)).collect()
}

/// Nothing names a folder of one developer's machine.
pub fn no_paths_of_one_machine(files: &Files) -> Vec<Complaint> {
    // Put together here, so that this file does not break its own rule.
    let folders = ["work", "root", "home", "Users"].map(|folder| format!("/{folder}/"));
    let text = files.0.iter().filter(|file| !file.path.starts_with("testdata/"));
    let named = |line: &str| folders.iter().any(|folder| mentions_folder(line, folder));
    complaints(text, named, "names a folder of one machine")
}

/// Whether `folder` stands in the line as the beginning of an absolute path.
fn mentions_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-:}/".contains(c)))
}

/// A thing exists when it is done.
pub fn nothing_is_left_to_do(files: &Files) -> Vec<Complaint> {
    let marks = ["TO", "FIX", "XX"].map(|mark| {
        format!(
            "{mark}{}",
            if mark == "TO" {
                "DO"
            } else if mark == "FIX" {
                "ME"
            } else {
                "X"
            }
        )
    });
    let marked = |line: &str| {
        marks.iter().any(|mark| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == mark))
    };
    complaints(files.rust(), marked, "is not finished")
}

/// The changelog speaks of the version that is being made.
pub fn the_changelog_has_this_version(files: &Files) -> Vec<Complaint> {
    let version = env!("CARGO_PKG_VERSION");
    let changelog = files.text("CHANGELOG.md");
    let has = |section: &str| changelog.lines().any(|line| line.starts_with(section));
    if has("## [Unreleased]") || has(&format!("## [{version}]")) {
        return Vec::new();
    }
    vec![format!("CHANGELOG.md: no section for {version}, and none that is unreleased")]
}

/// Every experiment has its page in docs/methods.
pub fn every_experiment_has_its_page(files: &Files) -> Vec<Complaint> {
    let names = files
        .rust()
        .filter(|file| file.path.starts_with("crates/measure/src/experiment/"))
        .flat_map(experiment_names);
    let pages = names.map(|name| format!("docs/methods/{name}.md"));
    pages
        .filter(|page| !files.has(page))
        .map(|page| format!("{page}: missing, but there is an experiment of that name"))
        .collect()
}

/// The names that experiments give themselves: the string in `fn name`.
fn experiment_names(file: &File) -> Vec<String> {
    let bodies = file.text.split("fn name(&self) -> &'static str {").skip(1);
    let name =
        |body: &str| body.split('"').nth(1).filter(|_| body.trim_start().starts_with('"')).map(str::to_owned);
    bodies.filter_map(name).collect()
}

fn is_test(file: &File) -> bool {
    file.path.contains("/tests/") || file.path.contains("/benches/") || file.path.contains("/examples/")
}

fn complaints<'a>(
    files: impl Iterator<Item = &'a File>,
    broken: impl Fn(&str) -> bool,
    rule: &str,
) -> Vec<Complaint> {
    let of_file = |file: &'a File| {
        let lines = file.lines().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        let bad = lines.filter(|(_, line)| broken(line));
        bad.map(|(number, _)| format!("{}:{number}: {rule}", file.path)).collect::<Vec<_>>()
    };
    files.flat_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(path: &str, text: &str) -> Files {
        Files(vec![File { path: path.to_owned(), text: text.to_owned() }])
    }

    #[test]
    fn consent_outside_the_confirm_step_is_refused() {
        let call = "let consent = Consent::to_erase(path);";
        let count = |path| consent_is_made_by_the_confirm_step_only(&files(path, call)).len();
        assert_eq!(count("crates/infer/src/lib.rs"), 1);
        assert_eq!(count("crates/flashscope/src/confirm.rs"), 0);
        assert_eq!(count("crates/linux/tests/open.rs"), 0);
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
        let complaints =
            every_experiment_has_its_page(&files("crates/measure/src/experiment/align.rs", text));
        assert_eq!(complaints.len(), 1);
    }

    #[test]
    fn unfinished_and_silent_modules_are_refused() {
        let unfinished = concat!("//! A.\n// TO", "DO: more\n");
        assert_eq!(nothing_is_left_to_do(&files("crates/a/src/b.rs", unfinished)).len(), 1);
        assert_eq!(modules_say_what_they_are_for(&files("crates/a/src/b.rs", "use x;")).len(), 1);
    }
}
