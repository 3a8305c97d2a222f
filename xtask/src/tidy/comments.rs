//! Comment lines are at most 110 columns wide, as code is (`max_width` in `rustfmt.toml`; rustfmt does not
//! wrap comments).

use super::files::{File, Files};
use super::lexer::{Kind, line_of};
use super::violation::Violation;

const COLUMNS_MAX: usize = 110;

/// Every line that ends in a comment and is too wide.
pub fn check(files: &Files) -> Vec<Violation> {
    files.rust().filter(|file| file.is_ours()).flat_map(violations).collect()
}

fn violations(file: &File) -> Vec<Violation> {
    let lines: Vec<&str> = file.text.lines().collect();
    let comments = file.segments.iter().filter(|segment| segment.kind == Kind::Comment);
    let numbers = comments.flat_map(|segment| {
        line_of(&file.text, segment.range.start)..=line_of(&file.text, segment.range.end)
    });
    let wide = numbers.filter_map(|number| {
        let columns = lines.get(number - 1)?.chars().count();
        (columns > COLUMNS_MAX).then(|| Violation::new(&file.path, number, format!("{columns} columns")))
    });
    wide.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_comment_is_reported_and_wide_code_is_not() {
        let wide = format!("// {}\n", "x".repeat(108));
        let found = check(&Files::of([("a.rs", &format!("fn f() {{}}\n{wide}"))]));
        assert_eq!(found, [Violation::new("a.rs", 2, "111 columns")]);
        let code = format!("let a = \"{}\";\n// {}\n", "x".repeat(200), "é".repeat(107));
        assert!(check(&Files::of([("a.rs", &code)])).is_empty());
    }
}
