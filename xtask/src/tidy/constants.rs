//! The comment of a constant says what the number limits and where it comes from, without vague quantities.
//! `--constants` lists all numbers with these reasons.

use std::fmt::Write as _;

use super::files::{File, Files};
use super::lexer::{Kind, only, product_code};
use super::violation::{Violation, is_below};

const VAGUE: [&str; 4] = ["so many", "so much", "so often", "so seldom"];

/// Every constant whose comment holds a vague number.
pub fn check(files: &Files) -> Vec<Violation> {
    files.rust().filter(|file| file.is_ours()).flat_map(violations).collect()
}

fn violations(file: &File) -> Vec<Violation> {
    let code = only(&file.text, &file.segments, Kind::Code, ' ');
    let violation = |constant: Constant<'_>| {
        let comment = constant.comment.to_lowercase();
        let phrase = VAGUE.iter().find(|phrase| comment.contains(**phrase))?;
        Some(Violation::new(&file.path, constant.line, format!("{}: '{phrase}'", constant.name)))
    };
    constants(file, &code).into_iter().filter_map(violation).collect()
}

/// The numbers of the product's code below these paths, or of all of it: each with its value and its reason,
/// and how many there are.
pub fn list(files: &Files, paths: &[String]) -> String {
    let is_asked = |file: &&File| file.is_ours() && !file.is_test() && is_below(&file.path, paths);
    let (mut text, mut number) = (String::new(), 0);
    for file in files.rust().filter(is_asked) {
        let code = product_code(&file.text, &file.segments);
        for Constant { line, name, value, comment, .. } in
            constants(file, &code).into_iter().filter(Constant::is_number)
        {
            number += 1;
            let _ = writeln!(text, "{}:{line}: {name} = {value}\n    {}", file.path, comment.trim());
        }
    }
    text + &format!("{number} numeric constants\n")
}

/// A constant or static.
struct Constant<'a> {
    line: usize,
    name: &'a str,
    kind: &'a str,
    value: &'a str,
    comment: String,
}

impl Constant<'_> {
    fn is_number(&self) -> bool {
        let element = self.kind.trim_start_matches(['[', '(']);
        NUMBERS.iter().any(|number| element.starts_with(number))
    }
}

/// The constants in `code`, which is the code of the file with all else blanked out.
fn constants<'a>(file: &File, code: &'a str) -> Vec<Constant<'a>> {
    let mut constants = Vec::new();
    let mut comment = String::new();
    for ((line, text), code) in file.lines().zip(code.lines()) {
        let text = text.trim();
        if let Some(words) = text.strip_prefix("//") {
            comment += words.trim_start_matches('/').trim_start();
            comment.push(' ');
        } else if !text.starts_with("#[") {
            let comment = std::mem::take(&mut comment);
            let definition = definition(code);
            constants.extend(definition.map(|(name, kind, value)| Constant {
                line,
                name,
                kind,
                value,
                comment,
            }));
        }
    }
    constants
}

/// The types of numbers, times and sizes.
const NUMBERS: [&str; 12] =
    ["f64", "f32", "u8", "u16", "u32", "u64", "usize", "i32", "i64", "isize", "Duration", "Bytes"];

/// The name, the type and the value of the constant or static that a line of code defines.
fn definition(line: &str) -> Option<(&str, &str, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.trim_start();
        if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest }
    });
    let line = line.trim_start();
    let rest = line.strip_prefix("const ").or_else(|| line.strip_prefix("static "))?;
    let (name, rest) = rest.split_once(':')?;
    let (kind, value) = rest.split_once('=').unwrap_or((rest, ""));
    let is_name = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_name.then_some((name, kind.trim(), value.trim().trim_end_matches(';')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        check(&Files::of([("a.rs", source)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_constant_with_a_vague_comment_is_reported() {
        let vague = "so";
        let source = format!(
            "/// At most {vague} many\n/// blocks.\n#[rustfmt::skip]\npub(crate) const BLOCKS_MAX: u32 = 8;\n"
        );
        assert_eq!(found(&source), ["a.rs:4: BLOCKS_MAX: 'so many'"]);
    }

    #[test]
    fn a_constant_with_a_number_and_other_items_are_not_reported() {
        assert!(
            found("/// At most 8 blocks: the SD specification.\nconst BLOCKS_MAX: u32 = 8;\n").is_empty()
        );
        let vague = "so";
        assert!(found(&format!("/// {vague} much\nconst fn f() {{}}\nconst A: u8 = 1;\n")).is_empty());
    }

    #[test]
    fn numbers_of_the_product_are_listed_with_their_reasons() {
        let source = "#[cfg(test)]\nmod tests;\n/// At most this. Guess.\npub(super) const MAX: u32 = 8;\nconst NAME: &str = \"a\";\n\
                      const PAIR: [f64; 2] = [1.0, 2.0];\n#[cfg(test)]\nmod tests {\n    const OWN: u32 = 1;\n}\n";
        let files = Files::of([("crates/a.rs", source), ("crates/tests/b.rs", source)]);
        let listed =
            "crates/a.rs:4: MAX = 8\n    At most this. Guess.\ncrates/a.rs:6: PAIR = [1.0, 2.0]\n    \n";
        assert_eq!(list(&files, &[]), format!("{listed}2 numeric constants\n"));
        assert_eq!(list(&files, &["crates/b".to_owned()]), "0 numeric constants\n");
    }
}
