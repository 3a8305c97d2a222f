//! A mistyped subcommand where a target may stand as well, so that clap takes the word for a target.

use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;

/// Words with less similarity (Jaro and Winkler) are no typing mistakes. Guess: two exchanged letters of four
/// are above it, the name of a disk is below.
const SIMILARITY_MIN: f64 = 0.85;

/// The error of a word that follows a command with subcommands and a target, and is no file but nearly a
/// subcommand.
pub fn mistyped_subcommand(mut root: clap::Command, words: &[OsString]) -> Option<clap::Error> {
    root.build();
    let at = words.iter().skip(1).position(|word| root.find_subcommand(word).is_some())? + 1;
    let parent = root.find_subcommand_mut(&words[at])?;
    let word = words.get(at + 1)?.to_str()?;
    let takes_target = parent.get_positionals().next().is_some();
    let is_option = word.starts_with('-');
    let is_path = word.contains('/') || Path::new(word).symlink_metadata().is_ok();
    if !takes_target || is_option || is_path || parent.find_subcommand(word).is_some() {
        return None;
    }
    let known = parent.get_subcommands().map(|known| known.get_name().to_owned());
    let similar = known
        .map(|known| (strsim::jaro_winkler(word, &known), known))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)?;
    let command = parent.get_name();
    let message = format!("no file or device is named {word}; did you mean '{command} {similar}'?");
    Some(parent.error(ErrorKind::InvalidSubcommand, message))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    fn error_of(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        mistyped_subcommand(Arguments::command(), &words).map(|error| error.to_string())
    }

    #[test]
    fn mistyped_subcommand_is_answered_with_the_similar_one() {
        for (line, similar) in [
            ("flashscope bench raed /dev/sdX", "bench read"),
            ("flashscope bench raed", "bench read"),
            ("flashscope --json bench sustaind sim:generic-2g --seed 3", "bench sustained"),
            ("flashscope report comapre a.json b.json", "report compare"),
        ] {
            let error = error_of(line).unwrap_or_default();
            assert!(error.contains(&format!("did you mean '{similar}'?")), "{line}: {error}");
        }
    }

    #[test]
    fn target_is_no_mistyped_subcommand() {
        for line in [
            "flashscope bench read /dev/sdX",
            "flashscope bench sdb",
            "flashscope bench ./raed",
            "flashscope bench generic-2g",
            "flashscope bench --order sequential",
            "flashscope bench --help",
            "flashscope bench -h",
            "flashscope bench",
            "flashscope report run.json",
            "flashscope check raed",
        ] {
            assert_eq!(error_of(line), None, "{line}");
        }
    }
}
