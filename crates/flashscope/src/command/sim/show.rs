//! `flashscope sim show`: a profile, and which of its numbers are measured, fitted or assumed.

use flashscope_sim::Profile;
use flashscope_sim::profile::Basis;

use crate::document::SimShowDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;

pub fn run(name: &str, printer: &Printer) -> Result<(), Failure> {
    let text = if name.contains('/') || name.ends_with(".toml") {
        std::fs::read_to_string(name).or_exit(Exit::Usage, format!("cannot read the profile {name}"))?
    } else {
        Profile::text(name).or_exit_bare(Exit::Usage)?.to_owned()
    };
    let profile = Profile::parse(&text).or_exit(Exit::Usage, name.to_owned())?;
    if printer.json {
        return Ok(printer.document(&SimShowDocument::new(&profile, text))?);
    }
    Ok(printer.result(&format!("{}\n{}", text.trim_end(), bases_text(&profile)))?)
}

/// The groups by basis, as TOML comments, so that the output is still a valid profile.
fn bases_text(profile: &Profile) -> String {
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
    format!("\n# Basis of the numbers\n{}", Basis::ALL.map(line).concat())
}
