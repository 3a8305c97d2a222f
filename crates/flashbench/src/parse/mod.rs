//! Reads published logs. [`parse`] takes the bytes of a log as a mailing list, wiki or terminal left them,
//! and returns every flashbench table in it as observations.
//!
//! A log passes through three steps. Bytes become clean lines (`text`, `marks`, `entities`, `merged`,
//! `quoted_printable`). Lines say what was run (`command_line`, `options`, `heading`) or hold rows (`words`,
//! `row`, `align_row`, made of `number`s). Rows become tables with their observations (`table`), of one
//! device or of several (`device_name`, `devices`, `columns`). What cannot be read becomes a [`Problem`]
//! with its line, and reading goes on.

mod align_row;
mod columns;
mod command_line;
mod device_name;
mod devices;
mod entities;
mod foreign;
mod heading;
mod log;
mod marks;
mod merged;
mod number;
mod options;
mod quoted_printable;
mod reader;
mod row;
mod stated;
mod table;
mod text;
mod words;

pub use crate::parse::foreign::Foreign;
pub use crate::parse::log::{Entry, Log, ParseLogError, Problem};
pub use crate::parse::reader::parse;
