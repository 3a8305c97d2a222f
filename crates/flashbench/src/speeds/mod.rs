//! Reads the output of programs that measure speeds: fio, f3, KDiskMark, GNOME Disks. They show nothing of
//! how a device is built.

mod f3;
mod fio;
mod gnome_disks;
mod kdiskmark;

use flashscope_record::observation::{PublishedSpeed, ReadBack};

pub use self::fio::FioError;

/// What one of these programs printed.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Speeds {
    /// The program, with its version where the output has it.
    pub program: String,
    /// The speeds, at least one.
    pub rows: Vec<PublishedSpeed>,
    /// What it read back of the data that it wrote, in sectors.
    pub read_back: ReadBack,
    /// What else the output says and a reader should know, one sentence each.
    pub remarks: Vec<String>,
}

/// Reads the lines of an output; `None` if none of the programs printed it.
///
/// # Errors
/// [`FioError`] for a JSON document of fio without a usable job.
pub fn read(lines: &[&str]) -> Result<Option<Speeds>, FioError> {
    if let Some(speeds) = fio::read(lines)? {
        return Ok(Some(speeds));
    }
    Ok([f3::read, kdiskmark::read, gnome_disks::read].iter().find_map(|read| read(lines)))
}

/// A positive number, as these programs print it: `1,234.5`, `31.9`, and `31,9` where the comma is the
/// decimal sign. All print decimals, so the last separator is the decimal sign unless it occurs twice.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let decimal = text.rfind(['.', ',']).filter(|at| text.matches(&text[*at..=*at]).count() == 1);
    let plain: String = text
        .char_indices()
        .filter_map(|(at, c)| match c {
            '.' | ',' => (Some(at) == decimal).then_some('.'),
            _ => Some(c),
        })
        .collect();
    plain.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

#[cfg(test)]
fn sample(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/other-programs");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[cfg(test)]
fn speeds_of(text: &str) -> Option<Speeds> {
    read(&text.lines().collect::<Vec<_>>()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_tables_of_flashbench_are_none() {
        for text in [
            "",
            "4MiB 15M/s",
            "it wrote at 12 MB/s",
            "{}",
            "[Read]",
            "Average Read Rate is nice",
            "Data OK: all",
        ] {
            assert_eq!(speeds_of(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_have_the_separators_of_any_language() {
        for (text, value) in [
            (" 1,234.5", 1234.5),
            ("1.234,5", 1234.5),
            ("31,5", 31.5),
            ("141,250", 141.25),
            ("4,90", 4.9),
            ("1,234,567", 1_234_567.0),
            ("528", 528.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["", "0", "-3", "nan", "inf", "1e999", "x"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
