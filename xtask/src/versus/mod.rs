//! `cargo xtask versus`: flashscope compared with other programs on the same work. The two alternate, so that
//! other load disturbs both.

mod bench;
mod f3;
mod fio;
mod flashbench;
mod peer;
mod random_reads;
mod row;
mod zram;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use self::row::{Row, table};
use crate::output::{print, progress};

/// Which program, and how to print the result.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    peer: Peer,
    /// Print one JSON document instead of a table
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Peer {
    /// Random 4 KiB reads at queue depths 1 and 32, compared with fio
    Fio(fio::Arguments),
    /// Writing and checking files of test data, compared with f3write and f3read
    F3(f3::Arguments),
    /// Cost to find erase block and open units, compared with flashbench (root)
    Flashbench(flashbench::Arguments),
}

/// Compares with one program and prints the result.
pub fn run(arguments: &Arguments) -> Result<()> {
    let rows = match &arguments.peer {
        Peer::Fio(arguments) => fio::run(arguments, &progress)?,
        Peer::F3(arguments) => f3::run(arguments)?,
        Peer::Flashbench(peer) => return print_costs(&flashbench::run(peer)?, arguments.json),
    };
    let text = if arguments.json { json(&rows)? } else { table(&rows) };
    Ok(print(&text)?)
}

/// Prints the comparison with flashbench, which has costs instead of rates.
fn print_costs(comparison: &flashbench::Comparison, is_json: bool) -> Result<()> {
    let json = || serde_json::to_string_pretty(comparison);
    Ok(print(&if is_json { json()? + "\n" } else { comparison.table() })?)
}

fn json(rows: &[Row]) -> Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        rows: &'a [Row],
    }
    Ok(serde_json::to_string_pretty(&Document { rows })? + "\n")
}
