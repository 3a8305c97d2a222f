//! A flashbench command line as people typed it: after a prompt, with shell arithmetic, wrapped by a
//! backslash or a mailer.

use crate::parse::options;
use crate::parse::stated::Stated;
use crate::parse::text::Line;

/// How a command line appears in the log.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mention {
    /// After a prompt: what follows is its output.
    Typed(Stated),
    /// In prose: it describes a table that has no command of its own.
    InProse(Vec<Stated>),
}

/// The largest number of lines of one command. Without it, unclosed shell arithmetic would swallow tables.
const MOST_LINES: usize = 5;

/// The command line that begins at the first of these lines, and how many lines it takes.
pub(super) fn read(lines: &[Line]) -> Option<(Mention, usize)> {
    let first = lines.first()?;
    if !mentions_flashbench(&first.text) {
        return None;
    }
    let (text, count) = joined(lines);
    let commands: Vec<Stated> =
        text.split([';', '|', '&']).filter_map(|part| command_in(part).map(|(stated, _)| stated)).collect();
    match command_in(&text) {
        Some((stated, true)) => Some((Mention::Typed(stated), count)),
        _ if commands.is_empty() => None,
        _ => Some((Mention::InProse(commands), count)),
    }
}

fn mentions_flashbench(text: &str) -> bool {
    text.contains("flashbench") || text.contains("--open-au") || text.contains("--find")
}

/// The whole command: further lines belong to it after a backslash, inside open arithmetic, or if they begin
/// with an option or a device.
fn joined(lines: &[Line]) -> (String, usize) {
    let mut text = lines[0].text.clone();
    let mut count = 1;
    while let Some(next) = lines.get(count).filter(|_| count < MOST_LINES) {
        let backslash = text.trim_end().ends_with('\\');
        let open = text.matches("$[").count() > text.matches(']').count();
        if !(backslash || open || begins_with_argument(&next.text)) {
            break;
        }
        text = format!("{} {}", text.trim_end().trim_end_matches('\\'), next.text);
        count += 1;
    }
    (text, count)
}

fn begins_with_argument(text: &str) -> bool {
    let first = text.split_whitespace().next();
    first.is_some_and(|word| options::is_option(word) || word.starts_with("/dev/"))
}

/// The parameters of the command in `text`, and whether only a prompt stands before it.
fn command_in(text: &str) -> Option<(Stated, bool)> {
    let compact = without_spaces_in_arithmetic(text);
    let words: Vec<&str> =
        compact.split_whitespace().map(|word| word.trim_matches(['"', '`', '\'', '*'])).collect();
    let program = words.iter().position(|word| is_flashbench(word));
    let start = program
        .map_or_else(|| words.iter().position(|word| word.starts_with("--open-au")), |at| Some(at + 1))?;
    let mut stated = options::read(&words[start..])?;
    stated.text = text.trim().to_owned();
    let typed = program.is_some_and(|at| words[..at].iter().all(|word| is_prompt(word)));
    Some((stated, typed))
}

fn is_flashbench(word: &str) -> bool {
    word.rsplit('/').next().is_some_and(|name| name == "flashbench" || name.ends_with("-flashbench"))
}

