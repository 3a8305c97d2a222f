//! Disks as text: a line for each, and its facts below.

use std::fmt::Write as _;

use flashscope_linux::{Disk, Listing};
use flashscope_report::wrapped;

use super::words;

/// The names of facts fit.
const NAME_WIDTH: usize = 13;

/// Below that, a line too long reads better than a column of single words.
const TEXT_WIDTH_MIN: usize = 20;

/// All of it, in lines of at most `columns`, if that is not less than can be read.
pub fn listing(listing: &Listing, columns: usize) -> String {
    let disks = listing.disks.iter().map(|found| disk(found, columns));
    let idle = listing.missing.iter().map(|idle| paragraph(&words::idle(idle), columns));
    disks.chain(idle).collect::<Vec<_>>().join("\n")
}

/// A disk.
pub fn disk(disk: &Disk, columns: usize) -> String {
    let mut text = paragraph(&words::headline(disk), columns);
    for fact in words::facts(disk) {
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sysfs").join(machine);
        listing(&list(&Roots::copy(&folder)).unwrap(), columns)
    }

    #[test]
    fn every_machine_fits_into_eighty_columns() {
        let texts = MACHINES.map(|machine| text(machine, 80));
        insta::assert_snapshot!(texts.join("\n----\n"));
    }

    #[test]
    fn no_line_is_too_long_and_no_escape_gets_through() {
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
