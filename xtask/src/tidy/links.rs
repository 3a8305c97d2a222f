//! Links between the pages of the repository.

use super::files::{File, Files};
use super::violation::Violation;

/// Every relative link in a Markdown file that leads to no file and no folder.
pub fn check(files: &Files) -> Vec<Violation> {
    let pages = files.0.iter().filter(|file| file.has_extension("md"));
    pages.flat_map(|page| dead_links(page, files)).collect()
}

fn dead_links(page: &File, files: &Files) -> Vec<Violation> {
    let is_dead = |target: &&str| resolve(&page.path, target).is_none_or(|path| !files.has(&path));
    let targets = page.lines().flat_map(|(line, text)| targets(text).map(move |target| (line, target)));
    let dead = targets.filter(|(_, target)| is_dead(target));
    dead.map(|(line, target)| Violation::new(&page.path, line, format!("the link to '{target}' is dead")))
        .collect()
}

/// The targets of `[text](target)` in a line that are paths of the repository, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = links.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    paths.filter_map(|target| target.split('#').next()).filter(|target| !target.is_empty())
}

/// A link's target as a path from the root; `None` if it leads out of the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut components: Vec<&str> = page.split('/').collect();
    components.pop();
    for component in target.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                components.pop()?;
            }
            name => components.push(name),
        }
    }
    Some(components.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_and_resolved() {
        let found: Vec<&str> =
            targets("see [a](../x.md#top), [b](https://x.y/z) and ![c](pic.png)").collect();
        assert_eq!(found, ["../x.md", "pic.png"]);
        assert_eq!(resolve("docs/methods/align.md", "../x.md"), Some("docs/x.md".to_owned()));
        assert_eq!(resolve("README.md", "../out.md"), None);
    }

    #[test]
    fn a_dead_link_is_reported_and_a_live_one_is_not() {
        let files = Files::of([("docs/a.md", "[b](b.md)\n[c](c.md)\n"), ("docs/b.md", "")]);
        assert_eq!(check(&files), [Violation::new("docs/a.md", 2, "the link to 'c.md' is dead")]);
    }
}
