//! `cargo xtask docs`: one reference page per command, from the binary's own help, the JSON Schema of each
//! document, and the page of filesystems.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::docs_filesystems::{self, PAGE};
use crate::output::print;
use crate::process::{self, repository};

/// What to do with the files.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Write nothing; fail if a page or schema is stale.
    #[arg(long)]
    check: bool,
}

/// A directory whose files are all generated, by name.
struct Generated {
    directory: &'static str,
    files: BTreeMap<String, String>,
}

/// Writes the files, or checks them.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binary = process::built_binary("flashscope", &["--release"])?;
    if arguments.check { check(&binary) } else { write(&binary) }
}

/// Fails if a file is missing, left over, or not what the binary says.
pub fn check(binary: &Path) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for generated in all(binary)? {
        stale.extend(generated.stale()?.into_iter().map(|name| format!("{}/{name}", generated.directory)));
    }
    if fs::read_to_string(repository().join(PAGE)).ok() != Some(docs_filesystems::page(binary)?) {
        stale.push(PAGE.to_owned());
    }
    if stale.is_empty() {
        return Ok(());
    }
    bail!("stale: {}; run 'cargo xtask docs'", stale.join(", "))
}

fn write(binary: &Path) -> anyhow::Result<()> {
    for generated in all(binary)? {
        generated.write()?;
        print(&format!("{} files in {}\n", generated.files.len(), generated.directory))?;
    }
    fs::write(repository().join(PAGE), docs_filesystems::page(binary)?)?;
    Ok(print(&format!("{PAGE}\n"))?)
}

fn all(binary: &Path) -> anyhow::Result<[Generated; 2]> {
    Ok([
        Generated { directory: "docs/reference", files: pages(binary)? },
        Generated { directory: "docs/schema", files: schemas(binary)? },
    ])
}

impl Generated {
    fn path(&self) -> PathBuf {
        repository().join(self.directory)
    }

    /// The names of files that differ, are missing, or are left over.
    fn stale(&self) -> anyhow::Result<Vec<String>> {
        let mut stale = self.left_over()?;
        for (name, text) in &self.files {
            if fs::read_to_string(self.path().join(name)).ok().as_ref() != Some(text) {
                stale.push(name.clone());
            }
        }
        Ok(stale)
    }

    fn write(&self) -> anyhow::Result<()> {
        let path = self.path();
        fs::create_dir_all(&path)?;
        for name in self.left_over()? {
            fs::remove_file(path.join(name))?;
        }
        for (name, text) in &self.files {
            fs::write(path.join(name), text)
                .with_context(|| format!("cannot write {}/{name}", self.directory))?;
        }
        Ok(())
    }

    /// The names of files that are there and should not be.
    fn left_over(&self) -> anyhow::Result<Vec<String>> {
        let Ok(entries) = fs::read_dir(self.path()) else { return Ok(Vec::new()) };
        let name =
            |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        let names: Vec<String> = entries.map(name).collect::<anyhow::Result<_>>()?;
        Ok(names.into_iter().filter(|name| !self.files.contains_key(name)).collect())
    }
}

/// The reference page of each command, by file name.
fn pages(binary: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let help = help(binary, &command)?;
        for name in subcommands(&help) {
            commands.push([command.clone(), vec![name]].concat());
        }
        pages.insert(file_name(&command), page(&command, &help));
    }
    Ok(pages)
}

/// The JSON Schema of each document, by file name.
fn schemas(binary: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let names = process::output(Command::new(binary).arg("schema"))?;
    let schema = |name: &str| {
        let text = process::output(Command::new(binary).args(["schema", name]))?;
        Ok((format!("{name}.json"), text))
    };
    names.lines().map(schema).collect()
}

/// The help of a command, at a width that does not depend on the terminal.
fn help(binary: &Path, command: &[String]) -> anyhow::Result<String> {
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
