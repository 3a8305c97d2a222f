//! The recordings that a command replays: which there are, and what of them does not fit a stick.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_recording::{Choice, Recordings};

use crate::exit::{Exit, Failure, OrExit};

/// The recordings in `folder`; without one, those of the program.
///
/// # Errors
/// Exit code 2 if they cannot be read.
pub fn open(folder: Option<&Path>) -> Result<Recordings, Failure> {
    folder.map_or_else(Recordings::embedded, Recordings::in_folder).or_exit_bare(Exit::Usage)
}

/// The filesystems that were recorded.
pub fn variants(recordings: &Recordings) -> BTreeSet<&str> {
    recordings.list().iter().map(|each| each.variant.as_str()).collect()
}

/// Refuses a filesystem without recordings.
///
/// # Errors
/// Exit code 2, with the similar one and all that there are.
pub fn refuse_unknown(recordings: &Recordings, asked: &[String]) -> Result<(), Failure> {
    let known = variants(recordings);
    let Some(unknown) = asked.iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
    let nearest = known.iter().min_by_key(|name| strsim::damerau_levenshtein(name, unknown));
    let hint = nearest
        .filter(|name| strsim::damerau_levenshtein(name, unknown) <= 2)
        .map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
    let all = known.iter().copied().collect::<Vec<_>>().join(", ");
    let error = anyhow!("no recording is of the filesystem '{unknown}'{hint}; there are: {all}");
    Err(Failure { exit: Exit::Usage, error })
}

/// A note for each filesystem whose options were chosen for another erase block than this.
pub fn notes_on_options(choices: &[Choice<'_>], erase_block: Bytes) -> Vec<String> {
    let others: BTreeSet<(&str, Bytes)> = choices
        .iter()
        .filter_map(|choice| Some((choice.write.variant.as_str(), choice.write.erase_block?)))
        .filter(|(_, recorded)| *recorded != erase_block)
        .collect();
    let note = |(variant, recorded): (&str, Bytes)| {
        format!(
            "the options of {variant} were chosen for erase blocks of {recorded}; this stick has {erase_block}"
        )
    };
    others.into_iter().map(note).collect()
}
