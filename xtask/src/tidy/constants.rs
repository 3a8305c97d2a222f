//! The comment of a constant says what the number limits and where it comes from, without vague quantities.

use super::files::{File, Files};
use super::lexer::{Kind, only};
use super::violation::Violation;

const VAGUE: [&str; 4] = ["so many", "so much", "so often", "so seldom"];

/// Every constant whose comment holds a vague number.
pub fn check(files: &Files) -> Vec<Violation> {
    files.rust().filter(|file| file.is_ours()).flat_map(violations).collect()
}

fn violations(file: &File) -> Vec<Violation> {
    let code = only(&file.text, &file.segments, Kind::Code, ' ');
    let lines: Vec<(&str, &str)> = file.text.lines().zip(code.lines()).collect();
    let mut violations = Vec::new();
    let mut comment = String::new();
    for (index, (text, code)) in lines.iter().enumerate() {
        let text = text.trim();
        if let Some(words) = text.strip_prefix("//") {
            comment += words.trim_start_matches('/').trim_start();
            comment.push(' ');
        } else if !text.starts_with("#[") {
            let vague = VAGUE.iter().find(|phrase| comment.to_lowercase().contains(**phrase));
            if let (Some(name), Some(phrase)) = (constant(code), vague) {
                violations.push(Violation::new(&file.path, index + 1, format!("{name}: '{phrase}'")));
            }
            comment.clear();
        }
    }
    violations
}

/// The name of the constant or static that a line of code defines.
fn constant(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        let rest = rest.trim_start();
        if rest.starts_with('(') { rest.split_once(')').map_or(rest, |(_, rest)| rest) } else { rest }
    });
    let line = line.trim_start();
    let rest = line.strip_prefix("const ").or_else(|| line.strip_prefix("static "))?;
    let (name, _) = rest.split_once(':')?;
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_').then_some(name)
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
}
