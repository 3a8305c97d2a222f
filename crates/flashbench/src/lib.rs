//! flashbench's command lines, procedures and tables.
//!
//! flashbench (Arnd Bergmann, 2010) is where the published measurements of cheap flash come from. We run the
//! same requests so that numbers compare line by line, print tables in its form, and read the logs people
//! published. Its procedures are known from its documentation, its author's mails and its output; no code was
//! taken.

#![deny(missing_docs)]

mod command;
pub mod parse;
pub mod print;
pub mod procedure;
pub mod speeds;

pub use command::Command;
