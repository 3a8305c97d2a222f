//! The row of an alignment table: a candidate, three times and their difference.

use flashscope_device::Bytes;

use crate::parse::number;
use crate::parse::number::{Reading, Unit};
use crate::parse::row::{CUT, Cells, PROSE, Reader, Refusal};
use crate::parse::words::Word;

impl<'a> Reader<'a> {
    /// Reads the row that begins with `word`, which is `align`.
    pub(super) fn align(&mut self, word: Word<'a>) -> Result<(), Refusal> {
        let candidate = match self.words.front().copied() {
            Some(next) if next.text.starts_with(|c: char| c.is_ascii_digit()) => next,
            Some(next) if next.text != "^C" || !word.first => return Err(PROSE),
            None if !word.first => return Err(PROSE),
            _ => return Err(CUT),
        };
        self.take();
        if !word.first && self.words.front().is_none_or(|next| next.text != "pre") {
            return Err(PROSE);
        }
        let times = [self.named_time("pre")?, self.named_time("on")?, self.named_time("post")?];
        let difference = self.difference();
        let bytes = number::candidate(candidate.text).ok_or("the candidate size is no whole number")?;
        if bytes == 0 || bytes % 512 != 0 {
            return Err("the candidate size is no multiple of 512 bytes");
        }
        let (before, across, after) = in_seconds(times, difference)?;
        self.push(word, Cells::Align { candidate: Bytes::new(bytes), before, across, after });
        Ok(())
    }

    /// `pre 543µs`, also `pre 543 µs`.
    fn named_time(&mut self, name: &str) -> Result<Reading, Refusal> {
        match self.words.front() {
            None => return Err(CUT),
            Some(word) if word.text == name => self.take(),
            Some(word) if matches!(word.text, "^C" | "align") => return Err(CUT),
            Some(_) => return Err("the times 'pre', 'on' and 'post' do not follow each other"),
        };
        let reading =
            self.words.front().and_then(|word| number::time(word.text)).ok_or("a time cannot be read")?;
        self.take();
        self.with_unit(reading).ok_or("a time has lost its unit")
    }

    /// The reading, with a unit that stands apart if it has none of its own.
    fn with_unit(&mut self, reading: Reading) -> Option<Reading> {
        if reading.unit != Unit::Missing {
            return Some(reading);
        }
        let unit = self
            .words
            .front()
            .and_then(|word| number::unit(word.text))
            .filter(|&unit| unit != Unit::Missing)?;
        self.take();
        Some(Reading { unit, ..reading })
    }

    /// The difference, if the row has it whole. It is only checked against the other three.
    fn difference(&mut self) -> Option<Reading> {
        self.words.front().filter(|word| word.text == "diff")?;
        self.take();
        let reading = self.words.front().and_then(|word| number::time(word.text))?;
        self.take();
        self.with_unit(reading)
    }
}

/// The three times in seconds. `s` alone may have lost its micro sign: of the two readings the one
/// is taken that agrees with the difference, microseconds if both do.
fn in_seconds(times: [Reading; 3], difference: Option<Reading>) -> Result<(f64, f64, f64), Refusal> {
    for bare in [1e-6, 1.0] {
        let seconds =
            times.map(|time| time.seconds(bare).filter(|seconds| *seconds >= 0.0 && *seconds < 1e6));
        let [Some(before), Some(across), Some(after)] = seconds else {
            return Err("a time is negative or absurd");
        };
        let difference = difference.and_then(|difference| difference.seconds(bare));
        if !difference.is_some_and(|difference| contradicts(before, across, after, difference)) {
            return Ok((before, across, after));
        }
    }
    Err("the difference contradicts the three times by far: one of the four is garbled")
}

/// Whether the printed difference contradicts these times. flashbench prints the mean difference beside the
/// mean times, so they agree to the printed digits: within 0.7 % of the largest time in 1175 published rows.
/// Other builds may condense differently; a quarter of the largest time is beyond any of that.
fn contradicts(before: f64, across: f64, after: f64, difference: f64) -> bool {
    let expected = across - f64::midpoint(before, after);
    (difference - expected).abs() > 0.25 * before.max(across).max(after)
}
