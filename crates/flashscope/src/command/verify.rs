//! `flashscope verify`: whether a device stores what it announces.

use std::path::Path;

use anyhow::anyhow;
use flashscope_device::DeviceError;
use flashscope_device::layer::Budget;
use flashscope_measure::capacity::{Settings, estimate, verify};
use flashscope_report::capacity as words;

use super::verify_full;
use crate::args::Verify;
use crate::document::VerifyDocument;
use crate::exit::{Exit, Failure};
use crate::printer::Printer;
use crate::progress::Progress;
use crate::target::{self, Target};
use crate::{confirm, scratch, seed};

/// The seed of a virtual stick, whose contents are new in every run.
const SEED_VIRTUAL: u64 = 1;

/// A fake costs at most this many times what a true capacity costs.
const TIMES_MAX: u64 = 5;

/// Runs the command.
///
/// # Errors
/// As [`target::open`]; exit code 4 without permission to write, 3 if the device failed.
pub fn run(arguments: &Verify, printer: &Printer) -> Result<Exit, Failure> {
    if arguments.full {
        return verify_full::run(arguments, printer);
    }
    let name = &arguments.target;
    refuse_directory(name)?;
    let consent = confirm::erase(name, &arguments.erase, printer)?;
    let mut target = target::open(name, consent.as_ref(), Budget::UNLIMITED)?;
    if !target.writable {
        let error =
            anyhow!("this writes to {name}; allow it with --scratch (all data is put back) or --erase");
        return Err(Failure { exit: Exit::Refused, error });
    }
    announce(&target, arguments, printer);
    if arguments.erase.scratch {
        // The journal needs room for everything that may be written.
        let most = estimate(&target.device, arguments.cache_bound).bytes_written * TIMES_MAX;
        drop(target);
        target =
            target::open(name, consent.as_ref(), Budget { bytes_written: Some(most), ..Budget::UNLIMITED })?;
        target = scratch::start(target, &arguments.erase, printer)?;
    }
    // Stamps of an earlier run with the same seed would pass for new ones.
    let seed =
        arguments.seed.unwrap_or_else(|| if target.is_virtual { SEED_VIRTUAL } else { seed::random() });
    let settings = Settings { cache_bound: arguments.cache_bound, seed };
    let mut progress = Progress::new(printer).looking_again_at(&target);
    let verdict = verify(&mut target.device, settings, &mut progress);
    let restored = scratch::finish(&mut target, printer);
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(DeviceError::Interrupted) => {
            printer.remark("interrupted: no verdict");
            return restored.map(|()| Exit::Interrupted);
        }
        Err(error) => {
            restored?;
            return Err(Failure { exit: Exit::Failed, error: error.into() });
        }
    };
    if printer.json {
        printer.document(&VerifyDocument::new(&target, &verdict))?;
    } else {
        printer.result(&words::text(&verdict, name, printer.width()))?;
    }
    restored.map(|()| if verdict.kind.is_bad() || verdict.is_unsteady() { Exit::Problem } else { Exit::Fine })
}

/// The quick test needs the whole device.
fn refuse_directory(name: &str) -> Result<(), Failure> {
    if name.starts_with("sim:") || !Path::new(name).is_dir() {
        return Ok(());
    }
    let error = anyhow!(
        "{name} is a directory; add --full to test the free space there, or name the disk it lies on (`flashscope list` shows it)"
    );
    Err(Failure { exit: Exit::Usage, error })
}

/// Prints what will be written.
fn announce(target: &Target, arguments: &Verify, printer: &Printer) {
    printer.remark(format!("{}: {}", target.text, target.name));
    printer.notes(&target.remarks);
    let bytes = estimate(&target.device, arguments.cache_bound).bytes_written;
    printer.remark(format!(
        "{bytes} will be written if the capacity is true, up to {TIMES_MAX} times that on a fake"
    ));
}
