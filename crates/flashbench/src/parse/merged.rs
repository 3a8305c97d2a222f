//! Restores lost line breaks: web pages merge a command and its table into one line.

use crate::parse::number;
use crate::parse::text::Line;

/// The same lines, with a break before every prompt and before the first row after a command.
pub(super) fn unmerge(lines: Vec<Line>) -> Vec<Line> {
    lines
        .into_iter()
        .flat_map(|line| if line.text.contains("flashbench") { parts(&line) } else { vec![line] })
        .collect()
}

/// The parts of a line; all have its number.
fn parts(line: &Line) -> Vec<Line> {
    let words: Vec<&str> = line.text.split(' ').collect();
    let mut parts = vec![String::new()];
    for (at, word) in words.iter().enumerate() {
        let part_is_command = parts.last().is_some_and(|part| part.contains("flashbench"));
        let breaks = matches!(*word, "$" | "#") || part_is_command && is_row(&words[at..]);
        match parts.last_mut() {
            Some(part) if !breaks => part.push_str(word),
            _ => parts.push((*word).to_owned()),
        }
        if let Some(part) = parts.last_mut() {
            part.push(' ');
        }
    }
    let line = |text: String| Line { number: line.number, text: text.trim_end().to_owned() };
    parts.into_iter().filter(|part| !part.trim().is_empty()).map(line).collect()
}

fn is_row(words: &[&str]) -> bool {
    let mut words = words.iter().filter(|word| !word.is_empty());
    let (first, second) = (words.next(), words.next());
    match (first, second) {
        (Some(&"align"), Some(second)) => second.starts_with(|c: char| c.is_ascii_digit()),
        (Some(first), Some(second)) => number::size(first).is_some() && number::speed(second).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        unmerge(vec![Line { number: 7, text: text.to_owned() }]).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn merged_commands_and_tables_are_split() {
        let line = "$ apt install flashbench $ sudo flashbench -a /dev/x align 4096 pre 1ms on 1ms post 1ms";
        assert_eq!(
            texts(line),
            ["$ apt install flashbench", "$ sudo flashbench -a /dev/x", "align 4096 pre 1ms on 1ms post 1ms"]
        );
        assert_eq!(texts("# flashbench -O --open-au-nr=2 4MiB 5M/s 2MiB 4M/s").len(), 2);
    }

    #[test]
    fn ordinary_lines_stay_whole() {
        for line in ["root # flashbench -a <device>", "flashbench: align 4 MiB", "4MiB 8M/s  $ x"] {
            assert!(texts(line).concat().replace(' ', "") == line.replace(' ', ""), "{line}");
        }
        assert_eq!(texts("flashbench --align --blocksize=1024").len(), 1);
    }
}
