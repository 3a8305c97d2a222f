//! `flashscope apply`: carries a plan out.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_device::layer::Budget;
use flashscope_layout::apply::{self, ApplyError, Means, Step};
use flashscope_layout::{Plan, steps};
use flashscope_linux::ScratchFiles;
use flashscope_report::plan::fstab;

use crate::args::Apply;
use crate::document::{ApplyDocument, VERSION};
use crate::exit::{Exit, Failure, OrExit};
use crate::printer::Printer;
use crate::undo_file::UndoFile;
use crate::{confirm, input, kernel_table, medium, target};

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no plan, or a tool that is missing; 4 if the target must not be written, or
/// is another medium; 3 if the medium fails; 1 if it reads back differently.
pub fn run(arguments: &Apply, printer: &Printer) -> Result<Exit, Failure> {
    let plan = input::plan(&arguments.plan)?;
    let text = arguments.target.as_ref().unwrap_or(&plan.medium.target);
    if text.starts_with("sim:") {
        let error = anyhow!(
            "{text} is gone when this command ends; serve it ('flashscope sim serve NAME --loop'), plan for its disk, and \
             apply that"
        );
        return Err(Failure { exit: Exit::Usage, error });
    }
    let mut undo = UndoFile::create(arguments.undo_file.as_deref(), text)?;
    let undo_path = undo.path().to_path_buf();
    let mut host = ScratchFiles::new(&scratch_parent()).or_exit_bare(Exit::Failed)?;
    let consent = confirm::overwrite(text, "All data on it will be lost.", arguments.yes, printer)?;
    let mut target = target::open(text, Some(&consent), Budget::UNLIMITED)?;
    refuse_other(&plan, &target)?;
    let stored_target = medium::lasting_name(text);
    let means = Means {
        version: VERSION,
        target: &stored_target,
        host: &mut host,
        undo: &mut undo,
        observer: &mut |step| printer.remark(doing(step)),
    };
    let applied = apply::apply(&plan, &mut target.device, means);
    let interrupted = target.interrupt.is_requested();
    let applied = match applied {
        Ok(applied) => applied,
        Err(error) => return failed(error, interrupted, &undo_path, printer),
    };
    drop(target);
    kernel_table::read_again(text, printer);
    for messages in applied.messages.iter().flat_map(|messages| messages.lines()) {
        printer.detail(messages);
    }
    let fstab: Vec<String> = plan.partitions.iter().map(fstab).collect();
    let undo_file = undo_path.display().to_string();
    let undo_command = format!("sudo flashscope undo {}", steps::quoted(&undo_file));
    if printer.json {
        printer.document(&ApplyDocument {
            target: text.clone(),
            undo_file,
            bytes_written: applied.bytes.get(),
            messages: applied.messages,
            fstab,
        })?;
        return Ok(Exit::Fine);
    }
    let mut result = format!(
        "Applied to {text}: {} written and read back. Table and data areas are where the plan says.\n\
         Undo: {undo_command}\n\nMount, in /etc/fstab:\n",
        applied.bytes
    );
    fstab.iter().for_each(|line| result.push_str(&format!("  {line}\n")));
    printer.result(&result)?;
    Ok(Exit::Fine)
}

/// What applying does next.
fn doing(step: Step) -> String {
    match step {
        Step::Build => "making the filesystems in scratch files".to_owned(),
        Step::Save(bytes) => format!("saving {bytes} for undo"),
        Step::Write(bytes) => format!("writing {bytes}"),
        Step::ReadBack(bytes) => format!("reading {bytes} back"),
    }
}

/// The folder for scratch files: TMPDIR, or /var/tmp, which is on a disk where /tmp may be in memory.
fn scratch_parent() -> PathBuf {
    std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from("/var/tmp"), PathBuf::from)
}

/// Refuses another medium than the plan is for.
fn refuse_other(plan: &Plan, target: &target::Target) -> Result<(), Failure> {
    let (expected, found) = (&plan.medium.identity, medium::identity(target));
    if expected.matches(&found) {
        return Ok(());
    }
    let error = anyhow!("the plan is for {expected}, and {} is {found}; make a new plan", target.text);
    Err(Failure { exit: Exit::Refused, error })
}

/// The failure of an apply: whether the medium is untouched, and how to go back.
fn failed(error: ApplyError, interrupted: bool, undo: &Path, printer: &Printer) -> Result<Exit, Failure> {
    let (exit, is_touched) = match &error {
        ApplyError::OtherMedium { .. } => (Exit::Refused, false),
        ApplyError::Impossible(_) | ApplyError::Host(_) => (Exit::Usage, false),
        ApplyError::Undo(_) => (Exit::Failed, false),
        ApplyError::Medium(_) => (Exit::Failed, true),
        ApplyError::ReadBack { .. } => (Exit::Problem, true),
    };
    if is_touched {
        let undo = steps::quoted(&undo.display().to_string());
        printer.remark(format!("to go back: sudo flashscope undo {undo}"));
    }
    if interrupted {
        printer.remark(if is_touched { "interrupted" } else { "interrupted; nothing was written" });
        return Ok(Exit::Interrupted);
    }
    Err(Failure { exit, error: error.into() })
}
