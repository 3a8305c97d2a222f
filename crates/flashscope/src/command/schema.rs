//! `flashscope schema`: the JSON Schemas of all documents. Hidden from the help: `cargo xtask docs` writes
//! them to `docs/schema`.

use anyhow::anyhow;

use crate::document::schema;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a name that no schema has.
pub fn run(name: Option<&str>, printer: &Printer) -> Result<Exit, Failure> {
    let Some(name) = name else {
        let names: String = schema::ALL.iter().map(|schema| format!("{}\n", schema.name)).collect();
        printer.result(&names)?;
        return Ok(Exit::Fine);
    };
    let Some(schema) = schema::ALL.iter().find(|schema| schema.name == name) else {
        let error = anyhow!("there is no schema {name}; 'flashscope schema' prints the names");
        return Err(Failure { exit: Exit::Usage, error });
    };
    printer.result(&format!("{:#}\n", (schema.make)()))?;
    Ok(Exit::Fine)
}
