//! flashscope beside its peers: the same work in the same run, in turns, so that what disturbs one disturbs the other.

mod bench;
mod f3;
mod fio;
mod flashbench;
mod random_reads;
mod row;
mod zram;

use std::io::{ErrorKind, Write};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::say;
use row::{Row, Sample, table};

/// What each figure is the median of.
const ROUNDS: usize = 5;

/// Which peer, and how.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    peer: Peer,
    /// Print one JSON document instead of a table.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Peer {
    /// Random reads of 4 KiB, at queue depths 1 and 32, beside the best of fio's engines. Only reads (a zram disk that
    /// holds nothing is filled first).
    Fio(fio::Arguments),
    /// Writing files of test data and checking them, beside f3write and f3read.
    F3(f3::Arguments),
    /// What the erase block and the open units cost on a served stick: device time and bytes written. Needs root.
    Flashbench(flashbench::Arguments),
}

/// Compares with one peer and prints the figures.
pub fn run(arguments: &Arguments) -> Result<()> {
    let rows = match &arguments.peer {
        Peer::Fio(arguments) => fio::run(arguments, &tell)?,
        Peer::F3(arguments) => f3::run(arguments)?,
        Peer::Flashbench(peer) => return costs(&flashbench::run(peer)?, arguments.json),
    };
    let text = if arguments.json { json(&rows)? } else { table(&rows) };
    Ok(say(&text)?)
}

/// Says how far it is, apart from what is found. Whoever does not listen misses nothing else.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What answers cost is no rate, and has a table of its own.
fn costs(comparison: &flashbench::Comparison, is_json: bool) -> Result<()> {
    let json = || serde_json::to_string_pretty(comparison);
    Ok(say(&if is_json { json()? + "\n" } else { comparison.table() })?)
}

fn json(rows: &[Row]) -> Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        rows: &'a [Row],
    }
    Ok(serde_json::to_string_pretty(&Document { rows })? + "\n")
}

/// Runs a peer's program to its end. Where it is missing, says which Debian package holds it.
fn run_peer(command: &mut Command, package: &str) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{program} is not installed; get it with: apt-get install {package}")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot start {program}")),
    };
    if !output.status.success() {
        bail!("{program} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output)
}
