//! `flashscope sim show`: one profile, with its sources and what is measured, fitted and assumed of it.

use flashscope_sim::Profile;
use flashscope_sim::profile::Basis;
use serde_json::json;

use crate::exit::{Exit, Failure, OrExit};
use crate::json;
use crate::printer::Printer;

pub fn run(name: &str, printer: &Printer) -> Result<(), Failure> {
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
        let basis: Vec<_> = profile
            .bases()
            .iter()
            .map(|(group, basis)| json!({ "group": group, "basis": basis.as_str() }))
            .collect();
        let document = json!({ "name": profile.name, "description": profile.description, "truth": truth, "basis": basis, "profile": text });
        return Ok(printer.document(&json::document(document))?);
    }
    Ok(printer.result(&format!("{}\n{}", text.trim_end(), how_found(&profile)))?)
}

/// The groups by how their numbers were found, as comments, so that what is shown is still a profile.
fn how_found(profile: &Profile) -> String {
    let bases = profile.bases();
    let line = |basis: Basis| {
        let groups: Vec<&str> =
            bases.iter().filter(|(_, found)| *found == basis).map(|(group, _)| *group).collect();
        let (count, list) = (groups.len(), groups.join(", "));
        format!(
            "# {:<9} {count:>2} of {} groups{}{list}\n",
            basis.as_str(),
            bases.len(),
            if count > 0 { ": " } else { "" }
        )
    };
    format!("\n# How the numbers were found\n{}", Basis::ALL.map(line).concat())
}
