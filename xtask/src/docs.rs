//! `cargo xtask docs`: one reference page per command, generated from the program's help.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::output::print;
use crate::process::{self, repository};

/// Whether to write or to check the pages.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Write nothing; fail if a page differs from the help
    #[arg(long)]
    check: bool,
}

/// Writes the pages, or checks them.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.check { check() } else { write() }
}

/// Fails if a page is missing, obsolete, or different from the help.
pub fn check() -> anyhow::Result<()> {
    let pages = pages()?;
    let mut stale: Vec<String> = present()?.into_iter().filter(|name| !pages.contains_key(name)).collect();
    for (name, page) in &pages {
        if fs::read_to_string(folder().join(name)).ok().as_ref() != Some(page) {
            stale.push(name.clone());
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("docs/reference is stale: {}; run 'cargo xtask docs'", stale.join(", "))
}

fn write() -> anyhow::Result<()> {
    let pages = pages()?;
    fs::create_dir_all(folder())?;
    for name in present()?.into_iter().filter(|name| !pages.contains_key(name)) {
        fs::remove_file(folder().join(name))?;
    }
    for (name, page) in &pages {
        fs::write(folder().join(name), page)
            .with_context(|| format!("cannot write docs/reference/{name}"))?;
    }
    Ok(print(&format!("{} pages in docs/reference\n", pages.len()))?)
}

fn folder() -> PathBuf {
    repository().join("docs/reference")
}

/// The names of the existing pages.
fn present() -> anyhow::Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(folder()) else { return Ok(Vec::new()) };
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect()
}

/// Every page, by file name.
fn pages() -> anyhow::Result<BTreeMap<String, String>> {
    let binary = process::built_binary("flashscope", &["--release"])?;
    let mut pages = BTreeMap::new();
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let help = help(&binary, &command)?;
        for name in subcommands(&help) {
            commands.push([command.clone(), vec![name]].concat());
        }
        pages.insert(file_name(&command), page(&command, &help));
    }
    Ok(pages)
}

/// The help of a command, 100 columns wide on every terminal.
fn help(binary: &PathBuf, command: &[String]) -> anyhow::Result<String> {
    let mut process = Command::new(binary);
    process.args(command).arg("--help").env("COLUMNS", "100").env("NO_COLOR", "1");
    process::output(&mut process)
}

/// The names under `Commands:`, without clap's own `help`.
fn subcommands(help: &str) -> Vec<String> {
    let section =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name = |line: &str| {
        let entry = line.strip_prefix("  ").filter(|entry| !entry.starts_with(' '))?;
        entry.split_whitespace().next().map(str::to_owned)
    };
    section.filter_map(name).filter(|name| name != "help").collect()
}

fn file_name(command: &[String]) -> String {
    let words = std::iter::once("flashscope").chain(command.iter().map(String::as_str));
    format!("{}.md", words.collect::<Vec<_>>().join("-"))
}

fn page(command: &[String], help: &str) -> String {
    let words = std::iter::once("flashscope").chain(command.iter().map(String::as_str));
    let title = words.collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    format!(
        "# {title}\n\nWritten by `cargo xtask docs` from the program's own help.\n\n```text\n{}\n```\n",
        text.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_found_in_the_help() {
        let help = "Why slow?\n\nUsage: x\n\nCommands:\n  check    Checks\n           all of it\n  measure  Measures\n  help     Helps\n\nOptions:\n  -q  Quiet\n";
        assert_eq!(subcommands(help), ["check", "measure"]);
        assert_eq!(subcommands("Usage: x\n"), Vec::<String>::new());
    }

    #[test]
    fn a_page_is_named_after_its_command() {
        let command = ["measure".to_owned(), "align".to_owned()];
        assert_eq!(file_name(&command), "flashscope-measure-align.md");
        assert!(page(&command, "Usage: x  \n").starts_with("# flashscope measure align\n"));
    }
}
