//! Rows out of words. A row is looked for word by word, not line by line, so that wrapped, merged and cut
//! rows are found, too.

use std::collections::VecDeque;

use flashscope_device::Bytes;

use crate::parse::log::Problem;
use crate::parse::number;
use crate::parse::text::Line;
use crate::parse::words::{Word, words};

/// A row that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Its first line.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
    /// What it says.
    pub cells: Cells,
    /// Whether the program was interrupted after it.
    pub interrupted: bool,
    /// Whether someone rewrote its sizes or speeds in units that flashbench does not print.
    pub rewritten: bool,
    /// Whether its last speed is cut off, which is a problem of its own.
    pub cut: bool,
}

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cells {
    /// `align 8388608 pre 543µs on 819µs post 656µs diff 219µs`; seconds.
    Align { candidate: Bytes, before: f64, across: f64, after: f64 },
    /// `8MiB 15M/s`, one speed per column; bytes per second.
    Speeds { request: Bytes, speeds: Vec<f64> },
}

impl Cells {
    /// What the row is about: the candidate, or the request size.
    pub(super) const fn key(&self) -> Bytes {
        match self {
            Self::Align { candidate, .. } => *candidate,
            Self::Speeds { request, .. } => *request,
        }
    }
}

/// The rows among these lines, and what looks like a row but cannot be read.
pub(super) fn read(lines: &[Line]) -> (Vec<Row>, Vec<Problem>) {
    let mut reader =
        Reader { words: words(lines), lines, last_line: 0, rows: Vec::new(), problems: Vec::new() };
    while reader.step() {}
    (reader.rows, reader.problems)
}

/// Why a row could not be read. An empty reason means prose, not a row.
pub(super) type Refusal = &'static str;
pub(super) const PROSE: Refusal = "";
pub(super) const CUT: Refusal = "the row is cut off before its end";

/// A cursor over the words.
pub(super) struct Reader<'a> {
    /// What is left.
    pub(super) words: VecDeque<Word<'a>>,
    lines: &'a [Line],
    /// Index of the line of the word taken last.
    last_line: usize,
    rows: Vec<Row>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// Reads or skips one thing; false at the end.
    fn step(&mut self) -> bool {
        let Some(word) = self.take() else { return false };
        let result = match word.text {
            "^C" => {
                self.interrupted();
                return true;
            }
            "align" => self.align(word),
            text => match number::size(text) {
                Some(request) => self.speeds(word, request, false),
                None => self.rewritten(word),
            },
        };
        if let Err(reason) = result
            && reason != PROSE
        {
            self.problem(word, reason);
        }
        true
    }

    pub(super) fn take(&mut self) -> Option<Word<'a>> {
        let word = self.words.pop_front()?;
        self.last_line = word.line;
        Some(word)
    }

    fn take_words(&mut self, count: usize) {
        for _ in 0..count {
            self.take();
        }
    }

    fn interrupted(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.interrupted = true;
        }
    }

    fn problem(&mut self, word: Word<'_>, reason: &str) {
        let line = &self.lines[word.line];
        let text = line.text.trim().chars().take(100).collect();
        self.problems.push(Problem { line: line.number, text, reason: reason.to_owned() });
    }

    /// Keeps a row that ends with the word taken last.
    pub(super) fn push(&mut self, first: Word<'_>, cells: Cells) {
        let (first_line, last_line) = (self.lines[first.line].number, self.lines[self.last_line].number);
        self.rows.push(Row {
            first_line,
            last_line,
            cells,
            interrupted: false,
            rewritten: false,
            cut: false,
        });
    }

    /// A row of speeds whose size was rewritten: `4M 5.1M/s`, `4 MiB 5.1M/s`. Without a following speed it is
    /// not a row.
    fn rewritten(&mut self, word: Word<'a>) -> Result<(), Refusal> {
        let is_unit = |next: &&Word<'_>| matches!(next.text, "KiB" | "MiB" | "GiB") && next.line == word.line;
        let apart = self.words.front().filter(is_unit);
        let apart = apart.and_then(|unit| number::size(&format!("{}{}", word.text, unit.text)));
        let request = number::rewritten_size(word.text).or(apart).ok_or(PROSE)?;
        let unit = usize::from(number::rewritten_size(word.text).is_none());
        self.speed_at(unit).ok_or(PROSE)?;
        self.take_words(unit);
        self.speeds(word, request, true)
    }

    /// The speed in the word at `index` of those left, and how many words it takes; its unit may stand apart,
    /// on the same line.
    fn speed_at(&self, index: usize) -> Option<(f64, usize)> {
        let (word, next) = (self.words.get(index)?, self.words.get(index + 1));
        let unit = next.filter(|next| next.line == word.line && next.text.ends_with("/s"));
        let apart = || Some((number::rewritten_speed(&format!("{}{}", word.text, unit?.text))?, 2));
        number::rewritten_speed(word.text).map(|speed| (speed, 1)).or_else(apart)
    }

    fn speeds(&mut self, word: Word<'a>, request: Bytes, rewritten: bool) -> Result<(), Refusal> {
        let mut speeds = Vec::new();
        let mut rewritten = rewritten;
        while let Some((speed, count)) = self.speed_at(0) {
            rewritten |=
                count > 1 || self.words.front().is_some_and(|next| number::speed(next.text).is_none());
            self.take_words(count);
            speeds.push(speed);
        }
        let cut =
            self.words.front().is_some_and(|next| next.line == self.last_line && is_cut_speed(next.text));
        match speeds.as_slice() {
            [] if cut || (word.first && self.is_at_the_end_of(word.line)) => return Err(CUT),
            [] => return Err(PROSE),
            speeds if speeds.iter().any(|speed| *speed <= 0.0) => return Err("a speed is not above zero"),
            _ => {}
        }
        self.push(word, Cells::Speeds { request, speeds });
        if let Some(row) = self.rows.last_mut() {
            (row.rewritten, row.cut) = (rewritten, cut);
        }
        if cut { Err("the row's last speed is cut off") } else { Ok(()) }
    }

    /// Whether nothing but an interrupt is left on this line.
    fn is_at_the_end_of(&self, line: usize) -> bool {
        self.words.front().is_none_or(|next| next.line != line || next.text == "^C")
    }
}

