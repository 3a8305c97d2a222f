//! What all documents have in common.

use schemars::JsonSchema;
use serde::Serialize;

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The format number of `--json`.
pub const FORMAT: u32 = 1;

/// What a document holds besides the two common fields.
pub trait Body: Serialize + JsonSchema {
    /// The name of its schema: `docs/schema/NAME.json`.
    const NAME: &'static str;
    /// The commands that print it.
    const COMMANDS: &'static str;
}

/// A document as it is printed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<'a, T> {
    /// The version of the format. It changes when a field is removed or changes its meaning; fields may be
    /// added without.
    format: u32,
    /// The version of the program that wrote this.
    flashscope: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

impl<'a, T: Body> Document<'a, T> {
    /// The document with this body.
    pub const fn new(body: &'a T) -> Self {
        Self { format: FORMAT, flashscope: VERSION, body }
    }
}
