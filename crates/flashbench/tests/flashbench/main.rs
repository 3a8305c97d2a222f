//! flashbench's logs, tables and procedure.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod logs;
mod misread_logs;
mod patriot_fidelity;
mod procedure;
mod properties;
mod published_verdicts;
mod support;
