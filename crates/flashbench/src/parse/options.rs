//! flashbench's options: what each means, and what holds where it is not given.

use flashscope_device::Bytes;

use flashscope_record::observation::Order;

use crate::command::Command;
use crate::parse::stated::{Stated, TableKind};

/// How many units `--open-au` writes into where none is given, by flashbench's source.
const DEFAULT_OPEN_UNITS: u32 = 2;
/// How many units `--find-fat` looks at where none is given, by flashbench's own help.
const DEFAULT_FAT_UNITS: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Align,
    OpenUnits,
    FindFat,
    Random,
    BlockSize,
    EraseSize,
    OpenUnitCount,
    FatUnitCount,
    /// Changes nothing that is read here, and takes no value.
    Flag,
    /// Changes nothing that is read here, and takes a value.
    Other,
}

impl Choice {
    const fn takes_value(self) -> bool {
        use Choice::{BlockSize, EraseSize, FatUnitCount, OpenUnitCount, Other};
        matches!(self, BlockSize | EraseSize | OpenUnitCount | FatUnitCount | Other)
    }
}

/// Long options without their inner hyphens, because published command lines have `--findfat` and
/// `--find-fat`, and getopt takes any unique beginning; and the short form, if there is one.
const CHOICES: [(&str, Option<char>, Choice); 16] = [
    ("align", Some('a'), Choice::Align),
    ("blocksize", Some('b'), Choice::BlockSize),
    ("count", Some('c'), Choice::Other),
    ("erasesize", Some('e'), Choice::EraseSize),
    ("findfat", Some('f'), Choice::FindFat),
    ("fatnr", None, Choice::FatUnitCount),
    ("interval", Some('i'), Choice::Flag),
    ("intervalorder", None, Choice::Other),
    ("out", Some('o'), Choice::Other),
    ("openau", Some('O'), Choice::OpenUnits),
    ("openaunr", Some('0'), Choice::OpenUnitCount),
    ("offset", None, Choice::Other),
    ("random", Some('r'), Choice::Random),
    ("scatter", Some('s'), Choice::Flag),
    ("scatterorder", None, Choice::Other),
    ("verbose", Some('v'), Choice::Flag),
];

/// What the options among `words` ask for, up to the end of the command; `None` if it is none of the three
/// tables.
pub(super) fn read(words: &[&str]) -> Option<Stated> {
    let mut given = Given::default();
    let mut words = words.iter().copied().take_while(|word| !matches!(*word, ";" | "|" | "&&" | ">"));
    while let Some(word) = words.next() {
        for (choice, attached) in choices_in(word) {
            let value = choice.takes_value().then(|| attached.or_else(|| words.next())).flatten();
            given.take(choice, value);
        }
    }
    given.with_defaults()
}

/// Whether a word is one of flashbench's options, spelt so that nothing else is meant.
pub(super) fn is_option(word: &str) -> bool {
    if let Some(name) = word.strip_prefix("--") {
        return long(name.split('=').next().unwrap_or(name)).is_some();
    }
    let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
    letters.next().and_then(short).is_some() && letters.next().is_none()
}

/// The options in one word: one long, or several short ones of which the last may have its value attached.
fn choices_in(word: &str) -> Vec<(Choice, Option<&str>)> {
    if let Some(name) = word.strip_prefix("--") {
        let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
        return long(name).map(|choice| (choice, value)).into_iter().collect();
    }
    let Some(letters) = word.strip_prefix('-') else { return Vec::new() };
    let mut choices = Vec::new();
    for (at, letter) in letters.char_indices() {
        let Some(choice) = short(letter) else { break };
        let rest = letters[at + letter.len_utf8()..].trim_start_matches('=');
        if choice.takes_value() {
            choices.push((choice, Some(rest).filter(|rest| !rest.is_empty())));
            break;
        }
        choices.push((choice, None));
    }
    choices
}

fn short(letter: char) -> Option<Choice> {
    CHOICES.iter().find(|(_, short, _)| *short == Some(letter)).map(|(_, _, choice)| *choice)
}

fn long(name: &str) -> Option<Choice> {
    let name = name.replace(['-', '_'], "").to_ascii_lowercase();
    let exact = CHOICES.iter().find(|(long, ..)| *long == name);
    let mut beginnings = CHOICES.iter().filter(|(long, ..)| name.len() > 1 && long.starts_with(&name));
    exact.or_else(|| beginnings.next().filter(|_| beginnings.next().is_none())).map(|(_, _, choice)| *choice)
}

/// Options as they come; an outer `Some` says that the option was given, an inner one that its value could be
/// read.
#[derive(Default)]
struct Given {
    stated: Stated,
    erase_block: Option<Option<u64>>,
    block: Option<Option<u64>>,
    open_units: Option<Option<u64>>,
    fat_units: Option<Option<u64>>,
}

impl Given {
    fn take(&mut self, choice: Choice, value: Option<&str>) {
        let number = value.and_then(number);
        match choice {
            Choice::Align => self.stated.kind = Some(TableKind::Align),
            Choice::OpenUnits => self.stated.kind = Some(TableKind::OpenUnits),
            Choice::FindFat => self.stated.kind = Some(TableKind::FindFat),
            Choice::OpenUnitCount => self.open_units = Some(number),
            Choice::FatUnitCount => self.fat_units = Some(number),
            Choice::BlockSize => self.block = Some(number),
            Choice::EraseSize => self.erase_block = Some(number),
            Choice::Random => self.stated.order = Some(Order::Random),
            Choice::Flag | Choice::Other => {}
        }
    }

    /// With flashbench's own defaults for what was not given. An option that was given but cannot be read has
    /// none. `-a` has no default here: published tables show that builds differ in it.
    fn with_defaults(self) -> Option<Stated> {
        let size = |given: Option<Option<u64>>, default: Bytes| {
            given.map_or(Some(default), |value| value.map(Bytes::new))
        };
        let mut stated = self.stated;
        let count = |given: Option<Option<u64>>, default: u32| {
            given.map_or(Some(default), |count| count.and_then(|count| u32::try_from(count).ok()))
        };
        stated.open_units = count(self.open_units, DEFAULT_OPEN_UNITS).filter(|&units| units > 0);
        stated.order = stated.order.or(Some(Order::Linear));
        stated.erase_block =
            size(self.erase_block, Command::DEFAULT_ERASE_BLOCK).filter(|size| !size.is_zero());
        stated.fat_units = count(self.fat_units, DEFAULT_FAT_UNITS);
        stated.block = match stated.kind? {
            TableKind::Align => self.block.flatten().map(Bytes::new),
            TableKind::OpenUnits | TableKind::FindFat => size(self.block, Command::DEFAULT_BLOCK),
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

    #[test]
    fn arithmetic_that_overflows_is_no_number() {
        assert_eq!(number("$[8*1024*1024]"), Some(8 << 20));
        assert_eq!(number("1<<22"), Some(4 << 20));
        assert_eq!(number("$[99999999999*99999999999]"), None);
        assert_eq!(number("$i"), None);
    }

    #[test]
    fn options_are_distinguished_from_other_words() {
        for word in ["--blocksize=1024", "--erase", "--find_fat", "-r", "-b"] {
            assert!(is_option(word), "{word}");
        }
        for word in ["--", "-", "-Arnd", "--e", "----------", "-5", "--open"] {
            assert!(!is_option(word), "{word}");
        }
    }
}
