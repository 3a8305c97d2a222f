//! `flashscope sim list`: the built-in profiles.

use std::fmt::Write as _;

use flashscope_report::wrapped;
use flashscope_sim::Profile;

use crate::document::SimListDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

/// "9999 MiB" and "14.9 GiB" fit.
const CAPACITY_WIDTH: usize = 9;

/// The narrowest column of descriptions. Guess: below, they are printed under the names.
const DESCRIPTION_WIDTH_MIN: usize = 36;
const INDENT: &str = "    ";

pub fn run(printer: &Printer) -> Result<(), Failure> {
    let profiles: Vec<Profile> = Profile::builtin_names()
        .map(Profile::builtin)
        .collect::<Result<_, _>>()
        .or_exit_bare(Exit::Failed)?;
    if printer.json {
        return Ok(printer.document(&SimListDocument::from(profiles.as_slice()))?);
    }
    Ok(printer.result(&table(&profiles, printer.width()))?)
}

/// Names, capacities and descriptions, wrapped in their column.
fn table(profiles: &[Profile], columns: usize) -> String {
    let name_width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let description_width = columns.saturating_sub(name_width + CAPACITY_WIDTH + 4);
    if description_width < DESCRIPTION_WIDTH_MIN {
        return profiles.iter().map(|profile| paragraph(profile, columns)).collect();
    }
    let mut text = String::new();
    for profile in profiles {
        let capacity = profile.capacity.to_string();
        let (mut name, mut capacity) = (profile.name.as_str(), capacity.as_str());
        for line in wrapped(&profile.description, description_width) {
            let _infallible = writeln!(text, "{name:name_width$}  {capacity:>CAPACITY_WIDTH$}  {line}");
            (name, capacity) = ("", "");
        }
    }
    text
}

/// A profile on a narrow terminal, with the description below.
fn paragraph(profile: &Profile, columns: usize) -> String {
    let below = wrapped(&profile.description, columns.saturating_sub(INDENT.len()));
    let below: String = below.iter().map(|line| format!("{INDENT}{line}\n")).collect();
    format!("{}  {}\n{below}", profile.name, profile.capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_fits_the_terminal_and_breaks_no_word() {
        let profiles: Vec<Profile> =
            Profile::builtin_names().map(|name| Profile::builtin(name).unwrap()).collect();
        for columns in [40, 60, 80, 100, 132] {
            let text = table(&profiles, columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            let described = profiles.iter().flat_map(|profile| profile.description.split_whitespace());
            assert!(described.into_iter().all(|word| words.contains(&word)), "{columns}: {text}");
        }
    }
}
