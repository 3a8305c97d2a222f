//! Links between the pages of the repository.

use super::Complaint;
use super::files::{File, Files};

/// Every relative link in a Markdown file leads to a file or a folder.
pub fn lead_somewhere(files: &Files) -> Vec<Complaint> {
    let pages = files.0.iter().filter(|file| file.has_extension("md"));
    pages.flat_map(|page| dead_links(page, files)).collect()
}

fn dead_links(page: &File, files: &Files) -> Vec<Complaint> {
    let dead = |target: &&str| resolve(&page.path, target).is_none_or(|path| !files.has(&path));
    let complaint =
        |(line, target): (usize, &str)| format!("{}:{line}: the link to '{target}' leads nowhere", page.path);
    let targets = page.lines().flat_map(|(line, text)| targets(text).map(move |target| (line, target)));
    targets.filter(|(_, target)| dead(target)).map(complaint).collect()
}

/// The targets of `[text](target)` in a line that are paths of the repository, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = links.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    paths.filter_map(|target| target.split('#').next()).filter(|target| !target.is_empty())
}

/// A link's target as a path from the root; `None` if it leads out of the repository.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
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
}
