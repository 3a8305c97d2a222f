//! `flashscope apply`: carries a plan out.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use flashscope_device::Bytes;
use flashscope_device::layer::Budget;
use flashscope_layout::apply::{self, ApplyError, Means, Step};
use flashscope_layout::{Identity, steps};
use flashscope_linux::ScratchFiles;
use flashscope_report::plan::fstab;

use crate::args::Apply;
use crate::confirm::Given;
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
    let given = Given { yes: arguments.yes.as_ref(), takes_other_files: arguments.force_image };
    let consent = confirm::overwrite(text, "All data on it will be lost.", given, printer)?;
    let mut target = target::open(text, Some(&consent), Budget::UNLIMITED)?;
    refuse_other(&plan.medium.identity, &medium::identity(&target), text)?;
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
    let interrupt = target.interrupt.clone();
    drop(target);
    kernel_table::read_again(text, &interrupt, printer);
    for messages in applied.messages.iter().flat_map(|messages| messages.lines()) {
        printer.detail(messages);
    }
    let fstab: Vec<String> = plan.partitions.iter().map(fstab).collect();
    let is_new = applied.undo.is_some();
    if is_new && applied.is_repeated {
        printer.remark(format!(
            "this plan was applied before: {} leads back to that only; keep the undo file of the first 'apply'",
            undo_path.display()
        ));
    }
    if printer.json {
        printer.document(&ApplyDocument {
            target: text.clone(),
            undo_file: is_new.then(|| undo_path.display().to_string()),
            bytes_written: applied.bytes.get(),
            messages: applied.messages,
            fstab,
        })?;
        return Ok(Exit::Fine);
    }
    let mut result = if is_new { done(text, applied.bytes, &undo_path) } else { nothing_done(text) };
    result.push_str("\nMount, in /etc/fstab:\n");
    fstab.iter().for_each(|line| result.push_str(&format!("  {line}\n")));
    printer.result(&result)?;
    Ok(Exit::Fine)
}

/// What was written, and how to go back.
fn done(text: &str, written: Bytes, undo: &Path) -> String {
    format!(
        "Applied to {text}: {written} written and read back. Table and data areas are where the plan says.\n\
         Undo: {}\n",
        undo_command(undo)
    )
}

/// A second undo file would lead back to this layout only.
fn nothing_done(text: &str) -> String {
    format!(
        "Already applied to {text}; nothing was written, and there is no new undo file.\n\
         The undo file of the first 'apply' leads back: keep it.\n"
    )
}

/// The command that goes back. Who could apply without sudo can undo without it.
fn undo_command(undo: &Path) -> String {
    let sudo = if rustix::process::geteuid().is_root() { "sudo " } else { "" };
    format!("{sudo}flashscope undo {}", steps::quoted_path(&undo.display().to_string()))
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
fn refuse_other(expected: &Identity, found: &Identity, text: &str) -> Result<(), Failure> {
    if expected.matches(found) {
        return Ok(());
    }
    let error = anyhow!("the plan is for {expected}, and {text} is {found}; make a new plan");
    Err(Failure { exit: Exit::Refused, error })
}

/// The failure of an apply: whether the medium is untouched, and how to go back.
fn failed(error: ApplyError, interrupted: bool, undo: &Path, printer: &Printer) -> Result<Exit, Failure> {
    let (exit, said) = end_of_failed(&error, interrupted, undo);
    said.into_iter().for_each(|line| printer.remark(line));
    if interrupted {
        return Ok(exit);
    }
    Err(Failure { exit, error: error.into() })
}

/// The exit code of a failed apply, and what is said of the medium besides the error.
fn end_of_failed(error: &ApplyError, interrupted: bool, undo: &Path) -> (Exit, Vec<String>) {
    let (exit, is_touched) = match error {
        ApplyError::OtherMedium { .. } => (Exit::Refused, false),
        ApplyError::Impossible(_) | ApplyError::Host(_) => (Exit::Usage, false),
        ApplyError::Undo(_) => (Exit::Failed, false),
        ApplyError::Medium(_) => (Exit::Failed, true),
        ApplyError::ReadBack { .. } => (Exit::Problem, true),
    };
    let mut said = Vec::new();
    if is_touched {
        said.push(format!("to go back: {}", undo_command(undo)));
    }
    if interrupted {
        said.push(if is_touched { "interrupted" } else { "interrupted; nothing was written" }.to_owned());
        return (Exit::Interrupted, said);
    }
    (exit, said)
}

#[cfg(test)]
mod tests {
    use flashscope_device::DeviceError;
    use flashscope_layout::apply::{HostError, MediumError, UndoError};

    use super::*;

    #[test]
    fn only_a_medium_that_may_be_changed_is_said_to_have_a_way_back() {
        let gone = MediumError::Device(DeviceError::Gone { during: "write".to_owned() });
        let missing = HostError::Missing { program: "mkfs.ext4".to_owned(), package: "e2fsprogs".to_owned() };
        let other = ApplyError::OtherMedium { expected: Bytes::gib(8), found: Bytes::gib(16) };
        for (error, exit, is_touched) in [
            (other, Exit::Refused, false),
            (ApplyError::Impossible("a hole".to_owned()), Exit::Usage, false),
            (ApplyError::Host(missing), Exit::Usage, false),
            (ApplyError::Undo(UndoError::NotUndo), Exit::Failed, false),
            (ApplyError::Medium(gone), Exit::Failed, true),
            (ApplyError::ReadBack { what: "the table".to_owned() }, Exit::Problem, true),
        ] {
            let end = |interrupted| {
                let (exit, said) = end_of_failed(&error, interrupted, Path::new("stick.undo"));
                (exit, said.join("\n"))
            };
            let ((ended, said), (cut, said_of_cut)) = (end(false), end(true));
            assert_eq!((ended, cut), (exit, Exit::Interrupted), "{error}");
            let way_back = "flashscope undo stick.undo";
            assert_eq!(said.contains(way_back), is_touched, "{error}: {said}");
            assert_eq!(said_of_cut.contains(way_back), is_touched, "{error}: {said_of_cut}");
            assert_eq!(said_of_cut.contains("nothing was written"), !is_touched, "{error}: {said_of_cut}");
        }
    }

    #[test]
    fn plan_for_another_model_serial_number_or_size_is_refused() {
        let identity = |model: &str, serial: Option<&str>, capacity| Identity {
            model: model.to_owned(),
            serial: serial.map(str::to_owned),
            capacity,
        };
        let planned = identity("SanDisk Ultra", Some("4C53"), Bytes::gib(8));
        assert!(refuse_other(&planned, &planned.clone(), "/dev/sdb").is_ok());
        for other in [
            identity("SanDisk Cruzer", Some("4C53"), Bytes::gib(8)),
            identity("SanDisk Ultra", Some("4C54"), Bytes::gib(8)),
            identity("SanDisk Ultra", None, Bytes::gib(8)),
            identity("SanDisk Ultra", Some("4C53"), Bytes::gib(16)),
        ] {
            let refused = refuse_other(&planned, &other, "/dev/sdb").unwrap_err();
            assert_eq!(refused.exit, Exit::Refused, "{other}");
        }
    }
}
