//! What a run says, for people: words, tables, charts, and one self-contained page.
//!
//! Everything here is a pure function of a [`Report`]: a stored run and what was inferred from it. Nothing prints and
//! nothing knows a device. The words come first:
//!
//! - [`words`]: the verdict in plain sentences, and advice with its reason,
//! - [`chart`]: one model of every chart, which the terminal and the page draw alike,
//! - [`terminal()`]: the report as text of a given width,
//! - [`brief()`]: the report in one line,
//! - [`html()`]: the report as one file that needs nothing else,
//! - [`drawing()`]: one chart as a picture for other pages.

#![deny(missing_docs)]

mod bound;
mod brief;
pub mod chart;
pub mod claims;
mod clean;
pub mod compare;
mod experiment_view;
mod figures;
pub mod files;
mod html;
pub mod layers;
mod quantity;
mod rate;
mod report;
mod results;
mod speeds;
mod svg;
mod tabled;
mod terminal;
mod wall;
pub mod words;

pub use brief::brief;
pub use clean::printable;
pub use html::html;
pub use quantity::counted;
pub use report::Report;
pub use speeds::speeds;
pub use svg::drawing;
pub use tabled::Tabled;

pub use terminal::{Style, terminal, wrapped};
pub use words::{Advice, Sentence, Verdict, advice, stream, verdict};
