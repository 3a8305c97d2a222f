//! Reports of a run: sentences, tables, charts, and one self-contained page.
//!
//! Everything here is a pure function of a [`Report`], a stored run and its findings. Nothing prints, and
//! nothing reaches a device.
//!
//! - [`words`]: the verdict in plain sentences, and advice with its reason,
//! - [`chart`]: one model of every chart, drawn by the terminal and the page,
//! - [`terminal()`]: the report as text of a given width,
//! - [`brief()`]: the report in one line,
//! - [`html()`]: the report as one file without external parts,
//! - [`chart_svg()`]: one chart as an SVG file.

#![deny(missing_docs)]

mod bench_report;
mod brief;
pub mod capacity;
pub mod chart;
pub mod classes;
mod commands;
pub mod compare;
mod cost;
mod eviction_cost;
mod experiment_view;
pub mod factors;
mod figures;
pub mod files;
pub mod filesystems;
pub mod first_screen;
pub mod full_capacity;
mod html;
pub mod layout;
mod no_break;
pub mod plan;
mod printable;
mod published_speeds;
mod quantity;
mod rate;
mod report;
mod results;
mod run_bench_report;
mod speeds;
pub mod storage_layers;
mod svg;
mod terminal;
mod terms;
pub mod whatif;
pub mod words;
pub mod write_methods;

pub use bench_report::BenchReport;
pub use brief::brief;
pub use commands::serve as serve_command;
pub use html::html;
pub use printable::printable;
pub use published_speeds::{name as published_speed_name, rows as published_speeds};
pub use quantity::counted;
pub use report::Report;
pub use speeds::speeds;
pub use svg::chart_svg;
pub use terminal::{Style, classes_text, first_screen_text, terminal, wrapped};
pub use terms::{finding_title, value_text};
pub use words::{Advice, Sentence, Verdict, advice, sustained_write, verdict};
