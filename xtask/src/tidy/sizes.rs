//! Functions have at most 70 lines, files at most 600. Clippy's `too_many_lines` allows 100 lines without
//! comments.

use super::files::{File, Files};
use super::lexer::{Kind, item_end, line_of, only};
use super::violation::Violation;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 600;

/// Every function that is too long, from the line with its name to its closing brace.
pub fn functions(files: &Files) -> Vec<Violation> {
    files.rust().filter(|file| file.is_ours()).flat_map(long_functions).collect()
}

/// Every file that is too long.
pub fn files(files: &Files) -> Vec<Violation> {
    let lines = files.rust().filter(|file| file.is_ours()).map(|file| (file, file.text.lines().count()));
    let long = lines.filter(|(_, lines)| *lines > FILE_LINES_MAX);
    long.map(|(file, lines)| Violation::new(&file.path, 0, format!("{lines} lines"))).collect()
}

fn long_functions(file: &File) -> Vec<Violation> {
    let code = only(&file.text, &file.segments, Kind::Code, ' ');
    let starts = code.match_indices("fn ").filter(|(at, _)| !code[..*at].ends_with(is_in_name));
    let lengths = starts.filter_map(|(at, _)| {
        let name: String = code[at + 3..].chars().take_while(|character| is_in_name(*character)).collect();
        let first = line_of(&code, at);
        let lines = line_of(&code, item_end(&code, at)) - first + 1;
        (!name.is_empty()).then_some((first, name, lines))
    });
    let long = lengths.filter(|(_, _, lines)| *lines > FUNCTION_LINES_MAX);
    long.map(|(line, name, lines)| Violation::new(&file.path, line, format!("{name}: {lines} lines")))
        .collect()
}

fn is_in_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!("/// x\nfn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_71_lines_is_reported_with_name_and_line() {
        let found = functions(&Files::of([("a.rs", &function(71))]));
        assert_eq!(found, [Violation::new("a.rs", 2, "long: 71 lines")]);
    }

    #[test]
    fn a_function_of_70_lines_and_a_function_type_are_not_reported() {
        assert!(functions(&Files::of([("a.rs", &function(70))])).is_empty());
        let pointers = format!("const A: fn (u8) = b;\ntrait T {{ fn f();\n{} }}\n", "\n".repeat(90));
        assert!(functions(&Files::of([("a.rs", &pointers)])).is_empty());
    }

    #[test]
    fn a_file_of_601_lines_is_reported() {
        let long = "\n".repeat(601);
        let found = files(&Files::of([("a.rs", &long), ("b.rs", &long[1..])]));
        assert_eq!(found, [Violation::new("a.rs", 0, "601 lines")]);
    }
}
