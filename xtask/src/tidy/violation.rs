//! One violation of a rule: where it is, and what to change.

use std::fmt;

/// A violation. Violations sort by path, then by line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    path: String,
    /// Counted from 1; 0 if the violation concerns the whole file.
    line: usize,
    message: String,
}

impl Violation {
    pub fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// The path, relative to the root of the repository.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the path begins with one of `prefixes`; always true without prefixes.
    pub fn is_below(&self, prefixes: &[String]) -> bool {
        is_below(&self.path, prefixes)
    }
}

/// Whether a path begins with one of these, or there are none.
pub fn is_below(path: &str, prefixes: &[String]) -> bool {
    prefixes.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix.as_str()))
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.message),
            line => write!(formatter, "{}:{line}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_path_and_line() {
        assert_eq!(Violation::new("a.rs", 3, "too long").to_string(), "a.rs:3: too long");
        assert_eq!(Violation::new("a.rs", 0, "missing").to_string(), "a.rs: missing");
    }

    #[test]
    fn a_prefix_selects_the_files_below_it() {
        let violation = Violation::new("crates/sim/src/lib.rs", 1, "");
        assert!(violation.is_below(&[]) && violation.is_below(&["crates/sim".to_owned()]));
        assert!(!violation.is_below(&["crates/linux".to_owned()]));
    }
}
