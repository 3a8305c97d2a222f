//! `cargo xtask versus`: flashscope compared with other programs on the same work. The two alternate, so that
//! other load disturbs both.

mod bench;
mod f3;
mod f3probe;
mod fio;
mod flashbench;
mod own;
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
    /// Verdict and cost of `verify`, compared with f3probe on virtual sticks, half of them fakes (root)
    F3probe(f3probe::Arguments),
    /// Cost to find erase block and open units, compared with flashbench (root)
    Flashbench(flashbench::Arguments),
}

/// Compares with one program and prints the result.
pub fn run(arguments: &Arguments) -> Result<()> {
    let rows = match &arguments.peer {
        Peer::Fio(arguments) => fio::run(arguments, &progress)?,
        Peer::F3(arguments) => f3::run(arguments)?,
        Peer::F3probe(peer) => {
            let comparison = f3probe::run(peer, &progress)?;
            return print_document(&comparison, f3probe::Comparison::table, arguments.json);
        }
        Peer::Flashbench(peer) => {
            let comparison = flashbench::run(peer)?;
            return print_document(&comparison, flashbench::Comparison::table, arguments.json);
        }
    };
    let text = if arguments.json { json(&rows)? } else { table(&rows) };
    Ok(print(&text)?)
}

/// Prints a comparison that has more than rates.
fn print_document<C: Serialize>(comparison: &C, table: fn(&C) -> String, is_json: bool) -> Result<()> {
    let json = || serde_json::to_string_pretty(comparison);
    Ok(print(&if is_json { json()? + "\n" } else { table(comparison) })?)
}

fn json(rows: &[Row]) -> Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        rows: &'a [Row],
    }
    Ok(serde_json::to_string_pretty(&Document { rows })? + "\n")
}
