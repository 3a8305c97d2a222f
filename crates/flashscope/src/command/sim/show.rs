//! `flashscope sim show`: one profile, with its sources.

use flashscope_sim::Profile;
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
        let document = json!({ "name": profile.name, "description": profile.description, "truth": truth, "profile": text });
        return Ok(printer.document(&json::document(document))?);
    }
    Ok(printer.result(&text)?)
}
