//! `flashscope sim list`: the built-in profiles, a line each.

use std::fmt::Write as _;

use flashscope_sim::Profile;
use serde_json::json;

use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

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
