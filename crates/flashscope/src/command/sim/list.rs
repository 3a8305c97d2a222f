//! `flashscope sim list`: the built-in profiles, a line each.

use std::fmt::Write as _;

use flashscope_report::wrapped;
use flashscope_sim::Profile;
use serde_json::json;

use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

// "9999 MiB" and "14.9 GiB" fit.
const CAPACITY_WIDTH: usize = 9;

// Below that, a line too long reads better than a column of single words.
const DESCRIPTION_WIDTH_MIN: usize = 24;

pub fn run(printer: &Printer) -> Result<(), Failure> {
    let profiles: Vec<Profile> = Profile::builtin_names()
        .map(Profile::builtin)
        .collect::<Result<_, _>>()
        .or_exit_bare(Exit::Failed)?;
    if printer.json {
        let profiles: Vec<_> = profiles
            .iter()
            .map(|profile| json!({ "name": profile.name, "description": profile.description, "capacity_bytes": profile.capacity }))
            .collect();
        return Ok(printer.document(&json::document(json!({ "profiles": profiles })))?);
    }
    Ok(printer.result(&table(&profiles, printer.width()))?)
}

/// Names, sizes and descriptions; a description that does not fit goes on in its own column.
fn table(profiles: &[Profile], columns: usize) -> String {
    let name_width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let description_width =
        columns.saturating_sub(name_width + CAPACITY_WIDTH + 4).max(DESCRIPTION_WIDTH_MIN);
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