fn is_prompt(word: &str) -> bool {
    matches!(word, "sudo" | "root" | "time" | "nice" | "+" | "~" | "su" | "-c")
        || word.ends_with(['#', '$', '%', '>'])
        || word.contains('@')
        || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `$[8 * 1024]` as one word.
fn without_spaces_in_arithmetic(text: &str) -> String {
    let mut depth = 0_usize;
    let mut before = ' ';
    let mut compact = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' | '(' if depth > 0 || before == '$' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 || !c.is_whitespace() {
            compact.push(c);
        }
        before = c;
    }
    compact
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;

    use super::*;
    use crate::command::Command;
    use crate::parse::stated::TableKind;
    use flashscope_record::observation::Order;

    fn typed(text: &str) -> Option<Command> {
        let lines: Vec<Line> = text
            .lines()
            .enumerate()
            .map(|(at, text)| Line { number: at + 1, text: text.to_owned() })
            .collect();
        match read(&lines) {
            Some((Mention::Typed(stated), _)) => stated.command(),
            _ => None,
        }
    }

    fn open_units(erase_block: Bytes, open_units: u32, smallest: Bytes, order: Order) -> Option<Command> {
        Some(Command::OpenUnits { erase_block, open_units, smallest, order })
    }

    #[test]
    fn published_command_lines_are_read() {
        let mib = Bytes::mib;
        assert_eq!(
            typed("$ sudo ./flashbench /dev/sdc -a --blocksize=1024"),
            Some(Command::Align { read: Bytes::kib(1) })
        );
        assert_eq!(
            typed(
                "$ sudo ./flashbench -O --erasesize=$[4 * 1024 * 1024] \\\n  --blocksize=$[256 * 1024] /dev/x  --open-au-nr=2"
            ),
            open_units(mib(4), 2, Bytes::kib(256), Order::Linear)
        );
        assert_eq!(
            typed("root@host:~# flashbench -Or -e 8M -b$((4*1024)) --open-au-nr 9 /dev/sdc"),
            open_units(mib(8), 9, Bytes::kib(4), Order::Random)
        );
        assert_eq!(
            typed("# flashbench --erasesize=$[8*1024*1024] --findfat --fat-nr=4 /dev/sdc --random"),
            Some(Command::FindFat {
                erase_block: mib(8),
                units: 4,
                smallest: Bytes::kib(16),
                order: Order::Random
            })
        );
    }

    #[test]
    fn the_number_of_open_units_has_a_short_option_and_a_default() {
        let linear = |units| open_units(Bytes::mib(4), units, Bytes::kib(16), Order::Linear);
        for text in
            ["# ./flashbench -O -0 21 /dev/x", "# ./flashbench -O021 /dev/x", "# flashbench -0=21 -O /dev/x"]
        {
            assert_eq!(typed(text), linear(21), "{text}");
        }
        for text in ["$ flashbench -O /dev/x", "$ flashbench --open-au /dev/x"] {
            assert_eq!(typed(text), linear(2), "{text}");
        }
        assert_eq!(typed("$ flashbench -O -0 /dev/x"), None, "its value is missing");
    }

    #[test]
    fn a_command_wrapped_by_a_mailer_is_joined() {
        let text = "$ sudo ./flashbench --erasesize=$[8*1024*1024] --open-au /dev/sdc\n--open-au-nr=3";
        assert_eq!(typed(text), open_units(Bytes::mib(8), 3, Bytes::kib(16), Order::Linear));
    }

    #[test]
    fn a_command_goes_on_after_a_backslash_and_inside_arithmetic() {
        for text in [
            "$ flashbench -O --open-au-nr=3 \\\n  -e8M -b4096 /dev/x",
            "$ flashbench -O --open-au-nr=3 --erasesize=$[8 *\n1024 * 1024] -b4096 /dev/x",
        ] {
            assert_eq!(typed(text), open_units(Bytes::mib(8), 3, Bytes::kib(4), Order::Linear), "{text}");
        }
    }

    #[test]
    fn unreadable_parameters_stay_unknown() {
        assert_eq!(typed("$ flashbench --open-au --open-au-nr=$i /dev/sdc"), None);
        assert_eq!(typed("$ flashbench --open-au --open-au-nr=0 /dev/sdc"), None);
        assert_eq!(typed("$ flashbench -O --open-au-nr=3 --erasesize=$SIZE /dev/sdc"), None);
        assert_eq!(typed("$ flashbench --help"), None);
    }

    #[test]
    fn a_command_in_prose_is_not_a_typed_command() {
        let line = Line {
            number: 1,
            text: "I then ran flashbench -a /dev/sdb -b 1024; flashbench -f --fat-nr=8".to_owned(),
        };
        let Some((Mention::InProse(commands), 1)) = read(&[line]) else { panic!("not in prose") };
        assert_eq!(
            commands.iter().map(|stated| stated.kind).collect::<Vec<_>>(),
            [Some(TableKind::Align), Some(TableKind::FindFat)]
        );
    }

    #[test]
    fn unclosed_arithmetic_swallows_no_table() {
        let lines = [
            "$ flashbench -O --open-au-nr=2 --erasesize=$[4*1024",
            "4MiB 5M/s",
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
        ];
        let lines: Vec<Line> =
            lines.iter().map(|text| Line { number: 1, text: (*text).to_owned() }).collect();
        assert!(read(&lines).is_some_and(|(_, count)| count <= MOST_LINES));
    }
}
