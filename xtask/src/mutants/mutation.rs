//! Mutations of source text, made mechanically: one operator, literal or condition is replaced.

use std::ops::Range;

use crate::tidy::lexer::{product_code, segments};

/// One mutation of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// What is replaced, in bytes of the source.
    pub range: Range<usize>,
    /// What takes its place.
    pub to: String,
}

/// Operators and literals with what takes their place. Those with spaces around them are operators of two
/// values: rustfmt writes no other `<`, `>`, `+`, `-` and `*` so. A bound of a type or a pointer's type is
/// no such place.
const REPLACEMENTS: [(&str, &str); 16] = [
    (" == ", " != "),
    (" != ", " == "),
    (" <= ", " < "),
    (" >= ", " > "),
    (" < ", " <= "),
    (" > ", " >= "),
    (" && ", " || "),
    (" || ", " && "),
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " / "),
    (" / ", " * "),
    (" += ", " -= "),
    (" -= ", " += "),
    ("true", "false"),
    ("false", "true"),
];

/// Beginnings of lines that hold no computation.
const DECLARATIONS: [&str; 9] = ["use ", "pub use ", "mod ", "#", "impl", "pub fn ", "fn ", "where", "type "];

/// Every mutation of a source outside comments, strings and tests, in the order of the source.
pub fn mutations(source: &str) -> Vec<Mutation> {
    let code = product_code(source, &segments(source));
    let mut found = Vec::new();
    for (from, to) in REPLACEMENTS {
        let places = code.match_indices(from).map(|(at, _)| at..at + from.len());
        let places = places.filter(|range| is_computed(&code, range) && is_word(&code, range));
        found.extend(places.map(|range| Mutation { range, to: to.to_owned() }));
    }
    found.extend(conditions(&code, source));
    found.extend(limits(&code));
    found.sort_by_key(|mutation| (mutation.range.start, mutation.range.end));
    found
}

/// Whether a place is in a line of expressions: no declaration, no bound of a type.
fn is_computed(code: &str, range: &Range<usize>) -> bool {
    let start = code[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let line = code[start..].lines().next().unwrap_or_default().trim_start();
    let operator = &code[range.clone()];
    let is_bound =
        operator == " + " && (line.contains("impl ") || line.contains("dyn ") || line.contains(": Fn"));
    let before = code[..range.start].trim_end();
    let is_closure = operator == " || " && before.ends_with(['(', ',', '=']);
    !is_bound && !is_closure && !DECLARATIONS.iter().any(|declaration| line.starts_with(declaration))
}

/// Whether a place that is a word is a whole one.
fn is_word(code: &str, range: &Range<usize>) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let is_word = code[range.clone()].starts_with(is_part);
    !(is_word && (code[..range.start].ends_with(is_part) || code[range.end..].starts_with(is_part)))
}

/// Conditions of `if` in one line, negated. Patterns (`if let`) are no conditions. Their strings are those of
/// `source`: in `code` they are blank.
fn conditions(code: &str, source: &str) -> impl Iterator<Item = Mutation> {
    let places = code.match_indices("if ").map(|(at, _)| at..at + 2);
    places.filter_map(move |range| {
        let start = range.end + 1;
        let rest = code[start..].lines().next()?;
        // The guard of a pattern ends at the arrow. A literal of a struct would leave a parenthesis open.
        let condition = &rest[..rest.find(" => ").or_else(|| rest.find(" {"))?];
        let is_balanced = condition.matches('(').count() == condition.matches(')').count();
        let is_plain = is_balanced && !condition.contains("let ") && !condition.contains(['{', '}', ';']);
        let place = start..start + condition.len();
        let whole = source.get(place.clone())?;
        (is_plain && is_word(code, &range)).then(|| Mutation { range: place, to: format!("!({whole})") })
    })
}

/// Numbers of constants, moved by one tenth or by one.
fn limits(code: &str) -> impl Iterator<Item = Mutation> {
    let mut start = 0;
    code.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let value = line
            .find(" = ")
            .filter(|_| line.trim_start().trim_start_matches("pub ").starts_with("const "))?
            + 3;
        let end = line.trim_end().strip_suffix(';')?.len();
        let number = line.get(value..end)?;
        let to = match number.replace('_', "").parse::<u64>() {
            Ok(whole) => (whole + 1).to_string(),
            Err(_) => format!("{:?}", number.replace('_', "").parse::<f64>().ok()? * 1.1),
        };
        Some(Mutation { range: at + value..at + end, to })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source after each of its mutations.
    fn mutated(source: &str) -> Vec<String> {
        let apply = |mutation: Mutation| {
            let mut text = source.to_owned();
            text.replace_range(mutation.range, &mutation.to);
            text
        };
        mutations(source).into_iter().map(apply).collect()
    }

    #[test]
    fn operators_literals_and_conditions_are_replaced_one_at_a_time() {
        let source = "let a = b + 1 < c && true;";
        let expected = [
            "let a = b - 1 < c && true;",
            "let a = b + 1 <= c && true;",
            "let a = b + 1 < c || true;",
            "let a = b + 1 < c && false;",
        ];
        assert_eq!(mutated(source), expected);
        assert_eq!(mutated("if a.is_empty() {"), ["if !(a.is_empty()) {"]);
        assert_eq!(mutated("Some(a) if a.is_empty() => {"), ["Some(a) if !(a.is_empty()) => {"]);
        assert_eq!(mutated("if a.has(\"b c\") {"), ["if !(a.has(\"b c\")) {"], "a string stays");
        assert_eq!(mutated("if !(Self { a, b }).is_empty() {"), [""; 0]);
    }

    #[test]
    fn limits_of_constants_are_moved() {
        assert_eq!(mutated("pub const MOST: u64 = 1_000;"), ["pub const MOST: u64 = 1001;"]);
        assert_eq!(mutated("const SHARE: f64 = 0.5;"), ["const SHARE: f64 = 0.55;"]);
        assert_eq!(mutated("const SIZE: Bytes = Bytes::mib(1);"), [""; 0]);
    }

    #[test]
    fn types_patterns_comments_strings_and_tests_are_left_alone() {
        for source in [
            "let a: Vec<Option<u8>> = Vec::new();",
            "fn f(x: impl A + B) -> bool {",
            "let x: &(dyn A + B) = y;",
            "if let Some(a) = b {",
            "// a < b && true",
            "let a = \"b == c\";",
            "let is_true = untrue;",
            "let a = || 1;",
            "a.map_or_else(\n    || b,\n    c,\n);",
            "#[cfg(test)]\nmod tests {\n    fn f() -> bool { a == b }\n}",
        ] {
            assert_eq!(mutated(source), [""; 0], "{source}");
        }
    }
}
