//! `flashscope generate`: man pages and shell completions. Hidden from the help: `cargo xtask dist` packs
//! them.

use std::collections::BTreeMap;

use anyhow::anyhow;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// What stands at the foot of every man page.
const SOURCE: &str = concat!("flashscope ", env!("CARGO_PKG_VERSION"));

/// A file's text, made when it is asked for.
type Make = Box<dyn FnOnce() -> std::io::Result<Vec<u8>>>;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a name that no file has.
pub fn run(name: Option<&str>, printer: &Printer) -> Result<Exit, Failure> {
    let mut files = all();
    let Some(name) = name else {
        let names: String = files.keys().map(|name| format!("{name}\n")).collect();
        printer.result(&names)?;
        return Ok(Exit::Fine);
    };
    let Some(make) = files.remove(name) else {
        let error = anyhow!("cannot generate {name}; 'flashscope generate' prints the names");
        return Err(Failure { exit: Exit::Usage, error });
    };
    printer.result(&String::from_utf8_lossy(&make()?))?;
    Ok(Exit::Fine)
}

/// Every file, by name.
fn all() -> BTreeMap<String, Make> {
    let mut files = BTreeMap::new();
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        files.insert(shell.to_string(), Box::new(move || Ok(completion(shell))) as Make);
    }
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    insert_pages(&command, &mut files);
    files
}

/// The man page of a command and of each command below it that the help shows.
fn insert_pages(command: &Command, files: &mut BTreeMap<String, Make>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        insert_pages(below, files);
    }
    let examples = command.get_after_long_help().map(|text| sections(&text.to_string())).unwrap_or_default();
    let page = Man::new(command.clone().after_long_help(None::<&str>)).source(SOURCE);
    let name = page.get_filename();
    let make = move || {
        let mut text = Vec::new();
        page.render(&mut text)?;
        text.extend_from_slice(examples.as_bytes());
        Ok(text)
    };
    files.insert(name, Box::new(make));
}

/// The text after the options as sections of a man page, line by line: clap_mangen would fill the columns.
/// A line that is not indented is a heading.
fn sections(text: &str) -> String {
    let escape = |text: &str| text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let line = |line: &str| match line.strip_prefix("  ") {
        // A full stop at the start of a line would be a request.
        Some(text) => format!("\\&{}\n", escape(text)),
        None if line.is_empty() => String::new(),
        None => format!(".fi\n.SH {}\n.nf\n", escape(line.trim_end_matches(':')).to_uppercase()),
    };
    let lines: String = text.lines().map(line).collect();
    format!("{}.fi\n", lines.strip_prefix(".fi\n").unwrap_or(&lines))
}

fn completion(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "flashscope", &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_after_the_options_keeps_its_lines_in_sections() {
        let text = "Examples:\n  x --json    one\n  .y\n\nExit codes:\n  0   no problem";
        let expected = ".SH EXAMPLES\n.nf\n\\&x \\-\\-json    one\n\\&.y\n.fi\n\
                        .SH EXIT CODES\n.nf\n\\&0   no problem\n.fi\n";
        assert_eq!(sections(text), expected);
    }

    /// Clap's own command `help` has a copy of every command.
    #[test]
    fn command_for_help_has_no_man_pages() {
        let files = all();
        let of_help: Vec<&String> = files.keys().filter(|name| name.contains("help")).collect();
        assert!(of_help.is_empty(), "{of_help:?}");
        assert!(files.contains_key("flashscope-check.1"));
    }
}
