//! Arguments that are not UTF-8: run files and reports hold the target's name as text.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// The error of clap, with the arguments that it is about: clap does not name them. Any other error as it is.
pub fn naming_not_utf8(mut root: clap::Command, error: clap::Error, words: &[OsString]) -> clap::Error {
    let wrong = words.iter().filter(|word| word.to_str().is_none());
    let names: Vec<String> = wrong.map(|word| format!("{word:?}")).collect();
    if error.kind() != ErrorKind::InvalidUtf8 || names.is_empty() {
        return error;
    }
    let message = format!(
        "no valid UTF-8: {}; rename the file, or make a link to it with such a name (ln -s)",
        names.join(", ")
    );
    root.error(ErrorKind::InvalidUtf8, message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Arguments;

    fn error_of(words: &[&[u8]]) -> String {
        let words: Vec<OsString> = words.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
        let error = Arguments::try_parse_from(&words).unwrap_err();
        naming_not_utf8(Arguments::command(), error, &words).to_string()
    }

    #[test]
    fn argument_that_is_not_utf8_is_named() {
        let error = error_of(&[b"flashscope", b"check", b"/tmp/card\xff.img"]);
        assert!(error.contains(r#""/tmp/card\xFF.img""#) && error.contains("ln -s"), "{error}");
        let error = error_of(&[b"flashscope", b"check", b"sim:generic-2g", b"-o", b"page\xfe.html"]);
        assert!(error.contains(r#""page\xFE.html""#), "{error}");
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        let error = error_of(&[b"flashscope", b"chekc", b"/tmp/card\xff.img"]);
        assert!(!error.contains("UTF-8"), "{error}");
    }
}
