//! The known violations: how many each rule has in each area of the repository, a number that may only fall.
//!
//! A rule is added before everything complies with it. `known.toml` states what is left, and tidy fails on
//! more.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::violation::Violation;

/// The file of numbers, relative to the root of the repository.
pub const PATH: &str = "xtask/src/tidy/known.toml";

const HEADER: &str =
    "# Violations that are left, per rule and area. Fix some, then run: cargo xtask tidy --lower\n";

/// The number of violations, by rule and area.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<String, BTreeMap<String, usize>>);

impl Known {
    /// The numbers in the repository.
    ///
    /// # Errors
    /// Fails if the file is not TOML of this form.
    pub fn of_repository() -> anyhow::Result<Self> {
        Ok(Self(toml::from_str(include_str!("known.toml")).with_context(|| format!("reading {PATH}"))?))
    }

    /// The number allowed for a rule in an area.
    pub fn allowed(&self, rule: &str, area: &str) -> usize {
        self.0.get(rule).and_then(|areas| areas.get(area)).copied().unwrap_or(0)
    }

    /// Counts the violations of a rule.
    pub fn count(&mut self, rule: &str, violations: &[Violation]) {
        for violation in violations {
            *self
                .0
                .entry(rule.to_owned())
                .or_default()
                .entry(area(violation.path()).to_owned())
                .or_default() += 1;
        }
    }

    /// The rules and areas in which fewer are left than `other` allows, with both numbers.
    pub fn below<'a>(&self, other: &'a Self) -> Vec<(&'a str, &'a str, usize, usize)> {
        let mut below = Vec::new();
        for (rule, areas) in &other.0 {
            for (area, allowed) in areas {
                let left = self.allowed(rule, area);
                if left < *allowed {
                    below.push((rule.as_str(), area.as_str(), left, *allowed));
                }
            }
        }
        below
    }

    /// The same with each number at most that of `other`.
    pub fn lowered_to(&self, other: &Self) -> Self {
        let mut lowered = Self::default();
        for (rule, areas) in &self.0 {
            for (area, allowed) in areas {
                let left = other.allowed(rule, area).min(*allowed);
                if left > 0 {
                    lowered.0.entry(rule.clone()).or_default().insert(area.clone(), left);
                }
            }
        }
        lowered
    }

    /// The file's text.
    ///
    /// # Errors
    /// Fails if the numbers cannot be written as TOML.
    pub fn text(&self) -> anyhow::Result<String> {
        Ok(format!("{HEADER}\n{}", toml::to_string(&self.0)?))
    }
}

/// `crates/infer` of `crates/infer/src/lib.rs`; the first directory of other paths, or the file itself.
pub fn area(path: &str) -> &str {
    let depth = if path.starts_with("crates/") { 2 } else { 1 };
    path.match_indices('/').nth(depth - 1).map_or(path, |(end, _)| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(paths: &[&str]) -> Known {
        let violations: Vec<Violation> = paths.iter().map(|path| Violation::new(path, 1, "x")).collect();
        let mut known = Known::default();
        known.count("rule", &violations);
        known
    }

    #[test]
    fn an_area_is_a_crate_or_the_first_directory() {
        assert_eq!(area("crates/infer/src/lib.rs"), "crates/infer");
        assert_eq!(area("docs/methods/files.md"), "docs");
        assert_eq!(area("README.md"), "README.md");
    }

    #[test]
    fn numbers_only_fall() {
        let (two, one) = (counted(&["crates/a/x.rs", "crates/a/y.rs"]), counted(&["crates/a/x.rs"]));
        assert_eq!(two.lowered_to(&one), one);
        assert_eq!(one.lowered_to(&two), one);
        assert_eq!(two.lowered_to(&Known::default()), Known::default());
        assert_eq!(one.below(&two), [("rule", "crates/a", 1, 2)]);
        assert!(two.below(&one).is_empty());
    }

    #[test]
    fn the_text_reads_back() {
        let known = counted(&["crates/a/x.rs", "docs/b.md"]);
        assert_eq!(Known(toml::from_str(&known.text().unwrap()).unwrap()), known);
    }
}
