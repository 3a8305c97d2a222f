//! Disks as text: a headline and its facts.

use std::fmt::Write as _;

use flashscope_linux::{Disk, Listing};
use flashscope_report::wrapped;

use crate::text::disk as text;

/// Columns for the names of facts.
const NAME_WIDTH: usize = 13;

/// The narrowest column of text. Guess: below, an overlong line reads better than a column of single words.
const TEXT_WIDTH_MIN: usize = 20;

/// All disks, in lines of at most `columns`.
pub fn listing(listing: &Listing, columns: usize) -> String {
    let disks = listing.disks.iter().map(|found| disk(found, columns));
    let idle = listing.missing.iter().map(|idle| paragraph(&text::idle(idle), columns));
    disks.chain(idle).collect::<Vec<_>>().join("\n")
}

/// One disk.
pub fn disk(disk: &Disk, columns: usize) -> String {
    let mut text = paragraph(&text::headline(disk), columns);
    for fact in text::facts(disk) {
        let mut name = fact.name;
        for line in wrapped(&fact.text, columns.saturating_sub(NAME_WIDTH + 3).max(TEXT_WIDTH_MIN)) {
            let _infallible = writeln!(text, "  {name:NAME_WIDTH$} {line}");
            name = String::new();
        }
    }
    text
}

fn paragraph(text: &str, columns: usize) -> String {
    wrapped(text, columns.max(TEXT_WIDTH_MIN)).join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use flashscope_linux::{Roots, list};

    use super::*;

    const MACHINES: [&str; 4] = ["desktop", "card-readers", "raspberry-pi", "hostile"];

    fn text(machine: &str, columns: usize) -> String {
        let copy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(machine);
        listing(&list(&Roots::copy(&copy)).unwrap(), columns)
    }

    #[test]
    fn listing_fits_eighty_columns() {
        let texts = MACHINES.map(|machine| text(machine, 80));
        insta::assert_snapshot!(texts.join("\n----\n"));
    }

    #[test]
    fn lines_fit_the_terminal_and_hold_no_escapes() {
        for (machine, columns) in
            MACHINES.into_iter().flat_map(|machine| [(machine, 40), (machine, 80), (machine, 132)])
        {
            let text = text(machine, columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            assert!(
                !text.contains(|character: char| character.is_control() && character != '\n'),
                "{text:?}"
            );
        }
    }
}
