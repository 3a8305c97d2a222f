//! Reads the logs that people published: [`parse`] takes a log's bytes as a mailing list, a wiki or a terminal left
//! them, and returns every table of flashbench in it as observations.
//!
//! A log passes through five steps, one file each: bytes become clean lines ([`text`], [`merged`]), lines say what was run
//! ([`command_line`], [`heading`]) or hold rows ([`row`], made of [`number`]s), rows become tables with
//! their observations ([`table`]). What cannot be read becomes a [`Problem`] with its line, and reading goes on.

mod command_line;
mod device_name;
mod foreign;
mod heading;
mod log;
mod merged;
mod number;
mod quoted_printable;
mod reader;
mod row;
mod stated;
mod table;
mod text;

pub use foreign::Foreign;
pub use log::{Entry, Log, ParseLogError, Problem};
pub use reader::parse;