/// A speed without its end, `4.2` or `4.25M`.
fn is_cut_speed(word: &str) -> bool {
    let number = word.trim_end_matches(['K', 'M', 'G', '/']);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().enumerate().map(|(at, text)| Line { number: at + 1, text: text.to_owned() }).collect()
    }

    fn keys(text: &str) -> Vec<u64> {
        read(&lines(text)).0.iter().map(|row| row.cells.key().get()).collect()
    }

    fn reasons(text: &str) -> Vec<(usize, String)> {
        read(&lines(text)).1.into_iter().map(|problem| (problem.line, problem.reason)).collect()
    }

    const ROW: &str = "align 8388608 pre 543µs on 819µs post 656µs diff 219µs";

    #[test]
    fn wrapped_and_merged_rows_are_read() {
        assert_eq!(keys(&ROW.replace(" post", "\n post")), [8 << 20]);
        assert_eq!(keys(&format!("{ROW}{ROW} {ROW}")), [8 << 20, 8 << 20, 8 << 20]);
        assert_eq!(keys("4MiB 8.86M/s 2MiB 6.3M/s1MiB 5M/s"), [4 << 20, 2 << 20, 1 << 20]);
        let (rows, problems) = read(&lines("4MiB 8.5M/s 8.6M/s\n 8.7M/s\n2MiB 8M/s 8M/s 8M/s"));
        assert_eq!((rows.len(), rows[0].last_line, problems.len()), (2, 2, 0));
        assert_eq!(
            rows[0].cells,
            Cells::Speeds { request: Bytes::mib(4), speeds: vec![8.5e6, 8.6e6, 8.7e6] }
        );
    }

    #[test]
    fn a_lost_micro_sign_is_found_by_the_difference() {
        let before = |text: &str| match read(&lines(text)).0[0].cells {
            Cells::Align { before, .. } => before,
            Cells::Speeds { .. } => 0.0,
        };
        assert!((before("align 4096 pre 735s on 1.08ms post 780s diff 324s") - 735e-6).abs() < 1e-12);
        assert!((before("align 4096 pre 1.2s on 1.5s post 1.2s diff 300ms") - 1.2).abs() < 1e-12);
    }

    #[test]
    fn cut_and_garbled_rows_become_problems_with_their_line() {
        assert_eq!(reasons("8MiB 15M/s\n4MiB 14.2M\n2MiB\n"), [(2, CUT.to_owned()), (3, CUT.to_owned()),]);
        assert_eq!(reasons("align 8388608 pre 543µs on 8").len(), 1);
        assert_eq!(reasons("align 8388608 pre 543µs on 819µs post 656\nalign").len(), 2);
        assert_eq!(reasons("align 8388608 pre 543µs on 819ms post 656µs diff 219µs").len(), 1);
        assert_eq!(reasons("align 838860 pre 543µs on 819µs post 656µs diff 219µs").len(), 1);
        assert_eq!(reasons("4MiB 0M/s").len(), 1);
    }

    #[test]
    fn prose_is_ignored() {
        for text in ["the erase block is 8MiB and", "align it to 4MiB", "512KiB blocks are slow", "diff 9ns"]
        {
            assert_eq!((keys(text).len(), reasons(text).len()), (0, 0), "{text}");
        }
    }

    #[test]
    fn rows_in_other_units_are_marked_rewritten() {
        for text in ["4MiB 6.45 M/s", "4 MiB 6.45 M/s", "4M 6.45M/s", "4MB 6,45M/s", "|4M|6.45 MB/s|"] {
            let (rows, problems) = read(&lines(text));
            let cells = Cells::Speeds { request: Bytes::mib(4), speeds: vec![6.45e6] };
            assert_eq!((rows.len(), problems.len()), (1, 0), "{text}");
            assert_eq!((&rows[0].cells, rows[0].rewritten), (&cells, true), "{text}");
        }
        assert_eq!(keys("42 4MiB 6.45M/s"), [4 << 20], "after a line number");
        for text in ["4 MiB of it", "4M and more", "52 MB in 3.06 seconds", "5 5.1M/s"] {
            assert_eq!((keys(text).len(), reasons(text).len()), (0, 0), "{text}");
        }
    }

    #[test]
    fn an_interrupt_belongs_to_the_row_before_it() {
        let (rows, problems) = read(&lines("1MiB 6.79M/s\n512KiB 4.25M/s ^C"));
        assert_eq!((rows[0].interrupted, rows[1].interrupted, problems.len()), (false, true, 0));
    }
}
