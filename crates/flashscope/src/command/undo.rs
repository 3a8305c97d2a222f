//! `flashscope undo`: takes back what `apply` did.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Seek};
use std::path::Path;

use anyhow::anyhow;
use flashscope_device::DeviceError;
use flashscope_device::layer::Budget;
use flashscope_device::transfer::MediumError;
use flashscope_layout::apply::{self, Restored, UndoError, UndoHeader, UndoState};
use flashscope_layout::steps::quoted_path;
use flashscope_report::counted;

use crate::args::Undo;
use crate::confirm::Given;
use crate::document::UndoDocument;
use crate::exit::{Exit, Failure, OrExit};
use crate::file_kind::{self, Kind};
use crate::interrupt::interrupted;
use crate::printer::Printer;
use crate::{confirm, kernel_table, medium, target};

/// What an undo file of an `apply` holds that found its own layout on the medium.
const SAME_LAYOUT: &str = "This undo file holds the layout of the plan itself: it was there before this 'apply'. The undo file of \
                           the first 'apply' leads back.";

/// Runs the command.
///
/// # Errors
/// Exit code 2 for a file that is no undo file or damaged, 4 for another medium or one that must not be
/// written, 3 if the medium fails, 1 if it reads back differently.
pub fn run(arguments: &Undo, printer: &Printer) -> Result<Exit, Failure> {
    let name = arguments.file.display().to_string();
    file_kind::refuse_other(&arguments.file, &[Kind::Undo])?;
    let mut file = BufReader::new(open(&arguments.file, &name)?);
    let header = apply::read_header(&mut file).or_exit(Exit::Usage, name.clone())?;
    let data = file.stream_position()?;
    let text = arguments.target.as_ref().unwrap_or(&header.target);
    let lost = losses(&header, text, &mut file, arguments.force, printer)?;
    file.seek(std::io::SeekFrom::Start(data))?;
    // What was applied to it is recognised, so it may be any file.
    let given = Given { yes: arguments.answer.yes.as_ref(), takes_other_files: true };
    let consent = confirm::overwrite(text, &lost, given, printer)?;
    let mut target = target::open(text, Some(&consent), Budget::UNLIMITED)?;
    refuse_other(&header, &medium::identity(&target), text)?;
    let state =
        apply::state(&header, &mut file, &mut target.device).map_err(|error| failure(error, &name))?;
    file.seek(std::io::SeekFrom::Start(data))?;
    let restored = apply::restore(&header, &mut file, &mut target.device);
    if target.interrupt.is_requested() && restored.is_err() {
        printer.remark(format!("interrupted; run again: flashscope undo {}", quoted_path(&name)));
        return Ok(Exit::Interrupted);
    }
    let restored = restored.map_err(|error| failure(error, &name))?;
    let interrupt = target.interrupt.clone();
    drop(target);
    kernel_table::read_again(text, &interrupt, printer);
    if printer.json {
        printer.document(&UndoDocument {
            target: text.clone(),
            ranges_written: restored.written,
            ranges_unchanged: restored.unchanged,
            ranges_changed_since: state.changed,
            places_changed_since: state.fingerprint_changed,
            places: state.fingerprint,
        })?;
        return Ok(Exit::Fine);
    }
    printer.result(&done(text, restored, state))?;
    Ok(Exit::Fine)
}

fn open(path: &Path, name: &str) -> Result<File, Failure> {
    File::open(path).map_err(|error| {
        let advice = match error.kind() {
            ErrorKind::PermissionDenied => {
                "; it holds data of the stick, so only who ran 'apply' may read it: put sudo before the command"
            }
            _ => "",
        };
        Failure { exit: Exit::Usage, error: anyhow!("cannot read {name}: {error}{advice}") }
    })
}

/// What was done, and whether anything else was written since `apply`.
fn done(text: &str, restored: Restored, state: UndoState) -> String {
    let ranges = counted(restored.written as u64, "range");
    let what = match restored.written {
        0 if state.is_same_layout => format!("Nothing to undo on {text}. {SAME_LAYOUT}"),
        0 => format!("Nothing to undo on {text}: what 'apply' overwrites holds its old contents."),
        _ => format!(
            "Restored {text}: {ranges} written and read back. What 'apply' overwrote holds its old contents."
        ),
    };
    let since = match state.fingerprint_changed {
        0 => String::new(),
        changed => {
            format!(" {changed} of {} compared places were written since, and stay so.", state.fingerprint)
        }
    };
    format!("{what}{since}\n")
}

/// Opens the target for reading, refuses another medium, and says what undo would lose.
fn losses(
    header: &UndoHeader,
    text: &str,
    file: &mut BufReader<File>,
    force: bool,
    printer: &Printer,
) -> Result<String, Failure> {
    let mut target = target::open(text, None, Budget::UNLIMITED)?;
    let identity = medium::identity(&target);
    refuse_other(header, &identity, text)?;
    let state = apply::state(header, file, &mut target.device).map_err(|error| failure(error, text))?;
    if !force && !state.can_be_same() {
        let error = anyhow!(
            "{text} is another medium, or was overwritten since: {} of {} untouched places differ; --force restores anyway; nothing was written",
            state.fingerprint_changed,
            state.fingerprint
        );
        return Err(Failure { exit: Exit::Refused, error });
    }
    let loss = loss(state);
    if state.fingerprint_changed > 0 {
        printer.remark(format!(
            "{} of {} compared places were written since 'apply'; files of the old layout there stay lost",
            state.fingerprint_changed, state.fingerprint
        ));
    }
    Ok(loss)
}

