//! The one step that makes a [`Consent`]: a person says that a target may be erased.

use anyhow::anyhow;
use flashscope_device::Consent;

use crate::args::Erase;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;

/// Asks whether `target` may be erased, unless `--yes` says so. `None` without `--erase`.
///
/// # Errors
/// Exit code 4 if the answer is anything but `yes`, or nobody is there to ask.
pub fn erase(target: &str, erase: &Erase, printer: &Printer) -> Result<Option<Consent>, Failure> {
    if !erase.erase {
        return Ok(None);
    }
    if erase.yes {
        return Ok(Some(Consent::to_erase(target)));
    }
    let question = format!("Everything in {target} will be lost. Type yes to go on: ");
    let refused = match printer.ask(&question) {
        Some(answer) if answer == "yes" => return Ok(Some(Consent::to_erase(target))),
        Some(_) => anyhow!("not confirmed; {target} is left as it was"),
        None => anyhow!(
            "erasing {target} needs an answer, and standard input is no terminal; add --yes if you are sure"
        ),
    };
    Err(Failure { exit: Exit::Refused, error: refused })
}
