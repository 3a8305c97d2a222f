//! `cargo xtask tidy`: the house rules that the compiler does not know.

mod files;
mod links;
mod rules;

use anyhow::bail;

use self::files::Files;

/// One broken rule: where, and what is wrong.
type Complaint = String;

/// Checks every rule and reports all that is broken.
pub fn run() -> anyhow::Result<()> {
    let files = Files::of_repository()?;
    let rules: [fn(&Files) -> Vec<Complaint>; 8] = [
        rules::consent_is_made_by_the_confirm_step_only,
        rules::unsafe_lives_in_the_linux_crate,
        rules::modules_say_what_they_are_for,
        rules::no_paths_of_one_machine,
        rules::nothing_is_left_to_do,
        rules::the_changelog_has_this_version,
        rules::every_experiment_has_its_page,
        links::lead_somewhere,
    ];
    let complaints: Vec<Complaint> = rules.iter().flat_map(|rule| rule(&files)).collect();
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("{} broken:\n  {}", complaints.len(), complaints.join("\n  "))
}
