//! A flashbench command line as people typed it: after a prompt, with shell arithmetic, wrapped by a backslash or a mailer.

use flashscope_device::Bytes;

use super::stated::{Kind, Stated};
use super::text::Line;
use crate::flashbench::Command;
use crate::observation::Order;

/// How a command line stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mention {
    /// After a prompt: what follows is its output.
    Typed(Stated),
    /// In a sentence: it explains a table that has no command of its own.
    Told(Vec<Stated>),
}

/// How many units `--find-fat` looks at where none is given, by flashbench's own help.
const DEFAULT_FAT_UNITS: u32 = 6;

/// Long options without their inner hyphens, because published command lines have `--findfat` and `--find-fat`, and
/// getopt takes any unique beginning.
const OPTIONS: [(&str, char); 14] = [
    ("align", 'a'),
    ("blocksize", 'b'),
    ("count", 'c'),
    ("erasesize", 'e'),
    ("findfat", 'f'),
    ("fatnr", 'F'),
    ("interval", 'i'),
    ("out", 'o'),
    ("openau", 'O'),
    ("openaunr", 'N'),
    ("offset", 'p'),
    ("random", 'r'),
    ("scatter", 's'),
    ("verbose", 'v'),
];
const WITH_VALUE: [char; 7] = ['b', 'c', 'e', 'F', 'N', 'o', 'p'];

/// The command line that begins at the first of these lines, and how many lines it takes.
pub(super) fn read(lines: &[Line]) -> Option<(Mention, usize)> {
    let first = lines.first()?;
    if !mentions_flashbench(&first.text) {
        return None;
    }
    let (text, count) = joined(lines);
    let told: Vec<Stated> =
        text.split([';', '|']).filter_map(|part| command_in(part).map(|(stated, _)| stated)).collect();
    match command_in(&text) {
        Some((stated, true)) => Some((Mention::Typed(stated), count)),
        _ if told.is_empty() => None,
        _ => Some((Mention::Told(told), 1)),
    }
}

fn mentions_flashbench(text: &str) -> bool {
    text.contains("flashbench") || text.contains("--open-au") || text.contains("--find")
}

/// The whole command: further lines belong to it after a backslash, inside open arithmetic, or if they begin with an
/// option or a device.
fn joined(lines: &[Line]) -> (String, usize) {
    let mut text = lines[0].text.clone();
    let mut count = 1;
    while let Some(next) = lines.get(count) {
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
    let Some(word) = text.split_whitespace().next() else { return false };
    let long = word.strip_prefix("--").and_then(|rest| rest.split('=').next()).and_then(long_option);
    let short = word.strip_prefix('-').filter(|rest| rest.len() == 1).and_then(|rest| rest.chars().next());
    let known = |option: char| OPTIONS.iter().any(|(_, known)| *known == option);
    long.is_some() || short.is_some_and(known) || word.starts_with("/dev/")
}

/// The parameters of the command in `text`, and whether only a prompt stands before it.
fn command_in(text: &str) -> Option<(Stated, bool)> {
    let compact = without_spaces_in_arithmetic(text);
    let words: Vec<&str> =
        compact.split_whitespace().map(|word| word.trim_matches(['"', '`', '\''])).collect();
    let program = words.iter().position(|word| is_flashbench(word));
    let start = program
        .map_or_else(|| words.iter().position(|word| word.starts_with("--open-au")), |at| Some(at + 1))?;
    let mut stated = options(&words[start..])?;
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
    let mut compact = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 || !c.is_whitespace() {
            compact.push(c);
        }
    }
    compact
}

/// The options among `words`, up to the end of the command; `None` if none of the three tables is asked for.
fn options(words: &[&str]) -> Option<Stated> {
    let mut given = Given::default();
    let mut words =
        words.iter().copied().take_while(|word| !matches!(*word, ";" | "|" | "&&" | ">")).peekable();
    while let Some(word) = words.next() {
        for (option, attached) in options_of(word) {
            let value = WITH_VALUE.contains(&option).then(|| attached.or_else(|| words.next())).flatten();
            given.take(option, value);
        }
    }
    given.with_defaults()
}

/// The options in one word: one long, or several short ones of which the last may have its value attached.
fn options_of(word: &str) -> Vec<(char, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        return long_option(name).map(|option| (option, value)).into_iter().collect();
    }
    let Some(short) = word.strip_prefix('-') else { return Vec::new() };
    let mut options = Vec::new();
    for (at, option) in short.char_indices() {
        let rest = &short[at + option.len_utf8()..];
        if WITH_VALUE.contains(&option) {
            options.push((option, Some(rest.trim_start_matches('=')).filter(|rest| !rest.is_empty())));
            break;
        }
        options.push((option, None));
    }
    options
}

