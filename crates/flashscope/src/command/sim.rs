//! `flashscope sim`: the virtual sticks.

use std::fmt::Write as _;

use flashscope_sim::Profile;
use serde_json::json;

use crate::args::Sim;
use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a profile that is not there or impossible.
pub fn run(arguments: &Sim, printer: &Printer) -> Result<Exit, Failure> {
    match arguments {
        Sim::List => list(printer)?,
        Sim::Show { profile } => show(profile, printer)?,
    }
    Ok(Exit::Fine)
}

fn list(printer: &Printer) -> Result<(), Failure> {
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
    let width = profiles.iter().map(|profile| profile.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for profile in &profiles {
        let _infallible = writeln!(
            text,
            "{:width$}  {:>9}  {}",
            profile.name,
            profile.capacity.to_string(),
            profile.description
        );
    }
    Ok(printer.result(&text)?)
}

fn show(name: &str, printer: &Printer) -> Result<(), Failure> {
    let text = if name.contains('/') || name.ends_with(".toml") {
        std::fs::read_to_string(name).or_exit(Exit::Usage, format!("cannot read the profile {name}"))?
    } else {
        Profile::text(name).or_exit_bare(Exit::Usage)?.to_owned()
    };
    let profile = Profile::parse(&text).or_exit(Exit::Usage, name.to_owned())?;
    if printer.json {
        let truth = profile.truth();
        let truth = json!({
            "erase_block_bytes": truth.erase_block,
            "page_bytes": truth.page,
            "open_units_linear": truth.open_units_linear,
            "open_units_random": truth.open_units_random,
            "fat_area_bytes": truth.fat_area,
        });
        let document = json!({ "name": profile.name, "description": profile.description, "truth": truth, "profile": text });
        return Ok(printer.document(&json::document(document))?);
    }
    Ok(printer.result(&text)?)
}
