//! ARCHITECTURE.md names only paths that exist, and every crate of the workspace.
//!
//! A path may begin anywhere below the root: `probe/src/lib.rs` is found as `crates/probe/src/lib.rs`. A part
//! in capitals stands for any name: `experiment/NAME.rs`.

use super::files::{File, Files};
use super::violation::Violation;

const PAGE: &str = "ARCHITECTURE.md";

/// Every path of the page that does not exist, and every crate that the page does not name.
pub fn check(files: &Files) -> Vec<Violation> {
    let Some(page) = files.0.iter().find(|file| file.path == PAGE) else {
        return vec![Violation::new(PAGE, 0, "missing")];
    };
    let map = map_paths(page);
    let quoted = quoted_paths(page);
    let missing = map.iter().chain(&quoted).filter(|(_, path)| !exists(files, path));
    let missing = missing.map(|(line, path)| Violation::new(PAGE, *line, format!("'{path}' does not exist")));
    let in_map = |folder: &str| map.iter().any(|(_, path)| path.trim_end_matches('/') == folder);
    let unnamed = files.crates().into_iter().filter(|folder| !in_map(folder));
    let unnamed = unnamed.map(|folder| Violation::new(PAGE, 0, format!("the map lacks the crate {folder}")));
    missing.chain(unnamed).collect()
}

/// The paths of the map: the indented block that holds `crates/`, where each deeper line continues the one
/// above it.
fn map_paths(page: &File) -> Vec<(usize, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines = page.lines().skip_while(|(_, line)| line.trim() != "crates/");
    let lines = lines.take_while(|(_, line)| indent(line) > 0);
    let mut folders: Vec<(usize, String)> = Vec::new();
    let mut paths = Vec::new();
    for (number, line) in lines {
        let Some(name) = line.split_whitespace().next().filter(|name| name.contains('/')) else { continue };
        while folders.last().is_some_and(|(depth, _)| *depth >= indent(line)) {
            folders.pop();
        }
        let path = folders.last().map_or(String::new(), |(_, folder)| folder.clone()) + name;
        folders.push((indent(line), path.clone()));
        paths.push((number, path));
    }
    paths
}

/// The pieces of code in backticks that are paths.
fn quoted_paths(page: &File) -> Vec<(usize, String)> {
    let quoted = page
        .lines()
        .flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |text| (number, text)));
    quoted.filter(|(_, text)| is_path(text)).map(|(number, text)| (number, text.to_owned())).collect()
}

fn is_path(text: &str) -> bool {
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    let extensions = ["rs", "md", "toml", "json", "svg", "txt"];
    let has_extension = text.rsplit_once('.').is_some_and(|(_, end)| extensions.contains(&end));
    is_plain && !text.starts_with(['/', '-']) && (text.contains('/') || has_extension)
}

fn exists(files: &Files, path: &str) -> bool {
    let wanted: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    files.0.iter().any(|file| {
        let parts: Vec<&str> = file.path.split('/').collect();
        parts
            .windows(wanted.len())
            .any(|run| run.iter().zip(&wanted).all(|(part, wanted)| is_same(part, wanted)))
    })
}

/// Whether a part of a path is the wanted one; a wanted stem in capitals stands for any stem.
fn is_same(part: &str, wanted: &str) -> bool {
    let (stem, end) = wanted.split_once('.').unwrap_or((wanted, ""));
    let is_any = stem.len() > 1 && stem.chars().all(|character| character.is_ascii_uppercase());
    part == wanted || (is_any && part.rsplit_once('.').map_or("", |(_, end)| end) == end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "# A\n\n    crates/\n      a/     the first\n    xtask/   tasks\n\n";

    fn found(page: &str) -> Vec<String> {
        let files = Files::of([
            ("ARCHITECTURE.md", page),
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/experiment/align.rs", ""),
            ("xtask/Cargo.toml", ""),
        ]);
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn existing_paths_and_other_code_are_not_reported() {
        let page = "See `a/src/experiment/NAME.rs`, `align.rs`, `crates/a/src/`, `Device::now`, `--erase`, `/dev/sda`.\n";
        assert_eq!(found(&format!("{MAP}{page}")), Vec::<String>::new());
    }

    #[test]
    fn a_path_that_does_not_exist_is_reported() {
        let lines = found(&format!("{MAP}See `a/src/gone.rs`.\n"));
        assert_eq!(lines, ["ARCHITECTURE.md:7: 'a/src/gone.rs' does not exist"]);
        let map = MAP.replace("the first\n", "the first\n      b/     the second\n");
        assert_eq!(found(&map), ["ARCHITECTURE.md:5: 'crates/b/' does not exist"]);
    }

    #[test]
    fn a_crate_that_the_map_lacks_is_reported() {
        assert_eq!(
            found("# A\n\n    crates/\n      a/     the first\n"),
            ["ARCHITECTURE.md: the map lacks the crate xtask"]
        );
    }
}