fn long_option(name: &str) -> Option<char> {
    let name = name.replace(['-', '_'], "").to_ascii_lowercase();
    let exact = OPTIONS.iter().find(|(long, _)| *long == name);
    let mut beginnings = OPTIONS.iter().filter(|(long, _)| name.len() > 1 && long.starts_with(&name));
    exact.or_else(|| beginnings.next().filter(|_| beginnings.next().is_none())).map(|(_, option)| *option)
}

/// Options as they come; an outer `Some` says that the option was given, an inner one that its value could be read.
#[derive(Default)]
struct Given {
    stated: Stated,
    erase_block: Option<Option<u64>>,
    block: Option<Option<u64>>,
    fat_units: Option<Option<u64>>,
}

impl Given {
    fn take(&mut self, option: char, value: Option<&str>) {
        let number = value.and_then(number);
        match option {
            'a' => self.stated.kind = Some(Kind::Align),
            'O' => self.stated.kind = Some(Kind::OpenUnits),
            'f' => self.stated.kind = Some(Kind::FindFat),
            'N' => self.stated.open_units = number.and_then(|count| u32::try_from(count).ok()),
            'F' => self.fat_units = Some(number),
            'b' => self.block = Some(number),
            'e' => self.erase_block = Some(number),
            'r' => self.stated.order = Some(Order::Random),
            _ => {}
        }
    }

    /// With flashbench's own defaults for what was not given. An option that was given but cannot be read has none.
    /// `-a` has no default here: published tables show that builds differ in it.
    fn with_defaults(self) -> Option<Stated> {
        let size = |given: Option<Option<u64>>, default: Bytes| {
            given.map_or(Some(default), |value| value.map(Bytes::new))
        };
        let mut stated = self.stated;
        stated.open_units = stated.open_units.filter(|&units| units > 0);
        stated.order = stated.order.or(Some(Order::Linear));
        stated.erase_block =
            size(self.erase_block, Command::DEFAULT_ERASE_BLOCK).filter(|size| !size.is_zero());
        stated.fat_units = match self.fat_units {
            None => Some(DEFAULT_FAT_UNITS),
            Some(count) => count.and_then(|count| u32::try_from(count).ok()),
        };
        stated.block = match stated.kind? {
            Kind::Align => self.block.flatten().map(Bytes::new),
            Kind::OpenUnits | Kind::FindFat => size(self.block, Command::DEFAULT_BLOCK),
        }
        .filter(|size| !size.is_zero());
        Some(stated)
    }
}

/// `4096`, `8M`, `$[8*1024*1024]`, `$((8*1024))`, `1<<20`.
pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches(['$', '[', '(']).trim_end_matches([']', ')', ',', '"']);
    text.split('*').map(shifted).try_fold(1_u64, |product, factor| product.checked_mul(factor?))
}

fn shifted(text: &str) -> Option<u64> {
    let Some((value, shift)) = text.split_once("<<") else {
        return text.trim().parse().ok().map(Bytes::get);
    };
    let factor = 1_u64.checked_shl(shift.trim().parse().ok()?)?;
    value.trim().parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_mailers_line_break_is_mended() {
        let text = "$ sudo ./flashbench --erasesize=$[8*1024*1024] --open-au /dev/sdc\n--open-au-nr=3";
        assert_eq!(typed(text), open_units(Bytes::mib(8), 3, Bytes::kib(16), Order::Linear));
    }

    #[test]
    fn what_cannot_be_read_is_not_made_up() {
        assert_eq!(typed("$ flashbench --open-au --open-au-nr=$i /dev/sdc"), None);
        assert_eq!(typed("$ flashbench --open-au /dev/sdc"), None);
        assert_eq!(typed("$ flashbench -O --open-au-nr=3 --erasesize=$SIZE /dev/sdc"), None);
        assert_eq!(typed("$ flashbench --help"), None);
    }

    #[test]
    fn a_command_in_a_sentence_is_told_not_typed() {
        let line = Line {
            number: 1,
            text: "I then ran flashbench -a /dev/sdb -b 1024; flashbench -f --fat-nr=8".to_owned(),
        };
        let Some((Mention::Told(told), 1)) = read(&[line]) else { panic!("not told") };
        assert_eq!(
            told.iter().map(|stated| stated.kind).collect::<Vec<_>>(),
            [Some(Kind::Align), Some(Kind::FindFat)]
        );
    }

    #[test]
    fn arithmetic_that_overflows_is_no_number() {
        assert_eq!(number("$[8*1024*1024]"), Some(8 << 20));
        assert_eq!(number("1<<22"), Some(4 << 20));
        assert_eq!(number("$[99999999999*99999999999]"), None);
        assert_eq!(number("$i"), None);
    }
}
