//! No three files of a crate import one another in a cycle: each must be understood from the files below it.

use std::collections::BTreeSet;

use super::files::Files;
use super::imports::Crate;
use super::violation::Violation;

/// Two files may import each other; more may not.
const CYCLE_FILES_MAX: usize = 2;

/// One violation for each set of more than two files that reach one another.
pub fn cycles(files: &Files) -> Vec<Violation> {
    files.crates().iter().flat_map(|folder| cycles_of(&Crate::new(files, folder))).collect()
}

fn cycles_of(krate: &Crate<'_>) -> Vec<Violation> {
    let count = krate.files.len();
    let reachable: Vec<BTreeSet<usize>> = (0..count).map(|file| reachable(krate, file)).collect();
    let mut violations = Vec::new();
    let mut seen = BTreeSet::new();
    for file in 0..count {
        let component: BTreeSet<usize> =
            reachable[file].iter().copied().filter(|other| reachable[*other].contains(&file)).collect();
        if component.len() <= CYCLE_FILES_MAX || !seen.insert(component.clone()) {
            continue;
        }
        let inside = |import: &&super::imports::Import| {
            component.contains(&import.from) && component.contains(&import.to)
        };
        let imports = krate.imports.iter().filter(inside).map(|import| {
            format!("{}:{} -> {}", name(krate, import.from), import.line, name(krate, import.to))
        });
        let imports: Vec<String> = imports.collect();
        let message = format!("{} files import one another: {}", component.len(), imports.join(", "));
        violations.push(Violation::new(&krate.files[file].path, 0, message));
    }
    violations
}

/// The files that are imported, directly or indirectly.
fn reachable(krate: &Crate<'_>, start: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        let next = krate.imports.iter().filter(|import| import.from == file).map(|import| import.to);
        open.extend(next.filter(|to| found.insert(*to)));
    }
    found
}

fn name<'a>(krate: &'a Crate<'_>, file: usize) -> &'a str {
    let path = krate.files[file].path.as_str();
    path.split_once("/src/").map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(c: &str) -> Vec<String> {
        let files = Files::of([
            ("crates/x/Cargo.toml", ""),
            ("crates/x/src/lib.rs", "mod a; mod b; mod c; pub use a::A;\n"),
            ("crates/x/src/a.rs", "use crate::b::B;\npub struct A;\n"),
            ("crates/x/src/b.rs", "use crate::c::C;\n"),
            ("crates/x/src/c.rs", c),
        ]);
        cycles(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_cycle_of_three_files_is_reported_with_its_imports() {
        let expected =
            "crates/x/src/a.rs: 3 files import one another: a.rs:1 -> b.rs, b.rs:1 -> c.rs, c.rs:1 -> a.rs";
        assert_eq!(found("use crate::A;\n"), [expected]);
    }

    #[test]
    fn two_files_that_import_each_other_are_not_reported() {
        assert_eq!(found("use super::b;\n"), Vec::<String>::new());
    }
}