fn loss(state: UndoState) -> String {
    if state.is_same_layout {
        return SAME_LAYOUT.to_owned();
    }
    if state.applied == 0 && state.changed == 0 {
        return "What 'apply' overwrites holds its old contents; nothing will change.".to_owned();
    }
    if state.changed == 0 {
        return "The layout from before 'apply' comes back; the present one is lost.".to_owned();
    }
    let ranges = counted(state.changed as u64, "range");
    format!(
        "The layout from before 'apply' comes back. The present one is lost, and what was written to it since: {ranges} changed."
    )
}

/// Refuses a medium that identifies itself as another one.
fn refuse_other(header: &UndoHeader, found: &flashscope_layout::Identity, text: &str) -> Result<(), Failure> {
    if header.identity.matches(found) {
        return Ok(());
    }
    let expected = &header.identity;
    let error =
        anyhow!("the undo file belongs to {expected}, and {text} is {found}; name the right one (--target)");
    Err(Failure { exit: Exit::Refused, error })
}

/// The failure of an undo. An interrupt arrives here only while the medium is compared.
fn failure(error: UndoError, name: &str) -> Failure {
    let exit = match &error {
        UndoError::Medium(MediumError::Device(DeviceError::Interrupted)) => return interrupted(),
        UndoError::NotUndo | UndoError::Damaged { .. } => Exit::Usage,
        UndoError::OtherMedium { .. } => Exit::Refused,
        UndoError::NotRestored { .. } => Exit::Problem,
        UndoError::File(_) | UndoError::Medium(_) | UndoError::Host(_) => Exit::Failed,
    };
    let name = Path::new(name).display().to_string();
    Failure { exit, error: anyhow::Error::from(error).context(name) }
}

#[cfg(test)]
mod tests {
    use flashscope_device::Bytes;
    use flashscope_layout::Identity;

    use super::*;

    /// What a second `apply` of one plan leaves.
    const SAME_LAYOUT_STATE: UndoState = UndoState {
        applied: 0,
        original: 3,
        changed: 0,
        recognised: 3,
        marked: 0,
        marked_unchanged: 0,
        was_blank: false,
        is_same_layout: true,
        fingerprint_changed: 0,
        fingerprint: 64,
    };

    #[test]
    fn undo_file_of_a_second_apply_names_the_first() {
        let state = SAME_LAYOUT_STATE;
        let restored = Restored { written: 0, unchanged: 3 };
        for text in [loss(state), done("w.img", restored, state)] {
            assert!(text.contains("undo file of the first 'apply' leads back"), "{text}");
            assert!(!text.contains("old contents"), "{text}");
        }
        let other = done("w.img", restored, UndoState { is_same_layout: false, ..state });
        assert!(other.contains("old contents"), "{other}");
    }

    #[test]
    fn question_of_undo_says_what_is_lost() {
        for (applied, changed, says) in [
            (0, 0, "holds its old contents; nothing will change."),
            (3, 0, "comes back; the present one is lost."),
            (2, 1, "The present one is lost, and what was written to it since: 1 range changed."),
            (0, 2, "The present one is lost, and what was written to it since: 2 ranges changed."),
        ] {
            let state = UndoState { applied, changed, is_same_layout: false, ..SAME_LAYOUT_STATE };
            let question = loss(state);
            assert!(question.ends_with(says), "{applied} {changed}: {question}");
        }
    }

    #[test]
    fn interrupt_while_comparing_is_no_failure_of_the_medium() {
        let failure = |error: DeviceError| failure(MediumError::Device(error).into(), "stick.undo");
        let interrupted = failure(DeviceError::Interrupted);
        assert_eq!(interrupted.exit, Exit::Interrupted);
        assert_eq!(interrupted.error.to_string(), "interrupted; nothing was written");
        assert_eq!(failure(DeviceError::Gone { during: "read".to_owned() }).exit, Exit::Failed);
    }

    #[test]
    fn another_model_serial_number_or_size_is_refused() {
        let identity = Identity {
            model: "SanDisk Ultra".to_owned(),
            serial: Some("4C53".to_owned()),
            capacity: Bytes::gib(8),
        };
        let header = UndoHeader {
            flashscope: "0.1.0".to_owned(),
            target: "/dev/sdb".to_owned(),
            identity: identity.clone(),
            logical_block: Bytes::new(512),
            ranges: Vec::new(),
            fingerprint: Vec::new(),
        };
        assert!(refuse_other(&header, &identity, "/dev/sdb").is_ok());
        let others = [
            Identity { model: "SanDisk Cruzer".to_owned(), ..identity.clone() },
            Identity { serial: Some("4C54".to_owned()), ..identity.clone() },
            Identity { serial: None, ..identity.clone() },
            Identity { capacity: Bytes::gib(16), ..identity.clone() },
        ];
        for other in others {
            let refused = refuse_other(&header, &other, "/dev/sdb").unwrap_err();
            assert_eq!(refused.exit, Exit::Refused, "{other}");
        }
    }
}
